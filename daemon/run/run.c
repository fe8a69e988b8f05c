#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/runner_wire.h"
#include "run/run_wire.h"

#define HELLO_TIMEOUT_MS 20000
#define FREE_TIMEOUT_NS 20000000000LL
#define TIMEOUT_MAX_MS (30LL * 24 * 3600 * 1000)

struct run {
    pid_t pid;
    int requests, replies; /* our ends of the pipes; -1: closed */
    bool lost;             /* nothing more can come */
    bool running;          /* a request was sent and not finished */
    bool complete;         /* its reply is in `reply` */
    int64_t id;            /* of the last request */
    size_t got;            /* bytes of the reply's frame so far */
    struct wire_msg request, reply;
    uint8_t mask[WIRE_CPU_BYTES];
    uint8_t frame[WIRE_FRAME_MAX]; /* of the request while it is sent, then of the reply */
};

static int lost(struct run *run, struct err *e)
{
    run->lost = true;
    return err_set(e, -EPIPE, "runner.lost", "",
                   "the runner process (pid %d) ended before it answered; the daemon starts a new "
                   "one for the next attempt, look at the daemon's log for what ended this one",
                   run->pid);
}

/* ---- the process */

/* Both ends above descriptor 2, so that none of them is in the way of the runner's own. */
static int open_pipe(int ends[2])
{
    int low[2], rc = 0;

    ends[0] = ends[1] = -1;
    if (pipe(low) != 0)
        return -errno;
    for (int i = 0; i < 2; i++) {
        ends[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        rc = ends[i] < 0 && rc == 0 ? -errno : rc;
        (void)close(low[i]);
    }
    if (rc != 0) {
        mem_closep(&ends[0]);
        mem_closep(&ends[1]);
    }
    return rc;
}

static int spawn_runner(const char *path, int requests, int replies, pid_t *pid)
{
    char *argv[] = {(char[]){"aurabench-runner"}, NULL};
    char *env[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;

    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawn_file_actions_adddup2(&files, requests, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, replies, STDOUT_FILENO);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    /* A session of its own: what the terminal sends to the daemon must not reach the lanes. */
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSID);
    int rc = posix_spawn(pid, path, &files, &attr, argv, env);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attr);
    return -rc;
}

static int start(struct run *run, const char *path)
{
    CLEANUP(mem_closep) int requests_end = -1;
    CLEANUP(mem_closep) int replies_end = -1;
    int requests[2], replies[2];
    int rc = open_pipe(requests);

    if (rc != 0)
        return rc;
    requests_end = requests[0];
    run->requests = requests[1];
    rc = open_pipe(replies);
    if (rc != 0)
        return rc;
    run->replies = replies[0];
    replies_end = replies[1];
    if (fcntl(run->replies, F_SETFL, O_NONBLOCK) != 0)
        return -errno;
    return spawn_runner(path, requests_end, replies_end, &run->pid);
}

static int take_hello(struct run *run, const char *path, struct err *e)
{
    int rc = run_wait(run, HELLO_TIMEOUT_MS);

    if (rc != 0)
        return err_set(e, rc, "runner.start", "",
                       "%s was started but did not answer as the runner; reinstall aurabenchd and "
                       "aurabench-runner together",
                       path);
    run->complete = false;
    if (run->reply.type != WIRE_HELLO || run->reply.hello.version != WIRE_VERSION)
        return err_set(e, -EPROTO, "runner.version", "",
                       "%s is of another version than this daemon; reinstall aurabenchd and "
                       "aurabench-runner together",
                       path);
    return 0;
}

int run_new(const char *runner_path, struct run **out, struct err *e)
{
    struct run *run = mem_alloc(sizeof *run);

    run->pid = -1;
    run->requests = run->replies = -1;
    int rc = start(run, runner_path);
    if (rc != 0)
        (void)err_set(e, rc, "runner.start", "",
                      "cannot start the runner %s: %s; reinstall it beside aurabenchd", runner_path,
                      strerror(-rc));
    else
        rc = take_hello(run, runner_path, e);
    if (rc != 0) {
        run_free(run);
        return rc;
    }
    *out = run;
    return 0;
}

static void end_process(pid_t pid)
{
    int64_t until = clock_mono_ns() + FREE_TIMEOUT_NS;

    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (clock_mono_ns() >= until) {
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
            return;
        }
        clock_sleep_ns(2000000);
    }
}

void run_free(struct run *run)
{
    if (!run)
        return;
    mem_closep(&run->requests);
    if (run->pid > 0)
        end_process(run->pid);
    mem_closep(&run->replies);
    free(run);
}

pid_t run_pid(const struct run *run)
{
    return run->pid;
}

/* ---- requests */

static int bad(struct err *e, int rc, const char *code, const char *field, const char *what)
{
    return err_set(e, rc, code, field, "%s", what);
}

static int send_request(struct run *run, struct err *e)
{
    run->request.id = ++run->id;
    int len = wire_encode(&run->request, run->frame, sizeof run->frame);
    if (len < 0)
        return bad(e, len, "run.too_large", "",
                   "the command, its environment and the expected output do not fit into 1 MiB; "
                   "shorten them");
    if (file_write_all(run->requests, run->frame, (size_t)len) != 0)
        return lost(run, e);
    run->running = true;
    run->got = 0;
    return 0;
}

static int may_begin(struct run *run, struct err *e)
{
    if (run->lost)
        return lost(run, e);
    if (run->running)
        return bad(e, -EBUSY, "run.busy", "", "the runner does one thing at a time; wait for it");
    memset(&run->request, 0, sizeof run->request);
    return 0;
}

int run_exec_begin(struct run *run, const struct run_exec *req, struct err *e)
{
    int rc = may_begin(run, e);

    if (rc == 0)
        rc = run_wire_exec(req, &run->request.exec, e);
    run->request.type = WIRE_EXEC;
    return rc == 0 ? send_request(run, e) : rc;
}

int run_observe_begin(struct run *run, const struct run_observe *req, struct err *e)
{
    int rc = may_begin(run, e);

    if (rc == 0)
        rc = run_wire_observe(req, &run->request.observe, run->mask, e);
    run->request.type = WIRE_OBSERVE;
    return rc == 0 ? send_request(run, e) : rc;
}

int run_cancel(struct run *run)
{
    struct wire_msg cancel = {.type = WIRE_CANCEL, .id = run->id};
    uint8_t frame[64];

    if (run->lost)
        return -EPIPE;
    if (!run->running || run->complete)
        return 0;
    int len = wire_encode(&cancel, frame, sizeof frame);
    if (len < 0)
        return len;
    return file_write_all(run->requests, frame, (size_t)len) == 0 ? 0 : lost(run, NULL);
}

/* ---- replies */

int run_fd(const struct run *run)
{
    return run->replies;
}

/* Bytes that the frame has in all, as far as it is known by now; -EBADMSG. */
static int frame_bytes(const struct run *run)
{
    if (run->got < WIRE_HEADER)
        return WIRE_HEADER;
    int rest = wire_frame_rest(run->frame);
    return rest < 0 ? rest : WIRE_HEADER + rest;
}

/* Takes what is there: 0 the frame is whole, -EAGAIN, -EPIPE. */
static int read_reply(struct run *run)
{
    for (;;) {
        int want = frame_bytes(run);
        if (want < 0)
            return lost(run, NULL);
        if (run->got > WIRE_HEADER && run->got == (size_t)want)
            break;
        ssize_t n = read(run->replies, run->frame + run->got, (size_t)want - run->got);
        if (n > 0)
            run->got += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return -EAGAIN;
        else if (n == 0 || errno != EINTR)
            return lost(run, NULL);
    }
    if (wire_decode(run->frame, run->got, &run->reply) != 0)
        return lost(run, NULL);
    run->complete = true;
    run->got = 0;
    return 0;
}

int run_wait(struct run *run, int64_t timeout_ms)
{
    int64_t bounded_ms = timeout_ms < TIMEOUT_MAX_MS ? timeout_ms : TIMEOUT_MAX_MS;
    int64_t until = clock_mono_ns() + bounded_ms * 1000000;
    struct pollfd p = {.fd = run->replies, .events = POLLIN};

    if (run->complete)
        return 0;
    if (run->lost)
        return -EPIPE;
    for (;;) {
        int rc = read_reply(run);
        if (rc != -EAGAIN)
            return rc;
        int64_t left = (until - clock_mono_ns() + 999999) / 1000000;
        if (timeout_ms >= 0 && left <= 0)
            return -EAGAIN;
        int wait_ms = left > 1000000000 ? 1000000000 : (int)left;
        if (poll(&p, 1, timeout_ms < 0 ? -1 : wait_ms) < 0 && errno != EINTR)
            return -errno;
    }
}

/* The reply of this type to the running request, or NULL with *rc and e. */
static const struct wire_msg *take_reply(struct run *run, enum wire_type type, struct err *e,
                                         int *rc)
{
    if (run->lost) {
        *rc = lost(run, e);
        return NULL;
    }
    if (!run->complete) {
        *rc = bad(e, -EAGAIN, "run.not_ready", "", "the runner has not answered yet");
        return NULL;
    }
    run->running = run->complete = false;
    if (run->reply.type != type || run->reply.id != run->id) {
        *rc = lost(run, e);
        return NULL;
    }
    *rc = 0;
    return &run->reply;
}

int run_exec_finish(struct run *run, struct run_exec_result *out, struct err *e)
{
    int rc;
    const struct wire_msg *msg = take_reply(run, WIRE_EXEC_RESULT, e, &rc);

    if (!msg)
        return rc;
    run_wire_exec_result(&msg->exec_result, out);
    return 0;
}

int run_observe_finish(struct run *run, struct arena *a, struct run_observation *out, struct err *e)
{
    int rc;
    const struct wire_msg *msg = take_reply(run, WIRE_OBSERVE_RESULT, e, &rc);

    if (!msg)
        return rc;
    run_wire_observation(a, &msg->observe_result, out);
    return 0;
}
