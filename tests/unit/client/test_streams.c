/* Where the program's bytes go: a stdout that ends early, dial-stdio, ssh. */
#include <fcntl.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "fake_daemon.h"
#include "proto/errors.h"
#include "unit.h"

#define STATUS                                                                                       \
    "{\"version\":\"9.9\",\"host\":\"box\",\"boot\":\"b\",\"state_dir\":\"/s\",\"started_ms\":1000," \
    "\"now_ms\":62000,\"jobs\":{\"queued\":2,\"done\":1},\"active\":null,\"blocked\":null,"          \
    "\"next_due_ms\":null}"

/* One sentence on stderr, nothing on stdout. */
static void assert_one_sentence(const struct outcome *o, const char *part)
{
    assert_says(&o->err, part);
    assert_int_equal(strncmp(buf_str(&o->err), "aurabench: ", 11), 0);
    assert_ptr_equal(strchr(o->err.data, '\n'), o->err.data + o->err.len - 1);
    assert_int_equal(o->out.len, 0);
}

/* ---- stdio */

/* Runs `aurabench list` with this stdout. */
static int run_with_stdout(const char *socket, int fd, struct buf *err)
{
    extern char **environ;
    const char *argv[] = {getenv("AURABENCH"), "--socket", socket, "status", NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    int status = -1;

    req.argv = argv;
    req.env = (const char *const *)(uintptr_t)environ;
    req.out_fd = fd;
    assert_int_equal(spawn_run(&req, &status, NULL, err, NULL), 0);
    return status;
}

static void a_closed_stdout_ends_quietly_and_a_full_one_does_not(void **state)
{
    CLEANUP(buf_deinit) struct buf err = {0};
    const struct fake_step *steps = STEPS({.method = "daemon.status", .result = STATUS},
                                          {.method = "daemon.status", .result = STATUS});
    struct fake f;
    int ends[2];

    (void)state;
    fake_start(&f, &(struct fake_script){.steps = steps});
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    (void)close(ends[0]);
    assert_int_equal(run_with_stdout(f.socket, ends[1], &err), EXIT_GOOD);
    assert_int_equal(err.len, 0);
    (void)close(ends[1]);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        assert_int_equal(run_with_stdout(f.socket, full, &err), EXIT_JOB);
        assert_says(&err, "could not write to stdout");
        (void)close(full);
    }
    fake_stop(&f);
}

static void dial_stdio_passes_both_ends_on(void **state)
{
    extern char **environ;
    static const char request[] =
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"a.one\",\"params\":{}}\n";
    CLEANUP(buf_deinit) struct buf out = {0}, asked = {0};
    const struct fake_step *steps = STEPS({.method = "a.one", .result = "{\"x\":1}"});
    struct spawn_req req = SPAWN_REQ_INIT;
    int status = -1;
    struct fake f;

    (void)state;
    fake_start(&f, &(struct fake_script){.steps = steps});
    const char *argv[] = {getenv("AURABENCH"), "--socket", f.socket, "dial-stdio", NULL};
    req.argv = argv;
    req.env = (const char *const *)(uintptr_t)environ;
    req.input = request;
    req.input_len = strlen(request);
    assert_int_equal(spawn_run(&req, &status, &out, NULL, NULL), 0);
    assert_int_equal(status, EXIT_GOOD);
    /* The answer came although stdin had ended before it. */
    assert_string_equal(out.data,
                        FAKE_HELLO "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"x\":1}}\n");
    fake_asked(&f, &asked);
    assert_string_equal(asked.data, "a.one {}\n(closed) \n");
    fake_stop(&f);
}

/* ---- another machine */

/* A program in the place of ssh: it writes down its arguments, then does what the last of them say,
 * here. */
static char *make_ssh(const struct fake *f, const char *last_line)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    char *path = file_join(f->folder, "ssh");

    buf_printf(&b, "#!/bin/sh\nfor a; do printf '%%s\\n' \"$a\"; done >%s/args\n%s\n", f->folder,
               last_line);
    assert_int_equal(file_write(path, b.data, b.len, 0700, NULL), 0);
    return path;
}

static void run_by_ssh(const struct fake *f, const char *last_line, struct outcome *o)
{
    CLEANUP(mem_freep) char *ssh = make_ssh(f, last_line);
    CLEANUP(mem_freep) char *program = mem_printf("%s -F conf", ssh);

    outcome_deinit(o);
    (void)setenv("AURABENCH_SSH", program, 1);
    (void)setenv("AURABENCH_SOCKET", f->socket, 1);
    o->status =
        client_run(NULL, WORDS("-H", "ssh://me@far.example:2222", "status"), &o->out, &o->err);
    (void)unsetenv("AURABENCH_SSH");
    (void)unsetenv("AURABENCH_SOCKET");
}

static void another_machine_is_reached_by_ssh_and_dial_stdio(void **state)
{
    const struct fake_step *steps = STEPS({.method = "daemon.status", .result = STATUS});
    CLEANUP(outcome_deinit) struct outcome o = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &(struct fake_script){.steps = steps});
    run_by_ssh(&f, "exec \"$AURABENCH\" dial-stdio", &o);
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.out, "aurabenchd 9.9 on box");
    CLEANUP(mem_freep) char *args = file_join(f.folder, "args");
    buf_clear(&o.out);
    assert_int_equal(file_read(args, 4096, &o.out, NULL), 0);
    assert_string_equal(o.out.data,
                        "-F\nconf\n-T\n-p\n2222\n--\nme@far.example\naurabench\ndial-stdio\n");
    fake_stop(&f);
}

static void what_keeps_ssh_from_a_daemon_is_told(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};
    struct fake f;

    (void)state;
    fake_start(&f, &(struct fake_script){.steps = STEPS({0})});
    run_by_ssh(&f, "exit 255", &o);
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_one_sentence(&o, "ended with status 255");
    run_by_ssh(&f, "exit 127", &o);
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_one_sentence(&o, "has no program aurabench");
    run_by_ssh(&f, "echo Welcome to this machine", &o);
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_one_sentence(&o, "no aurabenchd");
    (void)setenv("AURABENCH_SSH", "/nonexistent/ssh", 1);
    outcome_deinit(&o);
    o.status = client_run(NULL, WORDS("-H", "ssh://h", "status"), &o.out, &o.err);
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_one_sentence(&o, "could not run /nonexistent/ssh");
    (void)unsetenv("AURABENCH_SSH");
    fake_stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_closed_stdout_ends_quietly_and_a_full_one_does_not),
        cmocka_unit_test(dial_stdio_passes_both_ends_on),
        cmocka_unit_test(another_machine_is_reached_by_ssh_and_dial_stdio),
        cmocka_unit_test(what_keeps_ssh_from_a_daemon_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
