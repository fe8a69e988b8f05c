#include "proto/doc/doc_common.h"

#include <stdio.h>
#include <string.h>

#include "proto/form/duration.h"
#include "proto/json/json_text.h"

int doc_decode(struct arena *a, const char *data, size_t len,
               void (*take)(struct json_in *in, const cJSON *doc, void *out), void *out,
               struct err *e)
{
    struct json_in in;
    cJSON *doc;
    int rc = json_parse(data, len, &doc, e);

    if (rc)
        return rc;
    json_in_init(&in, a, e);
    take(&in, doc, out);
    cJSON_Delete(doc);
    return in.rc;
}

bool doc_is_name(const char *s)
{
    size_t n = strlen(s);
    return n > 0 && n <= DOC_NAME_MAX && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

void doc_check_name(struct json_in *in, const char *key, const char *name, const char *code)
{
    if (in->rc || doc_is_name(name))
        return;
    char shown[DOC_NAME_MAX + 1];
    snprintf(shown, sizeof shown, "%s", name);
    json_clean(shown);
    json_fail(in, key, code,
              "\"%s\" is not a name; use 1 to %d lower-case letters, digits, '_' and '-'", shown,
              DOC_NAME_MAX);
}

void doc_check_names(struct json_in *in, const char *key, const char *what,
                     const struct args *names)
{
    size_t mark = json_enter(in, key);
    for (size_t i = 0; i < names->n && !in->rc; i++) {
        size_t at = json_enter_index(in, i);
        doc_check_name(in, NULL, names->v[i], "suite.bad");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(names->v[k], names->v[i]))
                json_fail(in, NULL, "suite.bad", "the %s \"%s\" is named twice; remove one", what,
                          names->v[i]);
        json_leave(in, at);
    }
    json_leave(in, mark);
}

const char *doc_name(struct json_in *in, const cJSON *obj, const char *key, const char *code)
{
    const char *name = json_str(in, obj, key, JSON_STRING_MAX);
    doc_check_name(in, key, name, code);
    return in->rc ? NULL : name;
}

void doc_schema(struct json_in *in, const cJSON *obj, const char *schema)
{
    const char *is = json_str(in, obj, "schema", 128);
    if (in->rc || !strcmp(is, schema))
        return;
    json_fail(in, "schema", "json.schema",
              "schema must be \"%s\"; this is another document or another version", schema);
}

const char *doc_opt_line(struct json_in *in, const cJSON *obj, const char *key, size_t max_len,
                         const char *fallback)
{
    const char *s = json_opt_str(in, obj, key, max_len, fallback);
    for (const char *p = s; p && *p; p++) {
        if ((unsigned char)*p >= 0x20 && *p != 0x7f)
            continue;
        json_fail(in, key, "json.value", "%s must be one line without control characters", key);
        return fallback;
    }
    return s;
}

int64_t doc_opt_duration(struct json_in *in, const cJSON *obj, const char *key, int64_t min_ms,
                         int64_t max_ms, int64_t fallback)
{
    char low[DURATION_TEXT], high[DURATION_TEXT];
    int64_t ms = 0;
    const char *text = json_opt_str(in, obj, key, 32, NULL);
    if (in->rc || !text)
        return fallback;
    if (!duration_parse(text, &ms)) {
        json_fail(in, key, "json.value",
                  "%s must be a duration like \"250ms\", \"90s\", \"10m\", \"2h\" or \"1d\"", key);
        return fallback;
    }
    if (ms < min_ms || ms > max_ms) {
        json_fail(in, key, "json.range", "%s must be from %s to %s", key,
                  duration_text(min_ms, low), duration_text(max_ms, high));
        return fallback;
    }
    return ms;
}

void doc_put_duration(struct json_out *o, const char *key, int64_t ms)
{
    char text[DURATION_TEXT];
    json_put_str(o, key, duration_text(ms, text));
}

struct args doc_opt_programs(struct json_in *in, const cJSON *obj, const char *key,
                             const char *code)
{
    struct args args = json_opt_args(in, obj, key, DOC_PROGRAMS_MAX);
    size_t mark = json_enter(in, key);
    for (size_t i = 0; i < args.n && !in->rc; i++) {
        size_t item = json_enter_index(in, i);
        size_t len = strlen(args.v[i]);
        if (!len || len > DOC_NAME_MAX || strchr(args.v[i], '/'))
            json_fail(in, NULL, code, "a program is named by 1 to %d bytes without a path",
                      DOC_NAME_MAX);
        json_leave(in, item);
    }
    json_leave(in, mark);
    return args;
}

void doc_put_interval(struct json_out *o, const struct interval *v, bool with_ranks)
{
    if (!v->defined) {
        json_put_null(o, "interval");
        return;
    }
    json_begin(o, "interval");
    json_put_num(o, "low", v->low);
    json_put_num(o, "high", v->high);
    json_put_num(o, "coverage", v->coverage);
    if (with_ranks) {
        json_put_int(o, "rank_low", v->rank_low);
        json_put_int(o, "rank_high", v->rank_high);
    }
    json_end(o);
}
