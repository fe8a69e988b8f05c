#include "fake_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"
#include "unit.h"

#define LIFE_S 100 /* ends by itself when a test that fails leaves it behind */

struct fake_state {
    const struct fake_script *script;
    const struct fake_step *next;
    int log;
    int fd;
    bool left; /* the connection is over */
};

static void say(const struct fake_state *s, const char *text)
{
    if (text)
        (void)file_write_all(s->fd, text, strlen(text));
}

static void note(const struct fake_state *s, const char *method, const char *params)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    buf_printf(&b, "%s %s\n", method, params);
    (void)file_write_all(s->log, b.data, b.len);
}

static void send_answer(const struct fake_state *s, const char *id, const struct fake_step *step)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct rpc_out r;
    struct err e = {0};

    if (step->method && !step->error) {
        rpc_begin_result(&r, &b, id);
        json_put_raw(&r.o, "result", step->result ? step->result : "{}");
        (void)rpc_end(&r, NULL);
    } else {
        err_set(&e, 0, step->error ? step->error : "rpc.unknown_method", "", "%s",
                step->method ? "refused by the script" : "the script did not expect this");
        rpc_put_error(&b, id, &e);
    }
    say(s, buf_str(&b));
}

static void do_step(struct fake_state *s, const char *id, const char *method)
{
    static const struct fake_step unexpected = {0};
    const struct fake_step *step = s->next;

    if (!step->method || strcmp(step->method, method) != 0)
        step = &unexpected;
    else
        s->next++;
    if (step->raw)
        say(s, step->raw);
    else if (!step->silent && (!step->hang_up || step->after))
        send_answer(s, id, step);
    say(s, step->after);
    s->left = step->hang_up;
}

static void take_line(struct fake_state *s, const char *line, size_t len)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct rpc_request req;
    struct err e = {0};

    if (rpc_request_decode(&a, line, len, &req, &e) < 0) {
        note(s, "(bad request)", e.text);
        s->left = true;
    } else {
        char *params = cJSON_PrintUnformatted(req.params);
        note(s, req.method, params ? params : "{}");
        free(params);
        do_step(s, req.id, req.method);
    }
    rpc_request_deinit(&req);
}

static void serve(struct fake_state *s)
{
    struct frame_reader reader = {0};
    char chunk[65536];
    const char *line = NULL;
    size_t len = 0;
    ssize_t n = 1;

    s->left = false;
    say(s, s->script->hello ? s->script->hello : FAKE_HELLO);
    while (!s->left && (n = read(s->fd, chunk, sizeof chunk)) > 0) {
        frame_push(&reader, chunk, (size_t)n);
        while (!s->left && frame_next(&reader, &line, &len, NULL) == 1)
            take_line(s, line, len);
    }
    if (n == 0)
        note(s, "(closed)", "");
    frame_reader_deinit(&reader);
}

_Noreturn static void fake_main(int listener, int log, const struct fake_script *script)
{
    struct fake_state s = {.script = script, .next = script->steps, .log = log};

    (void)signal(SIGPIPE, SIG_IGN);
    (void)alarm(LIFE_S);
    for (int i = 0;; i++) {
        s.fd = accept(listener, NULL, NULL);
        if (s.fd < 0)
            _exit(1);
        if (i >= script->hang_up_first)
            serve(&s);
        (void)close(s.fd);
    }
}

void fake_start(struct fake *f, const struct fake_script *script)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    f->folder = unit_folder();
    f->socket = file_join(f->folder, "sock");
    f->log = file_join(f->folder, "asked");
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(listener >= 0 && strlen(f->socket) < sizeof at.sun_path);
    memcpy(at.sun_path, f->socket, strlen(f->socket) + 1);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(listener, 8), 0);
    int log = open(f->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(log >= 0);
    f->pid = fork();
    assert_true(f->pid >= 0);
    if (f->pid == 0)
        fake_main(listener, log, script);
    (void)close(listener);
    (void)close(log);
}

void fake_stop(struct fake *f)
{
    int status = 0;

    assert_int_equal(kill(f->pid, SIGKILL), 0);
    assert_int_equal(waitpid(f->pid, &status, 0), f->pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(file_rmtree(f->folder, NULL), 0);
    free(f->folder);
    free(f->socket);
    free(f->log);
}

void fake_asked(const struct fake *f, struct buf *out)
{
    assert_int_equal(file_read(f->log, 64 << 20, out, NULL), 0);
}

int client_run(const struct fake *f, const char *const *words, struct buf *out, struct buf *err)
{
    extern char **environ;
    const char *program = getenv("AURABENCH"), *argv[32] = {program};
    struct spawn_req req = SPAWN_REQ_INIT;
    struct err e = {0};
    size_t n = 1;
    int status = -1;

    assert_non_null(program);
    if (f) {
        argv[n++] = "--socket";
        argv[n++] = f->socket;
    }
    for (; *words && n < ARRAY_LEN(argv) - 1; words++)
        argv[n++] = *words;
    req.argv = argv;
    req.env = (const char *const *)(uintptr_t)environ;
    if (spawn_run(&req, &status, out, err, &e) < 0)
        fail_msg("%s", e.text);
    return status;
}

void outcome_deinit(struct outcome *o)
{
    buf_deinit(&o->out);
    buf_deinit(&o->err);
    buf_deinit(&o->asked);
}

void outcome_run(struct outcome *o, const struct fake_step *steps, const char *const *words)
{
    struct fake f;

    outcome_deinit(o);
    fake_start(&f, &(struct fake_script){.steps = steps});
    o->status = client_run(&f, words, &o->out, &o->err);
    fake_asked(&f, &o->asked);
    fake_stop(&f);
}

void assert_says(const struct buf *b, const char *part)
{
    if (!strstr(buf_str(b), part))
        fail_msg("\"%.3000s\" does not have \"%s\"", buf_str(b), part);
}
