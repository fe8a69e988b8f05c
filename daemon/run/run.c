#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/wire/runner_wire.h"
#include "run/mark.h"
#include "run/run_check.h"
#include "run/run_wire.h"

#define HELLO_TIMEOUT_MS 20000
#define FREE_TIMEOUT_NS 20000000000LL
/* What the runner may need beyond the timeouts of a request: it ends the tree twice at most. */
#define SPARE_MS 30000
#define ENDING_NS 1000000000LL /* between a closed pipe and the end of the process */
#define SECOND_NS 1000000000
#define SOURCE_NAMES 8
#define SOURCE_NAME_BYTES 32
#define TIMEOUT_MAX_MS (30LL * 24 * 3600 * 1000)

enum loss { LOSS_NONE, LOSS_ENDED, LOSS_GARBLED, LOSS_HUNG };

struct run {
    pid_t pid;
    pid_t runner_pid; /* as it says itself: the one that was started may be its parent */
    struct ledger_sources sources;
    bool counts_instructions, reads_rollups;
    char names[SOURCE_NAMES][SOURCE_NAME_BYTES]; /* of the sources */
    int requests, replies;                       /* our ends of the pipes; -1: closed */
    enum loss loss;                              /* not none: nothing more can come */
    int64_t spare_ms;                            /* beyond a request's own timeouts */
    int64_t begun_ns;                            /* when the request was sent */
    int64_t due_ns;                              /* when it must be answered */
    bool running;                                /* a request was sent and not finished */
    bool complete;                               /* its reply is in `reply` */
    int64_t id;                                  /* of the last request */
    size_t got;                                  /* bytes of the reply's frame so far */
    struct wire_msg request, reply;
    struct run_masks masks;
    uint8_t frame[WIRE_FRAME_MAX]; /* of the request while it is sent, then of the reply */
};

/* The first loss is the one that is told. */
static int lost(struct run *run, enum loss loss, struct err *e)
{
    static const struct {
        const char *code, *text;
    } words[] = {
        [LOSS_ENDED] = {"runner.lost", "ended before it answered; the daemon starts a new one for "
                                       "the next attempt, look at the daemon's log for what ended "
                                       "this one"},
        [LOSS_GARBLED] = {"runner.garbled", "sent what cannot be an answer; reinstall aurabenchd "
                                            "and aurabench-runner together"},
        [LOSS_HUNG] = {"runner.hung", "did not answer in time, although it ends every program by "
                                      "its timeout; look at whether somebody stopped it, and "
                                      "submit the job again"},
    };

    if (run->loss == LOSS_NONE)
        run->loss = loss;
    return err_set(e, -EPIPE, words[run->loss].code, "", "the runner process (pid %d) %s", run->pid,
                   words[run->loss].text);
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
    int rc = posix_spawn(pid, path, &files, &attr, argv, FAULT_ENVIRONMENT());
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
    FAULT_POINT("runner.spawn");
    rc = spawn_runner(path, requests_end, replies_end, &run->pid);
    FAULT_RUNNER(rc == 0 ? run->pid : 0);
    FAULT_POINT("runner.spawned");
    return rc;
}

/* It closed its pipe: seen to end, it was killed (its parent then says so by a status of 128 and
 * more), or it is none of ours. */
static bool was_killed(pid_t pid)
{
    int64_t until = clock_mono_ns() + ENDING_NS;
    siginfo_t info = {0};

    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == 0) {
        if (clock_mono_ns() >= until)
            return false;
        clock_sleep_ns(2000000);
    }
    return info.si_pid == pid && (info.si_code != CLD_EXITED || info.si_status > 128);
}

/* The message's own bytes are those of the next reply. */
static const char *keep(char to[SOURCE_NAME_BYTES], const char *from)
{
    size_t len = from ? strnlen(from, SOURCE_NAME_BYTES - 1) : 0;

    memcpy(to, from ? from : "", len);
    to[len] = '\0';
    return from ? to : NULL;
}

static int64_t resolution(int64_t ns)
{
    return ns < 0 || ns > SECOND_NS ? -1 : ns;
}

static void keep_sources(struct run *run, const struct wire_sources *h)
{
    run->sources = (struct ledger_sources){
        .busy = keep(run->names[0], h->busy),
        .busy_resolution_ns = resolution(h->busy_resolution_ns),
        .lane = keep(run->names[1], h->lane),
        .delay = keep(run->names[2], h->delay),
        .steal = keep(run->names[3], h->steal),
        .steal_resolution_ns = resolution(h->steal_resolution_ns),
        .pressure = keep(run->names[4], h->pressure),
        .throttle = keep(run->names[5], h->throttle),
        .swap = keep(run->names[6], h->swap),
        .memory = keep(run->names[7], h->memory),
    };
}

bool run_reads_rollups(const struct run *run)
{
    return run->reads_rollups;
}

bool run_counts_instructions(const struct run *run)
{
    return run->counts_instructions;
}

const struct ledger_sources *run_sources(const struct run *run)
{
    return &run->sources;
}

/* One of the two messages that come unasked. */
static int take_greeting(struct run *run, const char *path, struct err *e)
{
    int rc = run_wait(run, HELLO_TIMEOUT_MS);

    if (rc == -EPIPE && was_killed(run->pid))
        return lost(run, LOSS_ENDED, e);
    if (rc != 0)
        return err_set(e, rc, "runner.start", "",
                       "%s was started but did not answer as the runner; reinstall aurabenchd and "
                       "aurabench-runner together",
                       path);
    run->complete = false;
    return 0;
}

static int other_version(const char *path, struct err *e)
{
    return err_set(e, -EPROTO, "runner.version", "",
                   "%s is of another version than this daemon; reinstall aurabenchd and "
                   "aurabench-runner together",
                   path);
}

static int take_hello(struct run *run, const char *path, struct err *e)
{
    int rc = take_greeting(run, path, e);

    if (rc != 0)
        return rc;
    if (run->reply.type != WIRE_HELLO || run->reply.hello.version != WIRE_VERSION)
        return other_version(path, e);
    run->runner_pid = (pid_t)run->reply.hello.pid;
    FAULT_RUNNER(run->runner_pid);
    FAULT_POINT("runner.hello");
    rc = take_greeting(run, path, e);
    if (rc == 0 && run->reply.type != WIRE_SOURCES)
        return other_version(path, e);
    if (rc == 0)
        keep_sources(run, &run->reply.sources);
    run->counts_instructions = rc == 0 && run->reply.sources.counts_instructions == 1;
    run->reads_rollups = rc == 0 && run->reply.sources.reads_rollups == 1;
    return rc;
}

int run_new(const char *runner_path, struct run **out, struct err *e)
{
    struct run *run = mem_alloc(sizeof *run);

    run->pid = -1;
    run->spare_ms = SPARE_MS;
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
    FAULT_POINT("runner.end");
    mem_closep(&run->requests);
    if (run->pid > 0)
        end_process(run->pid);
    FAULT_RUNNER(0);
    mem_closep(&run->replies);
    free(run);
}

pid_t run_pid(const struct run *run)
{
    return run->pid;
}

int run_mark(struct run *run, uint64_t mark)
{
    int rc = mark_set(run->pid, mark);

    return rc == 0 && run->runner_pid != run->pid ? mark_set(run->runner_pid, mark) : rc;
}

/* ---- requests */

static int bad(struct err *e, int rc, const char *code, const char *field, const char *what)
{
    return err_set(e, rc, code, field, "%s", what);
}

static int send_request(struct run *run, int64_t timeout_ms, struct err *e)
{
    run->begun_ns = clock_mono_ns();
    run->due_ns = run->begun_ns + (timeout_ms + run->spare_ms) * 1000000;
    run->request.id = ++run->id;
    int len = wire_encode(&run->request, run->frame, sizeof run->frame);
    if (len < 0)
        return bad(e, len, "run.too_large", "",
                   "the command, its environment and the expected output do not fit into 1 MiB; "
                   "shorten them");
    FAULT_POINT("request.ready");
    if (file_write_all(run->requests, run->frame, (size_t)len) != 0)
        return lost(run, LOSS_ENDED, e);
    FAULT_POINT("request.sent");
    run->running = true;
    run->got = 0;
    return 0;
}

static int may_begin(struct run *run, struct err *e)
{
    if (run->loss)
        return lost(run, run->loss, e);
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
    return rc == 0 ? send_request(run, run->request.exec.timeout_ms, e) : rc;
}

int run_observe_begin(struct run *run, const struct run_observe *req, struct err *e)
{
    int rc = may_begin(run, e);

    if (rc == 0)
        rc = run_wire_observe(req, &run->request.observe, &run->masks, e);
    run->request.type = WIRE_OBSERVE;
    const struct wire_observe *o = &run->request.observe;
    return rc == 0 ? send_request(run, o->ready_timeout_ms + 2 * o->done_timeout_ms, e) : rc;
}

int run_cancel(struct run *run)
{
    struct wire_msg cancel = {.type = WIRE_CANCEL, .id = run->id};
    uint8_t frame[64];

    if (run->loss)
        return -EPIPE;
    if (!run->running || run->complete)
        return 0;
    int64_t due_ns = clock_mono_ns() + run->spare_ms * 1000000;
    run->due_ns = due_ns < run->due_ns ? due_ns : run->due_ns;
    int len = wire_encode(&cancel, frame, sizeof frame);
    if (len < 0)
        return len;
    return file_write_all(run->requests, frame, (size_t)len) == 0 ? 0 : lost(run, LOSS_ENDED, NULL);
}

void run_set_spare(struct run *run, int64_t ms)
{
    run->spare_ms = ms;
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
            return lost(run, LOSS_GARBLED, NULL);
        if (run->got > WIRE_HEADER && run->got == (size_t)want)
            break;
        ssize_t n = read(run->replies, run->frame + run->got, (size_t)want - run->got);
        if (n > 0)
            run->got += (size_t)n;
        else if (n < 0 && errno == EAGAIN)
            return -EAGAIN;
        else if (n == 0 || errno != EINTR)
            return lost(run, LOSS_ENDED, NULL);
    }
    if (wire_decode(run->frame, run->got, &run->reply) != 0)
        return lost(run, LOSS_GARBLED, NULL);
    run->complete = true;
    run->got = 0;
    return 0;
}

/* For poll(2): rounded up, so that it is over afterwards. */
static int wait_ms(int64_t until, int64_t now)
{
    int64_t ms = (until - now) / 1000000 + 1;

    return ms > 1000000000 ? 1000000000 : (int)ms;
}

int run_wait(struct run *run, int64_t timeout_ms)
{
    int64_t bounded_ms = timeout_ms < TIMEOUT_MAX_MS ? timeout_ms : TIMEOUT_MAX_MS;
    int64_t now = clock_mono_ns(), until = timeout_ms < 0 ? INT64_MAX : now + bounded_ms * 1000000;
    struct pollfd p = {.fd = run->replies, .events = POLLIN};

    if (run->complete)
        return 0;
    if (run->loss)
        return -EPIPE;
    for (;; now = clock_mono_ns()) {
        int rc = read_reply(run);
        if (rc != -EAGAIN)
            return rc;
        if (run->running && now >= run->due_ns)
            return lost(run, LOSS_HUNG, NULL);
        if (now >= until)
            return -EAGAIN;
        int64_t next = run->running && run->due_ns < until ? run->due_ns : until;
        if (poll(&p, 1, wait_ms(next, now)) < 0 && errno != EINTR)
            return -errno;
    }
}

/* The reply of this type to the running request, or NULL with *rc and e. */
static const struct wire_msg *take_reply(struct run *run, enum wire_type type, struct err *e,
                                         int *rc)
{
    if (run->loss) {
        *rc = lost(run, run->loss, e);
        return NULL;
    }
    if (!run->complete) {
        *rc = bad(e, -EAGAIN, "run.not_ready", "", "the runner has not answered yet");
        return NULL;
    }
    run->running = run->complete = false;
    if (run->reply.type != type || run->reply.id != run->id ||
        !run_check_reply(&run->request, &run->reply, run->begun_ns, clock_mono_ns())) {
        *rc = lost(run, LOSS_GARBLED, e);
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
