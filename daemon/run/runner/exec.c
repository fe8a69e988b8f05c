#include "run/runner/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "run/runner/capture.h"
#include "run/runner/control.h"
#include "run/runner/spawn.h"
#include "run/runner/sweep.h"
#include "run/runner/watch.h"

#define CHUNK_BYTES 8192
#define REST_CHUNKS_MAX 1024 /* of output that is still in the pipe when all writers are gone */

struct execution {
    int64_t id;
    const struct wire_exec *req;
    struct wire_exec_result *res;
    const char *outcome; /* NULL: as it ended */
    struct spawn spawn;
    struct spawn_failure failure;
    struct child child;
    struct ending end;
    struct swept swept;
    struct tail tail;
    int log, out, in; /* -1: closed */
};

static int log_open(const char *path)
{
    int rc = FAULT_ERROR("in_runner.log");

    if (rc == 0)
        rc = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    else
        errno = -rc;
    return rc;
}

static ssize_t log_write_some(int log, const char *data, size_t len)
{
    int rc = FAULT_ERROR("in_runner.log");

    if (rc == 0)
        return write(log, data, len);
    errno = -rc;
    return -1;
}

static void log_write(struct execution *x, const char *data, size_t len)
{
    while (len > 0 && x->res->log_errno == 0) {
        ssize_t n = log_write_some(x->log, data, len);
        if (n < 0 && errno != EINTR)
            x->res->log_errno = errno;
        if (n > 0) {
            x->res->log_bytes += n;
            data += n;
            len -= (size_t)n;
        }
    }
}

static void log_output(struct execution *x, const char *data, size_t len)
{
    char mark[80];
    int64_t room = x->req->log_limit_bytes - x->res->log_bytes;

    x->res->output_bytes += (int64_t)len;
    tail_add(&x->tail, data, len);
    if (x->res->truncated)
        return;
    log_write(x, data, (int64_t)len <= room ? len : (size_t)(room > 0 ? room : 0));
    if ((int64_t)len <= room)
        return;
    x->res->truncated = 1;
    int n = snprintf(mark, sizeof mark, "\n[aurabench: the log is cut here, at %lld bytes]\n",
                     (long long)x->req->log_limit_bytes);
    log_write(x, mark, (size_t)n);
}

/* False at the end of the output, or when there is none now and the pipe does not block. */
static bool read_output(struct execution *x)
{
    static char data[CHUNK_BYTES];
    ssize_t n = read(x->out, data, sizeof data);

    if (n > 0)
        log_output(x, data, (size_t)n);
    return n > 0 || (n < 0 && errno == EINTR);
}

static int open_files(struct execution *x, int *write_end)
{
    int out[2];

    x->spawn.program = &x->req->program;
    x->in = open(x->req->stdin_path ? x->req->stdin_path : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (x->in < 0 || pipe2(out, O_CLOEXEC) != 0)
        return -errno;
    x->out = out[0];
    *write_end = out[1];
    x->log = log_open(x->req->log_path);
    return x->log < 0 ? -errno : 0;
}

static bool start(struct execution *x)
{
    CLEANUP(mem_closep) int write_end = -1;
    int rc = open_files(x, &write_end);

    if (rc < 0)
        x->failure = (struct spawn_failure){-rc, "log"};
    else
        spawn_lookup(&x->spawn, &x->failure);
    if (x->failure.errnum == 0) {
        x->spawn.in = x->in;
        x->spawn.out = x->spawn.err = write_end;
        spawn_start(&x->spawn, &x->child, &x->res->end.start_ns, &x->failure);
    }
    if (x->failure.errnum != 0)
        x->outcome = "exec.failed";
    return x->failure.errnum == 0;
}

static void give_up(struct execution *x, enum control_news news)
{
    if (news == CONTROL_TIMEOUT)
        x->outcome = "exec.timeout";
    else if (news != CONTROL_NONE)
        x->outcome = "exec.cancelled";
}

/* Until the program ended; a grandchild that holds the pipe does not keep it from ending. */
static void follow(struct execution *x)
{
    struct pollfd p[3] = {{.fd = x->child.pidfd, .events = POLLIN},
                          {.fd = x->out, .events = POLLIN},
                          {.fd = 0, .events = POLLIN}};

    watch_start(x->req->timeout_ms);
    while (!x->outcome) {
        int n = poll(p, 3, watch_left_ms());
        if (n <= 0 || watch_due())
            give_up(x, control_interrupted(x->id));
        if (n > 0 && p[2].revents)
            give_up(x, control_look(x->id));
        if (n > 0 && p[1].revents && !read_output(x))
            p[1].fd = -1;
        if (n > 0 && p[0].revents) {
            if (watch_due() && !x->outcome)
                x->outcome = "exec.timeout";
            break;
        }
    }
    watch_stop();
}

static void conclude(struct execution *x)
{
    bool by_itself = spawn_ended(&x->child);

    x->res->end.exit_ns = clock_mono_ns();
    sweep_run(&x->child, &x->end, &x->swept);
    if (fcntl(x->out, F_SETFL, O_NONBLOCK) == 0)
        for (int i = 0; i < REST_CHUNKS_MAX && read_output(x); i++)
            ;
    if (!x->end.reaped)
        return;
    x->res->end.exit_status = WIFEXITED(x->end.status) ? WEXITSTATUS(x->end.status) : -1;
    x->res->end.exit_signal = WIFSIGNALED(x->end.status) ? WTERMSIG(x->end.status) : 0;
    if (x->outcome || !by_itself)
        return;
    if (x->res->end.exit_signal != 0)
        x->outcome = "exec.signal";
    else if (x->res->end.exit_status != 0)
        x->outcome = "exec.exit_status";
}

static void fill_result(struct execution *x)
{
    struct wire_end *end = &x->res->end;

    end->outcome = x->outcome ? x->outcome : "ok";
    end->exec_errno = x->failure.errnum;
    end->exec_step = x->failure.step;
    end->leftovers = x->swept.leftovers;
    end->leftover_names = x->swept.names[0] ? x->swept.names : NULL;
    end->unremoved = x->swept.unremoved[0] ? x->swept.unremoved : NULL;
    x->res->tail = (struct wire_bytes){x->tail.data, x->tail.len};
}

void exec_run(int64_t id, const struct wire_exec *req, struct wire_exec_result *res)
{
    static struct execution x;

    *res = (struct wire_exec_result){.end = {.exit_status = -1, .start_ns = -1, .exit_ns = -1}};
    memset(&x, 0, sizeof x);
    x.id = id;
    x.req = req;
    x.res = res;
    x.child = (struct child){-1, -1};
    x.log = x.out = x.in = -1;
    if (start(&x)) {
        follow(&x);
        conclude(&x);
    } else {
        res->end.start_ns = -1;
    }
    fill_result(&x);
    mem_closep(&x.child.pidfd);
    mem_closep(&x.log);
    mem_closep(&x.out);
    mem_closep(&x.in);
}
