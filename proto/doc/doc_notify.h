/* Who is to be told of ends, as documents and command lines say it, and what such a program is told
 * ("aurabench.notification.v1"). Decoded things live in the arena of the reader.
 */
#pragma once

#include "core/job_state.h"
#include "core/notify.h"
#include "proto/json/json.h"

/* Member "notify" of a job: up to NOTIFY_MAX programs. Errors stick to in. */
void notify_decode(struct json_in *in, const cJSON *obj, struct notify **out, size_t *n);
/* Nothing where there is none. */
void notify_encode(struct json_out *o, const struct notify *list, size_t n);

/* One program as a command line names it: a program alone, or a JSON array of it and its arguments.
 * shown: the option, for errors. 0, or -EINVAL "usage" with e filled. */
int notify_from_text(struct arena *a, const char *shown, const char *text, struct notify *out,
                     struct err *e);

struct notification_report {
    const char *attempt, *grade, *line, *evidence, *raw_sha256;
    const char *summary_sha256; /* NULL: a void attempt */
};

/* Of one job's end; an empty queue is told of with the job whose end left it so. */
struct notification {
    const char *id; /* ULID; the same in each try to deliver it */
    enum notify_event event;
    const char *host; /* name */
    int64_t at_ms;    /* of the end */
    struct {
        const char *id, *label, *session; /* label and session: NULL for none */
        int64_t number, submitted_ms, attempts;
        enum job_state state;
        const char *error_code, *error_field, *error_text; /* code NULL: none */
        const struct notification_report *report;          /* NULL: none */
    } job;
};

/* The whole document, ended by a newline. */
void notification_encode(struct buf *out, const struct notification *n);
