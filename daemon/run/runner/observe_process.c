#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/runner/control.h"
#include "run/runner/instructions.h"
#include "run/runner/observe.h"
#include "run/runner/watch.h"

/* Sees the lane end without reaping it: its CPU clock is read from what remains. */
static enum control_news await_end(struct observation *o)
{
    siginfo_t info;

    for (;;) {
        int rc = waitid(P_PID, (id_t)o->child.pid, &info, WEXITED | WNOWAIT);
        bool interrupted = rc != 0 && errno == EINTR;
        if (rc == 0 && info.si_code != CLD_TRAPPED)
            break;
        if (rc == 0)
            sweep_untrace(o->child.pid, info.si_status);
        enum control_news news = control_interrupted(o->id);
        if (news != CONTROL_NONE || (rc != 0 && !interrupted))
            return news;
    }
    o->res->end.exit_ns = clock_mono_ns();
    return watch_passed(o->res->end.exit_ns) ? CONTROL_TIMEOUT : CONTROL_NONE;
}

/* The timed interval: from just before the child is created to its end. Creating it is part of what
 * is timed; the runner's own time is counted from then on, when it should be silent. */
static void time_process(struct observation *o, int in)
{
    readings_delay_from(&o->own);
    if (!observe_start(o, in, o->stdout_file.fd)) {
        o->own = (struct own_readings){-1, -1};
        return;
    }
    placement_first(&o->placement);
    readings_cpu_from(&o->own);
    enum control_news news = await_end(o);
    readings_cpu_to(&o->own);
    o->res->interval_cpu_ns = reading_cpu_ns(o->child.pid);
    readings_delay_to(&o->own);
    counters_lane(o->child.pid);
    counters_to(&o->req->near, &o->account.to);
    if (news == CONTROL_TIMEOUT)
        observe_fail(o, "lane.exit_timeout", NULL);
    else if (news != CONTROL_NONE)
        observe_fail(o, "lane.cancelled", NULL);
}

void observe_process(struct observation *o)
{
    const struct wire_bytes *expected = &o->req->expected;
    int64_t limit = expected->data                   ? (int64_t)expected->len
                    : o->req->measure == WIRE_OUTPUT ? WIRE_OUTPUT_MAX
                                                     : o->req->stdout_limit_bytes;
    CLEANUP(mem_closep) int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int rc = in < 0 ? -errno : capture_open(&o->stdout_file, limit);

    if (rc < 0) {
        o->failure = (struct spawn_failure){-rc, "stdio"};
        observe_fail(o, "lane.exec_failed", NULL);
        return;
    }
    counters_lane(0);
    counters_await_daemon();
    watch_start(o->req->done_timeout_ms);
    observe_enter(o);
    if (o->req->measure == WIRE_INSTRUCTIONS)
        (void)instructions_open(); /* where it fails there is no number, and that is an outcome */
    counters_from(&o->req->near, &o->account.from);
    if (observe_undisturbed(o))
        time_process(o, in);
    observe_leave(o);
}

/* Hands over what fits: more than that has met the limit. Apart from the observation, so that its
 * pages are touched only where there is output. */
static void take_output(struct observation *o, int64_t bytes)
{
    static char output[WIRE_OUTPUT_MAX];
    int64_t most = bytes < WIRE_OUTPUT_MAX ? bytes : WIRE_OUTPUT_MAX;
    ssize_t n = most > 0 ? pread(o->stdout_file.fd, output, (size_t)most, 0) : 0;

    o->res->output = (struct wire_bytes){output, n > 0 ? (size_t)n : 0};
}

void observe_process_output(struct observation *o)
{
    const struct wire_bytes *expected = &o->req->expected;
    int64_t bytes = capture_bytes(&o->stdout_file);
    char got[WIRE_LINE_MAX];

    o->res->stdout_bytes = bytes;
    if (bytes > 0)
        capture_tail(&o->stdout_file, bytes, &o->stdout_tail);
    if (o->req->measure == WIRE_OUTPUT)
        take_output(o, bytes);
    if (!expected->data)
        return;
    if (bytes == (int64_t)expected->len &&
        capture_equals(&o->stdout_file, expected->data, expected->len))
        return;
    size_t n =
        bytes > 0 ? capture_from_difference(&o->stdout_file, expected, bytes, got, sizeof got) : 0;
    observe_fail(o, "lane.stdout_wrong", &(struct wire_bytes){got, n});
}
