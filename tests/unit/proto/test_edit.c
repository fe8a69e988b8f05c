/* Changes to a job that is here: what they name, what they become, how they read. */
#include "doc_test.h"

#include "proto/doc/doc_edit.h"

#define A "01J9Z3K4M5N6P7Q8R9S0T1V2W3"
#define B "01J9Z3K4M5N6P7Q8R9S0T1V2W4"

struct unit {
    struct arena a;
    struct err e;
    struct job job;
    struct job_edit edit;
    struct buf words;
};

static int setup(void **ctx)
{
    struct unit *u = mem_alloc(sizeof *u);
    u->job = (struct job){.label = "", .retry_every_ms = -1, .retry_limit = -1};
    *ctx = u;
    return 0;
}

static int teardown(void **ctx)
{
    struct unit *u = *ctx;
    arena_deinit(&u->a);
    buf_deinit(&u->words);
    free(u);
    return 0;
}

static int decode(struct unit *u, const char *single_quoted)
{
    CLEANUP(mem_freep) char *text = doc_text(single_quoted);
    cJSON *doc = NULL;
    err_clear(&u->e);
    int rc = json_parse(text, strlen(text), &doc, &u->e);
    if (!rc)
        rc = job_edit_decode(&u->a, "changes", doc, &u->edit, &u->e);
    cJSON_Delete(doc);
    return rc;
}

/* Decodes, writes and decodes again, then applies; the members that really changed. */
static unsigned apply(struct unit *u, const char *single_quoted)
{
    struct buf text = {0};
    struct json_out o;
    cJSON *doc = NULL;
    if (decode(u, single_quoted))
        fail_msg("%s: %s", single_quoted, u->e.text);
    unsigned named = u->edit.members;
    json_out_init(&o, &text);
    job_edit_encode(&o, NULL, &u->edit);
    assert_int_equal(json_parse(text.data, text.len, &doc, &u->e), 0);
    assert_int_equal(job_edit_decode(&u->a, "changes", doc, &u->edit, &u->e), 0);
    assert_int_equal(u->edit.members, named);
    cJSON_Delete(doc);
    buf_deinit(&text);
    buf_clear(&u->words);
    return job_edit_apply(&u->edit, &u->job, &u->words);
}

static void each_member_changes_alone_and_says_from_what_to_what(void **ctx)
{
    struct unit *u = *ctx;
    static const struct {
        const char *edit;
        unsigned member;
        const char *words;
    } rows[] = {
        {"{'priority':5}", EDIT_PRIORITY, "priority from 0 to 5"},
        {"{'label':'new'}", EDIT_LABEL, "label from none to \"new\""},
        {"{'not_before':'2026-12-01T01:00:00Z'}", EDIT_NOT_BEFORE,
         "not before from none to 2026-12-01T01:00Z"},
        {"{'deadline':'2026-12-05T00:00:01Z'}", EDIT_DEADLINE,
         "deadline from none to 2026-12-05T00:00:01Z"},
        {"{'window':{'days':'mon-fri','from':'01:00','to':'05:30','zone':'UTC'}}", EDIT_WINDOW,
         "window from none to mon,tue,wed,thu,fri 01:00-05:30 UTC"},
        {"{'retry':{'every':'90s'}}", EDIT_RETRY_EVERY, "retry every from the policy's to 90s"},
        {"{'retry':{'limit':0}}", EDIT_RETRY_LIMIT, "retry limit from the policy's to 0"},
        {"{'after':[{'job':'" A "'},{'job':'" B "','on':'any'}]}", EDIT_AFTER,
         "after from none to " A " (ok), " B " (any)"},
        {"{'after':[{'job':'" B "','on':'any'}]}", EDIT_AFTER,
         "after from " A " (ok), " B " (any) to " B " (any)"},
        {"{'after':[],'window':null,'retry':null,'deadline':null}",
         EDIT_AFTER | EDIT_WINDOW | EDIT_RETRY_EVERY | EDIT_RETRY_LIMIT | EDIT_DEADLINE,
         "deadline from 2026-12-05T00:00:01Z to none; window from mon,tue,wed,thu,fri "
         "01:00-05:30 UTC to none; retry every from 90s to the policy's; retry limit from 0 to "
         "the policy's; after from " B " (any) to none"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(apply(u, rows[i].edit), rows[i].member);
        assert_string_equal(buf_str(&u->words), rows[i].words);
    }
    assert_int_equal(u->job.priority, 5);
    assert_string_equal(u->job.label, "new");
    assert_int_equal(u->job.not_before_ms, 1796086800000);
    assert_int_equal(u->job.deadline_ms, 0);
    assert_null(u->job.window);
    assert_int_equal(u->job.retry_every_ms, -1);
    assert_int_equal(u->job.n_after, 0);
}

static void what_is_the_same_already_is_no_change(void **ctx)
{
    struct unit *u = *ctx;
    u->job.priority = 7;
    u->job.retry_limit = 3;
    assert_int_equal(apply(u, "{'priority':7,'label':null,'window':null,'retry':{'limit':3}}"), 0);
    assert_string_equal(buf_str(&u->words), "");
    assert_int_equal(u->job.priority, 7);
    assert_int_equal(apply(u, "{'priority':7,'label':'x'}"), EDIT_LABEL);
    assert_string_equal(buf_str(&u->words), "label from none to \"x\"");
}

static void what_is_not_named_stays(void **ctx)
{
    struct unit *u = *ctx;
    u->job.retry_every_ms = 60000;
    u->job.retry_limit = 3;
    u->job.deadline_ms = 5000;
    assert_int_equal(apply(u, "{'retry':{'limit':4}}"), EDIT_RETRY_LIMIT);
    assert_int_equal(u->job.retry_every_ms, 60000);
    assert_int_equal(u->job.retry_limit, 4);
    assert_int_equal(u->job.deadline_ms, 5000);
}

static void each_rule_refuses_what_breaks_it(void **ctx)
{
    struct unit *u = *ctx;
    static const struct refusal refusals[] = {
        {"{}", "job.bad", "changes"},
        {"{'retry':{}}", "job.bad", "changes"},
        {"{'repetitions':5}", "json.unknown_key", "changes.repetitions"},
        {"{'session':'x'}", "json.unknown_key", "changes.session"},
        {"{'priority':101}", "json.range", "changes.priority"},
        {"{'priority':-101}", "json.range", "changes.priority"},
        {"{'label':'a\\nb'}", "json.value", "changes.label"},
        {"{'not_before':'tomorrow'}", "json.value", "changes.not_before"},
        {"{'window':{'from':'01:00'}}", "json.missing", "changes.window.to"},
        {"{'retry':{'on_lost':'yes'}}", "json.unknown_key", "changes.retry.on_lost"},
        {"{'after':[{'job':'2W3Z'}]}", "job.bad", "changes.after[0].job"},
        {"[]", "json.type", "changes"},
    };
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        assert_refused(decode(u, refusals[i].text), &u->e, &refusals[i]);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(each_member_changes_alone_and_says_from_what_to_what),
        T(what_is_the_same_already_is_no_change),
        T(what_is_not_named_stays),
        T(each_rule_refuses_what_breaks_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
