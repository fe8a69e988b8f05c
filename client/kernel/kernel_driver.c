#include "client/kernel/kernel_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/link/spawn.h"
#include "client/view/term.h"

#define LAST_WORDS_BYTES 400
#define READ_BYTES 65536
#define END_MS 10000 /* after the end request */

/* ---- what ends it with us */

/* It has a group of its own, so a person's Ctrl-C does not reach it: it is handed on. */
static volatile pid_t group_in_care;

static void hand_on(int sig)
{
    if (group_in_care > 0)
        (void)kill(-group_in_care, SIGKILL);
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

static void take_care(pid_t group)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction now;

    group_in_care = group;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++)
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* as nohup does */
            (void)signal(ends[i], group > 0 ? hand_on : SIG_DFL);
}

/* ---- starting */

struct pipes {
    int in[2], out[2], err[2];
};

static void pipes_close(struct pipes *p)
{
    int *const all[] = {p->in, p->out, p->err};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        for (int k = 0; k < 2; k++) {
            if (all[i][k] >= 0)
                (void)close(all[i][k]);
            all[i][k] = -1;
        }
}

static int pipes_open(struct pipes *p, struct err *e)
{
    int *const all[] = {p->in, p->out, p->err};
    *p = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (pipe(all[i]) < 0) {
            int rc = err_sys(e, -errno, "open", "a pipe to the driver");
            pipes_close(p);
            return rc;
        }
        (void)fcntl(all[i][0], F_SETFD, FD_CLOEXEC);
        (void)fcntl(all[i][1], F_SETFD, FD_CLOEXEC);
    }
    return 0;
}

int kernel_driver_start(struct kernel_driver *d, const struct args *command, int64_t silence_ms,
                        int64_t deadline_ns, struct err *e)
{
    struct pipes p;

    *d = (struct kernel_driver){.to = -1, .from = -1, .errors = -1, .silence_ms = silence_ms};
    d->deadline_ns = deadline_ns;
    int rc = pipes_open(&p, e);
    if (rc < 0)
        return rc;
    const int fds[] = {p.in[0], p.out[1], p.err[1]};
    rc = spawn_program(&d->pid, command->v, fds, true);
    if (rc == 0) {
        d->group = d->pid;
        take_care(d->group);
        d->to = MEM_STEAL_FD(p.in[1]);
        d->from = MEM_STEAL_FD(p.out[0]);
        d->errors = MEM_STEAL_FD(p.err[0]);
        (void)fcntl(d->to, F_SETFL, O_NONBLOCK);
        (void)fcntl(d->from, F_SETFL, O_NONBLOCK);
        (void)fcntl(d->errors, F_SETFL, O_NONBLOCK);
    } else {
        d->pid = 0;
        (void)err_set(e, rc, "kernel.driver_start", "--",
                      "the driver %.200s could not be started: %s", command->v[0], strerror(-rc));
    }
    pipes_close(&p);
    return rc;
}

/* ---- the end of it */

/* Waits until then for its end; true when it has ended, with its status. */
static bool reap(struct kernel_driver *d, int64_t until_ns, int *status)
{
    pid_t gone = 0;
    while ((gone = waitpid(d->pid, status, WNOHANG)) == 0 && clock_mono_ns() < until_ns)
        clock_sleep_ns(2000000);
    if (gone == 0)
        return false;
    d->pid = 0;
    return true;
}

/* The group first, whoever of it is left: its number cannot be another's while one is. */
static void end_by_force(struct kernel_driver *d)
{
    int status = 0;
    if (d->group > 0)
        (void)kill(-d->group, SIGKILL);
    if (d->pid > 0) {
        (void)kill(d->pid, SIGKILL);
        while (waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    d->pid = d->group = 0;
    take_care(0);
}

static void close_all(struct kernel_driver *d)
{
    int *const all[] = {&d->to, &d->from, &d->errors};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (*all[i] >= 0)
            (void)close(*all[i]);
        *all[i] = -1;
    }
}

void kernel_driver_deinit(struct kernel_driver *d)
{
    if (d->group > 0) {
        close_all(d);
        end_by_force(d);
    }
    frame_reader_deinit(&d->lines);
    buf_deinit(&d->last_words);
}

/* ---- reading and writing */

static void hear_errors(struct kernel_driver *d)
{
    char bytes[4096];
    ssize_t n = read(d->errors, bytes, sizeof bytes);

    if (n > 0) {
        buf_add(&d->last_words, bytes, (size_t)n);
        if (d->last_words.len > LAST_WORDS_BYTES)
            buf_consume(&d->last_words, d->last_words.len - LAST_WORDS_BYTES);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        (void)close(d->errors);
        d->errors = -1;
    }
}

static int died(struct kernel_driver *d, struct err *e)
{
    CLEANUP(buf_deinit) struct buf words = {0};
    int status = 0;
    bool ended = reap(d, clock_mono_ns() + 500000000, &status);

    for (int i = 0; i < 64 && d->errors >= 0; i++)
        hear_errors(d);
    if (d->last_words.len) {
        buf_puts(&words, "; it said: ");
        term_clean(&words, d->last_words.data, d->last_words.len, 0);
    }
    if (!ended)
        return err_set(e, -EPIPE, "kernel.driver_died", NULL,
                       "the driver closed its output in the middle of its answers%s",
                       buf_str(&words));
    return err_set(e, -EPIPE, "kernel.driver_died", NULL,
                   "the driver ended with %s %d in the middle of its answers%s",
                   WIFEXITED(status) ? "status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), buf_str(&words));
}

static int too_late(const struct kernel_driver *d, struct err *e)
{
    if (d->deadline_ns >= 0 && clock_mono_ns() >= d->deadline_ns)
        return err_set(e, -ETIMEDOUT, "client.timeout", "--timeout",
                       "the driver was not through in time, and was ended");
    return err_set(e, -ETIMEDOUT, "kernel.silent", "--silence",
                   "the driver said nothing for %lld ms, and was ended; allow more with --silence",
                   (long long)d->silence_ms);
}

/* Waits for one of the driver's ends, also for writing if that is asked; e is filled when it is
 * too late. */
static int wait_for(struct kernel_driver *d, bool writing, int64_t until_ns, struct err *e)
{
    struct pollfd fds[] = {{.fd = d->from, .events = POLLIN},
                           {.fd = d->errors, .events = POLLIN},
                           {.fd = writing ? d->to : -1, .events = POLLOUT}};
    if (d->deadline_ns >= 0 && d->deadline_ns < until_ns)
        until_ns = d->deadline_ns;
    int64_t left_ms = (until_ns - clock_mono_ns() + 999999) / 1000000;

    if (left_ms <= 0)
        return too_late(d, e);
    int n = poll(fds, ARRAY_LEN(fds), left_ms > 60000 ? 60000 : (int)left_ms);
    if (n < 0 && errno != EINTR)
        return err_sys(e, -errno, "wait for", "the driver");
    if (n > 0 && fds[1].revents)
        hear_errors(d);
    return 0;
}

static int64_t silence_ends(const struct kernel_driver *d)
{
    return clock_mono_ns() + d->silence_ms * 1000000;
}

int kernel_driver_send(struct kernel_driver *d, struct buf *line, struct err *e)
{
    const int64_t until_ns = silence_ends(d);
    size_t at = 0;

    while (at < line->len) {
        ssize_t n = write(d->to, line->data + at, line->len - at);
        if (n > 0) {
            at += (size_t)n;
            continue;
        }
        if (n < 0 && errno == EPIPE)
            return died(d, e);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return err_sys(e, -errno, "write to", "the driver");
        int rc = wait_for(d, true, until_ns, e);
        if (rc < 0)
            return rc;
    }
    buf_clear(line);
    return 0;
}

/* Takes what there is to read; *end when there is no more. */
static int hear(struct kernel_driver *d, bool *end, struct err *e)
{
    CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
    ssize_t n = read(d->from, bytes, READ_BYTES);

    *end = n == 0;
    if (n > 0)
        frame_push(&d->lines, bytes, (size_t)n);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return err_sys(e, -errno, "read from", "the driver");
    return 0;
}

static int bad_line(const struct err *why, struct err *e)
{
    return err_set(e, -EPROTO, "kernel.driver", NULL,
                   "the driver does not keep to the protocol: %.300s", why->text);
}

int kernel_driver_line(struct kernel_driver *d, const char **line, size_t *len, struct err *e)
{
    const int64_t until_ns = silence_ends(d);

    for (;;) {
        struct err why = {0};
        bool end = false;
        int rc = frame_next(&d->lines, line, len, &why);
        if (rc != 0)
            return rc > 0 ? 0 : bad_line(&why, e);
        rc = wait_for(d, false, until_ns, e);
        if (rc == 0)
            rc = hear(d, &end, e);
        if (rc == 0 && end)
            rc = died(d, e);
        if (rc < 0)
            return rc;
    }
}

static int not_ended(struct err *e)
{
    return err_set(
        e, -EPROTO, "kernel.driver", NULL,
        "the driver does not keep to the protocol: it did not end within %d s of the end "
        "request, and was ended",
        END_MS / 1000);
}

int kernel_driver_end(struct kernel_driver *d, struct err *e)
{
    const int64_t until_ns = clock_mono_ns() + END_MS * INT64_C(1000000);
    struct err why = {0};
    bool end = false;
    int status = 0, rc = 0;

    (void)close(d->to);
    d->to = -1;
    while (!end && rc == 0) {
        rc = wait_for(d, false, until_ns, d->deadline_ns < 0 ? &why : e);
        if (rc == 0)
            rc = hear(d, &end, e);
        if (rc == 0 && frame_held(&d->lines))
            rc = err_set(e, -EPROTO, "kernel.driver", NULL,
                         "the driver does not keep to the protocol: it speaks after the end");
    }
    if (rc == -ETIMEDOUT && d->deadline_ns < 0)
        return not_ended(e);
    if (rc < 0)
        return rc;
    if (!reap(d, until_ns, &status))
        return not_ended(e);
    if (kill(-d->group, 0) == 0)
        return err_set(e, -EPROTO, "kernel.driver", NULL,
                       "the driver does not keep to the protocol: it left processes behind, which "
                       "were ended");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(e, -EPROTO, "kernel.driver_died", NULL,
                       "the driver ended with %s %d instead of 0",
                       WIFEXITED(status) ? "status" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return 0;
}
