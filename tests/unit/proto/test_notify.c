/* Who is told of ends, in documents and on command lines, and what they are told. */
#include "doc_test.h"

#include <errno.h>

#include "base/files.h"
#include "proto/doc/doc_notify.h"

static int decode(struct arena *a, const char *single_quoted, struct notify **out, size_t *n,
                  struct err *e)
{
    CLEANUP(mem_freep) char *text = doc_text(single_quoted);
    struct json_in in;
    cJSON *doc = NULL;

    assert_int_equal(json_parse(text, strlen(text), &doc, e), 0);
    json_in_init(&in, a, e);
    notify_decode(&in, doc, out, n);
    cJSON_Delete(doc);
    return in.rc;
}

static void what_is_not_said_is_every_end_and_half_a_minute(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct notify *list;
    struct err e = {0};
    size_t n;

    assert_int_equal(decode(&a, "{}", &list, &n, &e), 0);
    assert_int_equal(n, 0);
    assert_int_equal(decode(&a,
                            "{'notify':[{'command':['tell','me','']},{'command':['/bin/x'],"
                            "'on':['lost','failed'],'timeout':'2m'}]}",
                            &list, &n, &e),
                     0);
    assert_int_equal(n, 2);
    assert_int_equal(list[0].command.n, 3);
    assert_string_equal(list[0].command.v[2], "");
    assert_int_equal(list[0].on, 0);
    assert_int_equal(list[0].timeout_ms, 30000);
    assert_int_equal(list[1].on, 1u << JOB_LOST | 1u << JOB_FAILED);
    assert_int_equal(list[1].timeout_ms, 120000);
}

static void it_survives_encoding(void **state)
{
    static const char text[] =
        "{\"notify\":[{\"command\":[\"/bin/x\",\"\\\"a b\"],\"on\":[\"done\","
        "\"expired\"],\"timeout\":\"90s\"}]}";
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct json_out o;
    struct notify *list;
    struct json_in in;
    cJSON *doc = NULL;
    struct err e = {0};
    size_t n;

    assert_int_equal(json_parse(text, strlen(text), &doc, &e), 0);
    json_in_init(&in, &a, &e);
    notify_decode(&in, doc, &list, &n);
    cJSON_Delete(doc);
    json_out_init(&o, &out);
    json_begin(&o, NULL);
    notify_encode(&o, list, n);
    json_end(&o);
    assert_string_equal(buf_str(&out), text);
}

#define ONE(command) "{'notify':[{'command':" command "}]}"

static void each_rule_refuses_what_breaks_it(void **state)
{
    static const struct refusal refusals[] = {
        {"{'notify':{}}", "json.type", "notify"},
        {"{'notify':[{}]}", "json.missing", "notify[0].command"},
        {"{'notify':[{'command':['x'],'when':1}]}", "json.unknown_key", "notify[0].when"},
        {ONE("'mail me'"), "json.type", "notify[0].command"},
        {ONE("[]"), "job.bad", "notify[0].command"},
        {ONE("['']"), "job.bad", "notify[0].command"},
        {ONE("['bin/x']"), "job.bad", "notify[0].command"},
        {ONE("['../x']"), "job.bad", "notify[0].command"},
        {ONE("['x','|','y']"), "job.bad", "notify[0].command[1]"},
        {ONE("['x','&&']"), "job.bad", "notify[0].command[1]"},
        {"{'notify':[{'command':['x'],'on':['good']}]}", "job.bad", "notify[0].on[0]"},
        {"{'notify':[{'command':['x'],'on':['done','queued']}]}", "job.bad", "notify[0].on[1]"},
        {"{'notify':[{'command':['x'],'timeout':'500ms'}]}", "json.range", "notify[0].timeout"},
        {"{'notify':[{'command':['x'],'timeout':'6m'}]}", "json.range", "notify[0].timeout"},
        {"{'notify':[{'command':['x']},{'command':['x']},{'command':['x']},{'command':['x']},"
         "{'command':['x']}]}",
         "json.too_long", "notify"},
    };

    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct notify *list;
        struct err e = {0};
        size_t n;
        assert_refused(decode(&a, refusals[i].text, &list, &n, &e), &e, &refusals[i]);
    }
}

static void a_command_is_bounded(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    CLEANUP(buf_deinit) struct buf text = {0};
    struct notify out;
    struct err e = {0};

    buf_puts(&text, "[\"x\",\"");
    for (int i = 0; i < 4096; i++)
        buf_putc(&text, 'a');
    buf_puts(&text, "\"]");
    assert_int_equal(notify_from_text(&a, "--notify", buf_str(&text), &out, &e), -EINVAL);
    assert_non_null(strstr(e.text, "at most 4096 bytes"));
}

static void a_command_line_names_a_program_or_an_argument_list(void **state)
{
    static const char *const bad[] = {"", "[]", "[1]", "[\"x\",", "a/b", "[\"x\",\";\"]", "|"};
    CLEANUP(arena_deinit) struct arena a = {0};
    struct notify out;
    struct err e = {0};

    assert_int_equal(notify_from_text(&a, "--notify", "/opt/tell me", &out, &e), 0);
    assert_int_equal(out.command.n, 1);
    assert_string_equal(out.command.v[0], "/opt/tell me");
    assert_int_equal(notify_from_text(&a, "--notify", "[\"tell\",\"a b\",\"$x\"]", &out, &e), 0);
    assert_int_equal(out.command.n, 3);
    assert_string_equal(out.command.v[2], "$x");
    assert_int_equal(out.timeout_ms, NOTIFY_TIMEOUT_MS);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        err_clear(&e);
        assert_int_equal(notify_from_text(&a, "--notify", bad[i], &out, &e), -EINVAL);
        assert_string_equal(e.code, "usage");
        assert_string_equal(e.field, "--notify");
    }
}

/* ---- what they are told */

static const struct notification_report report = {
    "01J9Z3K4M5N6P7Q8R9S0T1V2W3",
    "void",
    "void, why",
    "/e",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    NULL};

static const cJSON *get(const cJSON *node, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(node, key);
}

/* Exactly the members that the schema lists, all of which it requires. */
static void same_members(const cJSON *object, const cJSON *schema)
{
    const cJSON *properties = get(schema, "properties"), *m;

    assert_true(cJSON_IsFalse(get(schema, "additionalProperties")));
    assert_int_equal(cJSON_GetArraySize(object), cJSON_GetArraySize(properties));
    assert_int_equal(cJSON_GetArraySize(object), cJSON_GetArraySize(get(schema, "required")));
    cJSON_ArrayForEach (m, object)
        if (!get(properties, m->string))
            fail_msg("the schema lacks \"%s\"", m->string);
}

/* Values are held against the schema where real ones are told, in tests/e2e/test_hooks.py. */
static void check(const struct notification *n)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(buf_deinit) struct buf text = {0};
    cJSON *doc = NULL, *schema = NULL;
    struct err e = {0};

    notification_encode(&out, n);
    assert_int_equal(out.data[out.len - 1], '\n');
    assert_int_equal(json_parse(out.data, out.len, &doc, &e), 0);
    assert_int_equal(file_read(PROTO_DIR "/schema/notification.json", 1 << 20, &text, &e), 0);
    assert_int_equal(json_parse(text.data, text.len, &schema, &e), 0);
    const cJSON *job = get(doc, "job"), *defs = get(schema, "$defs");
    same_members(doc, schema);
    same_members(job, get(get(schema, "properties"), "job"));
    if (!cJSON_IsNull(get(job, "error")))
        same_members(get(job, "error"), get(defs, "error"));
    if (!cJSON_IsNull(get(job, "report")))
        same_members(get(job, "report"), get(defs, "report"));
    cJSON_Delete(doc);
    cJSON_Delete(schema);
}

static void a_notification_has_the_members_of_its_schema(void **state)
{
    struct notification n = {
        .id = "01J9Z3K4M5N6P7Q8R9S0T1V2W3",
        .event = NOTIFY_JOB_ENDED,
        .host = "bench",
        .at_ms = 5,
        .job = {.id = "01J9Z3K4M5N6P7Q8R9S0T1V2W4", .number = 7, .state = JOB_CANCELLED}};

    check(&n);
    n.event = NOTIFY_QUEUE_EMPTY;
    n.job.label = "a \"label\"";
    n.job.session = n.id;
    n.job.state = JOB_FAILED;
    n.job.error_code = "lane.signal";
    n.job.error_field = "";
    n.job.error_text = "it\nended";
    n.job.report = &report;
    check(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_said_is_every_end_and_half_a_minute),
        cmocka_unit_test(it_survives_encoding),
        cmocka_unit_test(each_rule_refuses_what_breaks_it),
        cmocka_unit_test(a_command_is_bounded),
        cmocka_unit_test(a_command_line_names_a_program_or_an_argument_list),
        cmocka_unit_test(a_notification_has_the_members_of_its_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
