/* What jobs and sessions share of when and how often: window, instants, retries; and the jobs that
 * a job comes after. Internal to proto.
 */
#pragma once

#include "core/calendar/window.h"
#include "core/job.h"
#include "proto/json/json.h"

/* Member "window" of obj, or NULL when it is missing. */
struct window *window_decode(struct json_in *in, const cJSON *obj);
void window_encode(struct json_out *o, const char *key, const struct window *w); /* NULL: nothing */

/* An instant ("2026-12-01T01:00:00Z") in ms; 0 when it is missing. */
int64_t doc_opt_instant(struct json_in *in, const cJSON *obj, const char *key);
void doc_put_instant(struct json_out *o, const char *key, int64_t ms); /* 0: nothing */

/* Member "retry": -1 for what it leaves out. */
void retry_decode(struct json_in *in, const cJSON *obj, int64_t *every_ms, int *limit);
void retry_encode(struct json_out *o, int64_t every_ms, int limit);

/* Member "after"; whole: each job by its whole id, else by any part of it. Errors stick to in. */
void after_decode(struct json_in *in, const cJSON *obj, bool whole, struct job_after **out,
                  size_t *n);
void after_encode(struct json_out *o, const struct job_after *after, size_t n);
