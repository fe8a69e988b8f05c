/* The connection against a daemon that does what a script says. */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/link/connection.h"
#include "fake_daemon.h"
#include "unit.h"

static const struct fake_step nothing[] = {{0}};

static int open_fake(const struct fake *f, struct connection **c, struct err *e)
{
    const struct connection_how how = {.socket = f->socket, .deadline_ns = -1};

    return connection_open(&how, c, e);
}

static void assert_refused(const struct fake_script *script, int rc, const char *code,
                           const char *part)
{
    struct connection *c = NULL;
    struct answer answer;
    struct err e = {0};
    struct fake f;

    fake_start(&f, script);
    assert_int_equal(open_fake(&f, &c, &e), 0);
    assert_int_equal(connection_call(c, "a.one", NULL, &answer, &e), rc);
    assert_string_equal(e.code, code);
    if (!strstr(e.text, part))
        fail_msg("\"%s\" does not say \"%s\"", e.text, part);
    connection_close(c);
    fake_stop(&f);
}

static void the_hello_is_read_before_any_answer(void **state)
{
    static const struct fake_step steps[] = {{.method = "a.one"}, {0}};
    const struct fake_script script = {.steps = steps};
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct connection *c = NULL;
    struct err e = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &script);
    assert_int_equal(open_fake(&f, &c, &e), 0);
    assert_int_equal(connection_call(c, "a.one", NULL, &answer, &e), 0);
    connection_close(c);
    fake_stop(&f);
}

static void requests_sent_together_are_answered_in_their_order(void **state)
{
    static const struct fake_step steps[] = {{.method = "a.one", .result = "{\"n\":1}"},
                                             {.method = "a.two", .result = "{\"n\":2}"},
                                             {0}};
    const struct fake_script script = {.steps = steps};
    CLEANUP(answer_deinit) struct answer one = {0}, two = {0};
    struct connection *c = NULL;
    int64_t first = 0, second = 0;
    struct err e = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &script);
    assert_int_equal(open_fake(&f, &c, &e), 0);
    assert_int_equal(connection_send(c, "a.one", NULL, &first, &e), 0);
    assert_int_equal(connection_send(c, "a.two", NULL, &second, &e), 0);
    assert_int_equal(connection_receive(c, first, &one, &e), 0);
    assert_int_equal(connection_receive(c, second, &two, &e), 0);
    assert_true(one.msg.result->child->valuedouble == 1 && two.msg.result->child->valuedouble == 2);
    connection_close(c);
    fake_stop(&f);
}

static void whoever_does_not_greet_like_a_daemon_is_refused(void **state)
{
    CLEANUP(buf_deinit) struct buf endless = {0};

    (void)state;
    assert_refused(&(struct fake_script){.hello = "220 smtp ready\n", .steps = nothing},
                   -ECONNREFUSED, "daemon.not_ours", "no aurabenchd");
    assert_refused(
        &(struct fake_script){.hello = "{\"aurabench\":2,\"more\":1}\n", .steps = nothing},
        -ECONNREFUSED, "daemon.version", "protocol 2");
    assert_refused(&(struct fake_script){.steps = nothing, .hang_up_first = 1}, -EPIPE,
                   "daemon.unreachable", "hung up without a word");
    for (int i = 0; i < (1 << 20) + 10; i++)
        buf_putc(&endless, 'x');
    assert_refused(&(struct fake_script){.hello = endless.data, .steps = nothing}, -ECONNREFUSED,
                   "daemon.not_ours", "first line has no end");
}

/* As the queue of a daemon that measures while many clients come. */
static void a_full_queue_is_waited_for_until_the_deadline(void **state)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    CLEANUP(mem_freep) char *folder = unit_folder();
    CLEANUP(mem_freep) char *path = mem_printf("%s/sock", folder);
    struct connection_how how = {.socket = path, .deadline_ns = -1};
    struct connection *filler[4] = {0};
    struct err e = {0};
    int rc = 0;

    (void)state;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(at.sun_path, path, strlen(path) + 1);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 0), 0);
    int64_t began_ns = clock_mono_ns();
    how.deadline_ns = began_ns + 300000000;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(filler); i++)
        rc = connection_open(&how, &filler[i], &e);
    assert_int_equal(rc, -ETIMEDOUT);
    assert_string_equal(e.code, "client.timeout");
    assert_true(clock_mono_ns() >= how.deadline_ns);
    for (size_t i = 0; i < ARRAY_LEN(filler); i++)
        connection_close(filler[i]);
    (void)close(listener);
    assert_int_equal(file_rmtree(folder, NULL), 0);
}

static void no_socket_is_unreachable_with_the_next_step(void **state)
{
    CLEANUP(mem_freep) char *folder = unit_folder();
    CLEANUP(mem_freep) char *path = mem_printf("%s/none", folder);
    const struct connection_how how = {.socket = path, .deadline_ns = -1};
    struct connection *c = NULL;
    struct err e = {0};

    (void)state;
    assert_int_equal(connection_open(&how, &c, &e), -ECONNREFUSED);
    assert_string_equal(e.code, "daemon.unreachable");
    assert_non_null(strstr(e.text, "there is no such socket"));
    assert_int_equal(rmdir(folder), 0);
}

static void an_answer_comes_to_its_question_and_an_error_as_the_daemon_said_it(void **state)
{
    static const struct fake_step steps[] = {{.method = "a.one", .result = "{\"n\":1}"},
                                             {.method = "a.two", .error = "job.not_found"},
                                             {.method = "a.three", .result = "{\"n\":[3]}"},
                                             {0}};
    const struct fake_script script = {.steps = steps};
    CLEANUP(buf_deinit) struct buf asked = {0};
    CLEANUP(answer_deinit) struct answer one = {0}, two = {0}, three = {0};
    struct connection *c = NULL;
    struct err e = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &script);
    assert_int_equal(open_fake(&f, &c, &e), 0);
    assert_int_equal(connection_call(c, "a.one", "{\"x\":true}", &one, &e), 0);
    assert_true(cJSON_IsObject(one.msg.result));
    assert_int_equal(connection_call(c, "a.two", NULL, &two, &e), -EREMOTEIO);
    assert_string_equal(e.code, "job.not_found");
    assert_string_equal(e.text, "refused by the script");
    assert_int_equal(connection_call(c, "a.three", NULL, &three, &e), 0);
    assert_int_equal(cJSON_GetArraySize(three.msg.result), 1);
    fake_asked(&f, &asked);
    assert_string_equal(asked.data, "a.one {\"x\":true}\na.two {}\na.three {}\n");
    connection_close(c);
    fake_stop(&f);
}

#define NOTE(n) "{\"jsonrpc\":\"2.0\",\"method\":\"job.event\",\"params\":{\"n\":" #n "}}\n"

static int64_t next_n(struct connection *c)
{
    CLEANUP(answer_deinit) struct answer note = {0};
    struct err e = {0};
    struct json_in in;

    assert_int_equal(connection_next(c, &note, &e), 0);
    assert_string_equal(note.msg.method, "job.event");
    json_in_init(&in, &note.a, &e);
    return json_int(&in, note.msg.params, "n", 0, 100);
}

static void notifications_that_come_before_an_answer_are_kept_in_order(void **state)
{
    static const struct fake_step steps[] = {
        {.method = "a.one", .after = NOTE(1) NOTE(2)}, {.method = "a.two", .after = NOTE(3)}, {0}};
    const struct fake_script script = {.steps = steps};
    CLEANUP(answer_deinit) struct answer one = {0}, two = {0};
    struct connection *c = NULL;
    struct err e = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &script);
    assert_int_equal(open_fake(&f, &c, &e), 0);
    assert_int_equal(connection_call(c, "a.one", NULL, &one, &e), 0);
    assert_int_equal(connection_call(c, "a.two", NULL, &two, &e), 0);
    for (int64_t n = 1; n <= 3; n++)
        assert_int_equal(next_n(c), n);
    connection_close(c);
    fake_stop(&f);
}

static void assert_call_fails(const struct fake_step *step, int64_t deadline_ms, int rc,
                              const char *code)
{
    const struct fake_step steps[] = {*step, {0}};
    const struct fake_script script = {.steps = steps};
    struct connection *c = NULL;
    struct answer answer;
    struct err e = {0};
    struct fake f;

    fake_start(&f, &script);
    const struct connection_how how = {
        .socket = f.socket,
        .deadline_ns = deadline_ms < 0 ? -1 : clock_mono_ns() + deadline_ms * 1000000};
    assert_int_equal(connection_open(&how, &c, &e), 0);
    assert_int_equal(connection_call(c, step->method, NULL, &answer, &e), rc);
    assert_string_equal(e.code, code);
    answer_deinit(&answer);
    connection_close(c);
    fake_stop(&f);
}

static void a_connection_that_breaks_is_told_apart_from_an_answer(void **state)
{
    (void)state;
    assert_call_fails(&(struct fake_step){.method = "a.one", .hang_up = true}, -1, -EPIPE,
                      "daemon.unreachable");
    assert_call_fails(
        &(struct fake_step){.method = "a.one", .raw = "{\"jsonrpc\":\"2.0\",", .hang_up = true}, -1,
        -EPIPE, "daemon.unreachable");
}

static void what_is_no_message_is_refused(void **state)
{
    (void)state;
    assert_call_fails(&(struct fake_step){.method = "a.one", .raw = "hello?\n"}, -1, -EPROTO,
                      "daemon.version");
    assert_call_fails(&(struct fake_step){.method = "a.one",
                                          .raw = "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n"},
                      -1, -EPROTO, "daemon.version");
}

static void the_time_limit_ends_the_waiting(void **state)
{
    (void)state;
    assert_call_fails(&(struct fake_step){.method = "a.one", .silent = true}, 200, -ETIMEDOUT,
                      "client.timeout");
}

static void an_answer_that_lacks_something_is_a_matter_of_versions(void **state)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct err e = {0};
    struct json_in in;
    cJSON *doc = cJSON_Parse("{}");

    (void)state;
    json_in_init(&in, &a, &e);
    assert_int_equal(connection_check(&in, &e), 0);
    (void)json_int(&in, doc, "n", 0, 1);
    assert_int_equal(connection_check(&in, &e), -EPROTO);
    assert_string_equal(e.code, "daemon.version");
    assert_non_null(strstr(e.text, "n is missing"));
    cJSON_Delete(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hello_is_read_before_any_answer),
        cmocka_unit_test(requests_sent_together_are_answered_in_their_order),
        cmocka_unit_test(whoever_does_not_greet_like_a_daemon_is_refused),
        cmocka_unit_test(a_full_queue_is_waited_for_until_the_deadline),
        cmocka_unit_test(no_socket_is_unreachable_with_the_next_step),
        cmocka_unit_test(an_answer_comes_to_its_question_and_an_error_as_the_daemon_said_it),
        cmocka_unit_test(notifications_that_come_before_an_answer_are_kept_in_order),
        cmocka_unit_test(a_connection_that_breaks_is_told_apart_from_an_answer),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(the_time_limit_ends_the_waiting),
        cmocka_unit_test(an_answer_that_lacks_something_is_a_matter_of_versions),
    };
    (void)signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
