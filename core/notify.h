/* Programs that are told: of a job's end by whoever submitted it, of every end and of an empty
 * queue by whoever runs the host.
 */
#pragma once

#include <stdint.h>

#include "core/types.h"

#define NOTIFY_MAX 4 /* programs of one job */
#define NOTIFY_TIMEOUT_MS 30000
#define NOTIFY_TIMEOUT_MIN_MS 1000
#define NOTIFY_TIMEOUT_MAX_MS 300000

struct notify {
    struct args command; /* no shell reads it */
    unsigned on;         /* ends that it is told of: 1 << enum job_state; 0: of each */
    int64_t timeout_ms;
};

enum notify_event { NOTIFY_JOB_ENDED, NOTIFY_QUEUE_EMPTY };
const char *notify_event_name(enum notify_event e); /* "job_ended", "queue_empty" */
int notify_event_parse(const char *s);
