#include "proto/doc/doc_schedule.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/ids.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"
#include "proto/form/instant.h"

#define RETRY_EVERY_MAX_MS ((int64_t)7 * 86400000)

const char *const window_keys[] = {"days", "from", "to", "zone", NULL};
const char *const job_retry_keys[] = {"every", "limit", NULL};
const char *const job_after_keys[] = {"job", "on", NULL};

/* ---- windows */

struct window *window_decode(struct json_in *in, const cJSON *obj)
{
    const cJSON *w = json_opt_obj(in, obj, "window");

    if (!w)
        return NULL;
    size_t mark = json_enter(in, "window");
    json_closed(in, w, window_keys);
    const char *days = json_opt_str(in, w, "days", 64, "daily");
    const char *from = json_str(in, w, "from", 16);
    const char *to = json_str(in, w, "to", 16);
    const char *zone = json_str(in, w, "zone", WINDOW_ZONE_MAX);
    struct window *out = arena_alloc(in->a, sizeof *out);
    if (in->rc == 0)
        in->rc = window_parse(in->a, in->path, days, from, to, zone, out, in->e);
    json_leave(in, mark);
    return in->rc ? NULL : out;
}

static void put_minutes(struct json_out *o, const char *key, int minutes)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%02d:%02d", minutes / 60, minutes % 60);
    json_put_str(o, key, text);
}

void window_encode(struct json_out *o, const char *key, const struct window *w)
{
    char days[WINDOW_DAYS_TEXT];

    if (!w)
        return;
    json_begin(o, key);
    json_put_str(o, "days", window_days_text(w->days, days));
    put_minutes(o, "from", w->from_min);
    put_minutes(o, "to", w->to_min);
    json_put_str(o, "zone", w->zone);
    json_end(o);
}

/* ---- instants */

int64_t doc_opt_instant(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *text = json_opt_str(in, obj, key, 64, NULL);
    int64_t ms = 0;

    if (text && (!instant_parse(text, &ms) || ms == 0))
        json_fail(in, key, "json.value",
                  "%s must be an instant in UTC such as \"2026-12-01T01:00:00Z\", not \"%.40s\"",
                  key, text);
    return ms;
}

void doc_put_instant(struct json_out *o, const char *key, int64_t ms)
{
    char text[INSTANT_TEXT];

    if (ms > 0)
        json_put_str(o, key, instant_text(ms, text));
}

/* ---- retries */

void retry_decode(struct json_in *in, const cJSON *obj, int64_t *every_ms, int *limit)
{
    const cJSON *retry = json_opt_obj(in, obj, "retry");

    *every_ms = -1;
    *limit = -1;
    if (!retry)
        return;
    size_t mark = json_enter(in, "retry");
    json_closed(in, retry, job_retry_keys);
    *every_ms = doc_opt_duration(in, retry, "every", 1, RETRY_EVERY_MAX_MS, -1);
    *limit = (int)json_opt_int(in, retry, "limit", 0, 1000000, -1);
    json_leave(in, mark);
}

void retry_encode(struct json_out *o, int64_t every_ms, int limit)
{
    json_begin(o, "retry");
    if (every_ms >= 0)
        doc_put_duration(o, "every", every_ms);
    if (limit >= 0)
        json_put_int(o, "limit", limit);
    json_end(o);
}

/* ---- jobs to come after */

static bool is_part_of_id(const char *s)
{
    size_t n = strlen(s);

    return n >= 4 && n <= ULID_LEN &&
           strspn(s, "0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz") == n;
}

static bool is_named_before(const struct job_after *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcasecmp(list[k].job, list[i].job) == 0)
            return true;
    return false;
}

static void decode_other(struct json_in *in, const cJSON *obj, bool whole, struct job_after *list,
                         size_t i)
{
    struct job_after *out = &list[i];

    json_closed(in, obj, job_after_keys);
    out->job = json_str(in, obj, "job", JSON_STRING_MAX);
    out->need = (enum job_need)json_opt_enum_of(in, obj, "on", job_need_parse, "ok, any", NEED_OK);
    if (in->rc)
        return;
    if (whole && !ulid_valid(out->job))
        json_fail(in, "job", "job.bad", "job must be a ULID: 26 characters, upper case");
    else if (!is_part_of_id(out->job))
        json_fail(in, "job", "job.bad",
                  "job must be the id of a job, or 4 or more of its letters from either end");
    else if (is_named_before(list, i))
        json_fail(in, "job", "job.bad", "job %s is named twice; remove one", out->job);
}

void after_decode(struct json_in *in, const cJSON *obj, bool whole, struct job_after **out,
                  size_t *n)
{
    size_t count = 0, i = 0;
    const cJSON *list = json_opt_arr(in, obj, "after", JOB_AFTER_MAX, &count), *m;
    size_t mark = json_enter(in, "after");

    *out = arena_array(in->a, count, sizeof **out);
    cJSON_ArrayForEach (m, list) {
        size_t at = json_enter_index(in, i);
        decode_other(in, m, whole, *out, i++);
        json_leave(in, at);
        if (in->rc)
            break;
    }
    json_leave(in, mark);
    *n = in->rc ? 0 : count;
}

void after_encode(struct json_out *o, const struct job_after *after, size_t n)
{
    json_begin_array(o, "after");
    for (size_t i = 0; i < n; i++) {
        json_begin(o, NULL);
        json_put_str(o, "job", after[i].job);
        json_put_str(o, "on", job_need_name(after[i].need));
        json_end(o);
    }
    json_end_array(o);
}
