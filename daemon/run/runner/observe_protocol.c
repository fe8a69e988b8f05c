#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "run/runner/control.h"
#include "run/runner/observe.h"
#include "run/runner/watch.h"

#define UNFLUSHED_MS 100
#define READ_BYTES 4096
#define ACK_LOOK_MS 2            /* how often it is looked whether the lane has read it */
#define REST_BYTES_MAX (1 << 20) /* of output nobody waits for */

static void close_stdin(struct observation *o)
{
    mem_closep(&o->in);
    o->in = -1;
}

static bool start(struct observation *o)
{
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) != 0) {
        o->failure = (struct spawn_failure){errno, "stdio"};
        observe_fail(o, "lane.exec_failed", NULL);
        return false;
    }
    if (pipe2(out, O_CLOEXEC) != 0) {
        o->failure = (struct spawn_failure){errno, "stdio"};
        observe_fail(o, "lane.exec_failed", NULL);
        (void)close(in[0]);
        (void)close(in[1]);
        return false;
    }
    o->in = in[1];
    o->out = out[0];
    bool started = observe_start(o, in[0], out[1]);
    (void)close(in[0]);
    (void)close(out[1]);
    return started;
}

static const struct record_causes ready_causes = {"lane.ready_wrong", "lane.ready_timeout",
                                                  "lane.ready_unflushed", "lane.eof_before_ready"};
static const struct record_causes done_causes = {"lane.done_wrong", "lane.done_timeout",
                                                 "lane.done_unflushed", "lane.eof_before_done"};

/* A line that sits in the program's own buffer comes out when it sees the end of its stdin. */
static bool comes_at_end_of_stdin(struct observation *o, struct record *r, const char *expected)
{
    int64_t stamp_ns;
    size_t had = r->len;

    close_stdin(o);
    watch_start(UNFLUSHED_MS);
    bool line = record_read(r, o->out, o->id, &stamp_ns) == RECORD_LINE;
    observe_output(o, r->data + had, r->len - had);
    return line && record_is(r, expected);
}

bool observe_record(struct observation *o, struct record *r, enum record_end end,
                    const char *expected, const struct record_causes *why)
{
    struct wire_bytes got = record_text(r);

    observe_output(o, r->data, r->len);
    switch (end) {
    case RECORD_LINE:
        if (record_is(r, expected))
            return true;
        observe_fail(o, why->wrong, &got);
        return false;
    case RECORD_TOO_LONG:
        observe_fail(o, "lane.line_too_long", &got);
        return false;
    case RECORD_EOF:
        observe_fail(o, why->eof, &got);
        o->owed = true;
        return false;
    case RECORD_TIMEOUT:
        if (comes_at_end_of_stdin(o, r, expected))
            observe_fail(o, why->unflushed, NULL);
        got = record_text(r);
        observe_fail(o, why->timeout, &got);
        return false;
    case RECORD_CANCEL:
        observe_fail(o, "lane.cancelled", NULL);
        return false;
    }
    return false;
}

static bool await_ready(struct observation *o)
{
    int64_t stamp_ns;

    watch_start(o->req->ready_timeout_ms);
    enum record_end end = record_read(&o->ready, o->out, o->id, &stamp_ns);
    if (end == RECORD_LINE)
        observe_ready_fits(o);
    return observe_record(o, &o->ready, end, o->req->ready, &ready_causes) && !o->outcome;
}

struct wire_bytes observe_behind(struct observation *o, const struct record *r, char *early)
{
    struct wire_bytes extra = record_extra(r);
    struct pollfd p = {.fd = o->out, .events = POLLIN};

    if (extra.len == 0 && poll(&p, 1, 0) > 0 && p.revents & POLLIN) {
        ssize_t n = read(o->out, early, WIRE_LINE_MAX);
        extra = (struct wire_bytes){early, n > 0 ? (size_t)n : 0};
        observe_output(o, early, extra.len);
    }
    return extra.len > 0 ? extra : (struct wire_bytes){NULL, 0};
}

static bool quiet_before_go(struct observation *o)
{
    char early[WIRE_LINE_MAX];
    struct wire_bytes extra = observe_behind(o, &o->ready, early);

    if (extra.data)
        observe_fail(o, "lane.done_early", &extra);
    return !extra.data;
}

/* Writes GO, whole or not at all. A lane can fill its own stdin, which then blocks until somebody
 * interrupts: CONTROL_NONE and go_ns -1 mean that nobody can hear it. */
static enum control_news write_go(struct observation *o, const char *line, size_t len)
{
    enum control_news news = CONTROL_NONE;
    ssize_t n;

    do {
        o->res->go_ns = clock_mono_ns();
        n = write(o->in, line, len);
        if (n < 0 && errno == EINTR)
            news = control_interrupted(o->id);
    } while (n < 0 && errno == EINTR && news == CONTROL_NONE);
    if (n != (ssize_t)len)
        o->res->go_ns = -1;
    return news;
}

static enum record_end end_without_go(enum control_news news)
{
    return news == CONTROL_NONE      ? RECORD_LINE
           : news == CONTROL_TIMEOUT ? RECORD_TIMEOUT
                                     : RECORD_CANCEL;
}

/* The timed interval. Between the two stamps there are one write and the read that waits. */
static enum record_end time_interval(struct observation *o, const char *line, size_t len)
{
    int64_t lane_cpu_ns = reading_cpu_ns(o->child.pid);

    FAULT_POINT("in_runner.go");
    readings_delay_from(&o->own);
    readings_cpu_from(&o->own);
    enum control_news news = write_go(o, line, len);
    FAULT_POINT("in_runner.going");
    enum record_end end = o->res->go_ns < 0
                              ? end_without_go(news)
                              : record_read(&o->done, o->out, o->id, &o->res->done_ns);
    FAULT_POINT("in_runner.done");
    readings_cpu_to(&o->own);
    int64_t lane_cpu_after_ns = reading_cpu_ns(o->child.pid);
    readings_delay_to(&o->own);
    counters_to(&o->req->near, &o->account.to);
    if (lane_cpu_ns >= 0 && lane_cpu_after_ns >= 0)
        o->res->interval_cpu_ns = lane_cpu_after_ns - lane_cpu_ns;
    return end;
}

/* An answer while GO still lies in the pipe is none to it: it only happened to come after the look
 * of quiet_before_go(). */
static bool go_was_read(struct observation *o)
{
    struct wire_bytes got = record_text(&o->done);
    int unread = 0;

    if (ioctl(o->in, FIONREAD, &unread) == 0 && (size_t)unread > strlen(o->req->go))
        observe_fail(o, "lane.done_early", &got);
    return !o->outcome;
}

/* A whole line that came too late is not told as a part of one. */
static bool done_in_time(struct observation *o)
{
    if (watch_passed(o->res->done_ns))
        observe_fail(o, "lane.done_timeout", NULL);
    return !o->outcome;
}

static bool go_and_done(struct observation *o)
{
    char line[WIRE_LINE_MAX + 1];
    size_t len = strnlen(o->req->go, WIRE_LINE_MAX - 1);

    memcpy(line, o->req->go, len);
    line[len++] = '\n';
    counters_lane(o->child.pid);
    counters_await_daemon();
    watch_start(o->req->done_timeout_ms);
    observe_enter(o);
    counters_from(&o->req->near, &o->account.from);
    /* Looked at last: on a shared core the lane cannot run again before the runner waits. */
    if (!observe_undisturbed(o) || !quiet_before_go(o)) {
        observe_leave(o);
        return false;
    }
    enum record_end end = time_interval(o, line, len);
    observe_leave(o);
    o->res->threads = reading_threads(o->child.pid);
    if (o->res->go_ns < 0 && end == RECORD_LINE) {
        observe_fail(o, "lane.go_failed", NULL);
        o->owed = true;
        return false;
    }
    if (end != RECORD_LINE)
        o->res->done_ns = -1;
    return observe_record(o, &o->done, end, o->req->done, &done_causes) && done_in_time(o) &&
           go_was_read(o);
}

/* One read of stdout after DONE, where only its end may come; false: its end. */
static bool read_after_done(struct observation *o)
{
    char data[READ_BYTES];
    ssize_t n = read(o->out, data, sizeof data);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    observe_output(o, data, (size_t)n);
    observe_after(o, data, (size_t)n);
    return true;
}

/* The lane may read its stdin to the end, and then has to close its stdout and exit. */
static void await_exit(struct observation *o)
{
    struct wire_bytes extra = record_extra(&o->done);
    struct pollfd p[2] = {{.fd = o->child.pidfd, .events = POLLIN},
                          {.fd = o->out, .events = POLLIN}};

    if (extra.len > 0)
        observe_fail(o, "lane.output_extra", &extra);
    watch_start(o->req->done_timeout_ms);
    while (!o->outcome) {
        observe_ack_read(o);
        int n = poll(p, 2, o->in < 0 ? watch_left_ms() : ACK_LOOK_MS);
        enum control_news news = n > 0 ? CONTROL_NONE : control_interrupted(o->id);
        if (news == CONTROL_TIMEOUT)
            observe_fail(o, "lane.exit_timeout", NULL);
        else if (news != CONTROL_NONE)
            observe_fail(o, "lane.cancelled", NULL);
        if (n > 0 && p[1].revents && !read_after_done(o))
            p[1].fd = -1;
        if (n > 0 && p[0].revents) {
            o->res->end.exit_ns = clock_mono_ns();
            if (watch_passed(o->res->end.exit_ns))
                observe_fail(o, "lane.exit_timeout", NULL);
            observe_ack_end(o);
            return;
        }
    }
}

void observe_protocol(struct observation *o)
{
    if (start(o) && observe_baseline(o) && await_ready(o) && observe_standing(o) &&
        go_and_done(o)) {
        observe_peak(o);
        if (observe_ack(o))
            await_exit(o);
    }
}

void observe_protocol_rest(struct observation *o)
{
    int64_t until = o->res->stdout_bytes + REST_BYTES_MAX;

    if (fcntl(o->out, F_SETFL, O_NONBLOCK) != 0)
        return;
    while (o->res->stdout_bytes < until && read_after_done(o))
        ;
}
