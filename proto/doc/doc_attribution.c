#include "proto/doc/doc_attribution.h"

#include <string.h>

#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

#define CODE "profile.categories"

const char *const profile_keys[] = {"format", "categories", "process", "thread",
                                    "kernel", "from_ms",    "to_ms",   NULL};
const char *const attribution_keys[] = {"schema", "format",  "categories", "process", "thread",
                                        "kernel", "from_ms", "to_ms",      NULL};
const char *const category_keys[] = {"name", "symbols", "libraries", NULL};

static void check_pattern(struct json_in *in, const char *key, const char *pattern)
{
    size_t len = pattern ? strlen(pattern) : 1;
    if (len < 1 || len > PATTERN_BYTES_MAX)
        json_fail(in, key, CODE, "a pattern has 1 to %d bytes", PATTERN_BYTES_MAX);
}

static struct args decode_patterns(struct json_in *in, const cJSON *obj, const char *key)
{
    struct args patterns = json_opt_args(in, obj, key, CATEGORY_PATTERNS_MAX);
    size_t mark = json_enter(in, key);

    for (size_t i = 0; i < patterns.n && !in->rc; i++) {
        size_t at = json_enter_index(in, i);
        check_pattern(in, NULL, patterns.v[i]);
        json_leave(in, at);
    }
    json_leave(in, mark);
    return patterns;
}

static void check_category(struct json_in *in, const struct attribution *rules, size_t index)
{
    const struct category *c = &rules->categories[index];

    if (in->rc)
        return;
    if (attribution_value_parse(c->name) >= 0)
        json_fail(in, "name", CODE, "\"%s\" is what every profile has; name the category otherwise",
                  c->name);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(rules->categories[i].name, c->name))
            json_fail(in, "name", CODE, "the category \"%s\" is named twice; remove one", c->name);
    if (c->symbols.n + c->objects.n == 0)
        json_fail(in, NULL, CODE,
                  "a category has patterns of \"symbols\" or \"libraries\"; what none matches is "
                  "\"other\" by itself");
}

static void decode_categories(struct json_in *in, const cJSON *obj, struct attribution *rules)
{
    const cJSON *arr = json_arr(in, obj, "categories", CATEGORIES_MAX, &rules->n_categories), *m;
    size_t i = 0, mark = json_enter(in, "categories");

    if (!in->rc && rules->n_categories == 0)
        json_fail(in, NULL, CODE, "name 1 to %d categories", CATEGORIES_MAX);
    rules->categories = arena_array(in->a, rules->n_categories, sizeof *rules->categories);
    cJSON_ArrayForEach (m, arr) {
        size_t at = json_enter_index(in, i);
        struct category *c = &rules->categories[i];
        json_closed(in, m, category_keys);
        c->name = doc_name(in, m, "name", CODE);
        c->symbols = decode_patterns(in, m, "symbols");
        c->objects = decode_patterns(in, m, "libraries");
        check_category(in, rules, i++);
        json_leave(in, at);
        if (in->rc)
            return;
    }
    json_leave(in, mark);
}

/* Rules that could exclude nothing, because the profile does not say what they ask. */
static void check_format(struct json_in *in, const cJSON *obj, const struct attribution *rules)
{
    static const char *const keys[] = {"process", "thread", "kernel", "from_ms", "to_ms"};

    for (size_t i = 0; rules->format == PROFILE_CALLGRIND && i < 5 && !in->rc; i++)
        if (cJSON_GetObjectItemCaseSensitive(obj, keys[i]))
            json_fail(in, keys[i], CODE,
                      "a profile of callgrind is of one process and has no threads, kernel or "
                      "times; remove \"%s\"",
                      keys[i]);
    if (!in->rc && rules->to_ms >= 0 && rules->to_ms <= rules->from_ms)
        json_fail(in, "to_ms", CODE, "the window ends before it begins; to_ms is the larger one");
}

static const char *decode_pattern(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *pattern = json_opt_str(in, obj, key, JSON_STRING_MAX, NULL);
    check_pattern(in, key, pattern);
    return pattern;
}

static void decode(struct json_in *in, const cJSON *obj, struct attribution *rules)
{
    rules->format = (enum profile_format)json_enum_of(in, obj, "format", profile_format_parse,
                                                      "callgrind, perf-script, xctrace");
    decode_categories(in, obj, rules);
    rules->process = decode_pattern(in, obj, "process");
    rules->thread = decode_pattern(in, obj, "thread");
    rules->kernel = json_opt_bool(in, obj, "kernel", false);
    rules->from_ms = json_opt_int(in, obj, "from_ms", 0, ATTRIBUTION_TO_MAX_MS, -1);
    rules->to_ms = json_opt_int(in, obj, "to_ms", 1, ATTRIBUTION_TO_MAX_MS, -1);
    check_format(in, obj, rules);
}

const struct attribution *doc_attribution(struct json_in *in, const cJSON *obj)
{
    struct attribution *rules = arena_alloc(in->a, sizeof *rules);

    json_closed(in, obj, profile_keys);
    if (!in->rc)
        decode(in, obj, rules);
    return rules;
}

static void decode_file(struct json_in *in, const cJSON *doc, void *out)
{
    json_closed(in, doc, attribution_keys);
    doc_schema(in, doc, "aurabench.attribution.v1");
    if (!in->rc)
        decode(in, doc, out);
}

int attribution_decode(struct arena *a, const char *data, size_t len,
                       const struct attribution **out, struct err *e)
{
    struct attribution *rules = arena_alloc(a, sizeof *rules);
    int rc = doc_decode(a, data, len, decode_file, rules, e);

    if (rc == 0)
        *out = rules;
    return rc;
}

static void patterns_encode(struct json_out *o, const char *key, const struct args *patterns)
{
    if (patterns->n > 0)
        json_put_args(o, key, patterns);
}

/* Only what was said: a rule that is not there stays so. */
void doc_attribution_encode(struct json_out *o, const char *key, const struct attribution *rules)
{
    json_begin(o, key);
    json_put_str(o, "format", profile_format_name(rules->format));
    json_begin_array(o, "categories");
    for (size_t i = 0; i < rules->n_categories; i++) {
        json_begin(o, NULL);
        json_put_str(o, "name", rules->categories[i].name);
        patterns_encode(o, "symbols", &rules->categories[i].symbols);
        patterns_encode(o, "libraries", &rules->categories[i].objects);
        json_end(o);
    }
    json_end_array(o);
    if (rules->process)
        json_put_str(o, "process", rules->process);
    if (rules->thread)
        json_put_str(o, "thread", rules->thread);
    if (rules->kernel)
        json_put_bool(o, "kernel", true);
    if (rules->from_ms >= 0)
        json_put_int(o, "from_ms", rules->from_ms);
    if (rules->to_ms >= 0)
        json_put_int(o, "to_ms", rules->to_ms);
    json_end(o);
}
