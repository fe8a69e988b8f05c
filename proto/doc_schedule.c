#include "proto/doc_schedule.h"

#include <stdio.h>

#include "proto/doc_common.h"
#include "proto/doc_keys.h"
#include "proto/instant.h"

#define RETRY_EVERY_MAX_MS ((int64_t)7 * 86400000)

const char *const window_keys[] = {"days", "from", "to", "zone", NULL};
const char *const job_retry_keys[] = {"every", "limit", NULL};

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
