/* Which line is answered how: envelopes, methods, the order, and what becomes of a question whose
 * asker is gone. */
#include "world.h"

#include "sched/sched_internal.h"

static const struct {
    const char *line;
    int number;
    const char *code, *field;
} wrong[] = {
    {"", -32700, "rpc.parse", "offset 0"},
    {"hello", -32700, "rpc.parse", "offset 0"},
    {"[]", -32600, "rpc.invalid", ""},
    {"{\"jsonrpc\":\"2.0\",\"method\":\"daemon.status\"}", -32600, "rpc.invalid", "id"},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"daemon.status\"}", -32600, "rpc.invalid",
     "jsonrpc"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "rpc.invalid", "method"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\",\"x\":1}", -32600, "rpc.invalid",
     "x"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.stat\"}", -32601, "rpc.unknown_method",
     "method"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\",\"params\":{\"x\":1}}", -32602,
     "json.unknown_key", "x"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.show\"}", -32602, "json.missing", "id"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"report.page\"}", -32602, "rpc.params", "session"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.show\",\"params\":{\"id\":\"01HZ99\"}}",
     -32000, "job.not_found", "id"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"upload.end\"}", -32000, "upload.none", ""},
};

static void each_error_has_its_number_its_code_its_field_and_a_sentence(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct rpc_message *m = world_say(w, p, wrong[i].line);
        assert_int_equal(m->kind, RPC_ERROR);
        assert_string_equal(m->error.code, wrong[i].code);
        assert_string_equal(m->error.field, wrong[i].field);
        assert_int_equal(rpc_number(m->error.code), wrong[i].number);
        assert_non_null(
            strstr(p->sent.data, arena_printf(&w->arena, "\"code\":%d,", wrong[i].number)));
        assert_true(strlen(m->error.text) > 10);
    }
    (void)world_result(w, p, "daemon.status", NULL);
}

static void a_line_that_was_no_line_is_answered_without_an_id(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);
    struct err e = {0};

    buf_clear(&p->sent);
    (void)err_set(&e, -1, "rpc.too_long", "", "a message is longer than it may be");
    api_session_bad_line(p->s, &e);
    const struct rpc_message *m = world_wait(w, p);
    assert_int_equal(m->id, -1);
    assert_string_equal(m->error.code, "rpc.too_long");
}

/* ---- what is worked on elsewhere */

static const char COMMITS[] = "{\"commits\":[\"0123456789012345678901234567890123456789\"]}";

static void a_question_that_disturbs_waits_for_a_pause(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w), *other = world_peer(w);

    sched_set_quiet(w->sched, true);
    world_begin(w, p, "source.missing", COMMITS);
    for (int i = 0; i < 10; i++)
        (void)uv_run(&w->loop, UV_RUN_NOWAIT);
    assert_true(api_session_busy(p->s));
    assert_int_equal(p->lines, 0);
    (void)world_result(w, other, "daemon.status", NULL); /* who disturbs nobody does not wait */
    sched_set_quiet(w->sched, false);
    const struct rpc_message *m = world_wait(w, p);
    assert_int_equal(m->kind, RPC_RESULT);
    assert_int_equal(p->idles, 1);
    assert_int_equal(w->sched->holds, 0);
}

static void who_leaves_while_his_question_waits_is_forgotten(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    sched_set_quiet(w->sched, true);
    world_begin(w, p, "source.missing", COMMITS);
    world_leave(p);
    assert_int_equal(w->sched->n_waiting, 0);
    sched_set_quiet(w->sched, false);
    assert_int_equal(w->sched->holds, 0);
    assert_int_equal(p->lines, 0);
}

static void who_leaves_while_his_question_is_worked_on_is_not_answered(void **state)
{
    struct world *w = *state;
    struct peer *p = world_peer(w);

    world_begin(w, p, "source.missing", COMMITS);
    assert_int_equal(w->sched->holds, 1);
    world_leave(p);
    while (w->sched->holds)
        (void)uv_run(&w->loop, UV_RUN_ONCE);
    assert_int_equal(p->lines, 0);
    assert_int_equal(p->idles, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(each_error_has_its_number_its_code_its_field_and_a_sentence),
        WORLD_TEST(a_line_that_was_no_line_is_answered_without_an_id),
        WORLD_TEST(a_question_that_disturbs_waits_for_a_pause),
        WORLD_TEST(who_leaves_while_his_question_waits_is_forgotten),
        WORLD_TEST(who_leaves_while_his_question_is_worked_on_is_not_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
