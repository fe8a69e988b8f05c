#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/runner/control.h"
#include "run/runner/observe.h"
#include "run/runner/tree.h"
#include "run/runner/watch.h"

static const struct record_causes baseline_causes = {"lane.baseline_wrong", "lane.baseline_timeout",
                                                     "lane.baseline_unflushed",
                                                     "lane.eof_before_baseline"};

/* ---- memory */

static bool begins_with(const struct wire_bytes *got, const char *line)
{
    size_t len = strlen(line);

    return got->len >= len && memcmp(got->data, line, len) == 0;
}

/* Of a lane that waits; one that ended meanwhile is named by how it ended. */
static bool read_memory(struct observation *o, int64_t *bytes)
{
    *bytes = tree_resident_bytes();
    if (*bytes >= 0)
        return true;
    observe_fail(o, "lane.memory_unknown", NULL);
    o->owed = true;
    return false;
}

/* Before the answer to BASELINE was written, there can be no READY. */
static bool quiet_before_load(struct observation *o)
{
    char early[WIRE_LINE_MAX];
    struct wire_bytes extra = observe_behind(o, &o->baseline, early);

    if (!extra.data)
        return true;
    observe_fail(o,
                 begins_with(&extra, o->req->baseline) ? "lane.baseline_twice" : "lane.ready_early",
                 &extra);
    return false;
}

static bool write_load(struct observation *o)
{
    char line[WIRE_LINE_MAX + 1];
    size_t len = strnlen(o->req->load, WIRE_LINE_MAX - 1);

    memcpy(line, o->req->load, len);
    line[len++] = '\n';
    if (write(o->in, line, len) == (ssize_t)len)
        return true;
    observe_fail(o, "lane.load_failed", NULL);
    o->owed = true;
    return false;
}

bool observe_baseline(struct observation *o)
{
    int64_t stamp_ns;

    if (!o->req->baseline)
        return true;
    watch_start(o->req->ready_timeout_ms);
    enum record_end end = record_read(&o->baseline, o->out, o->id, &stamp_ns);
    if (end == RECORD_LINE && record_is(&o->baseline, o->req->ready)) {
        struct wire_bytes got = record_text(&o->baseline);
        observe_fail(o, "lane.baseline_missing", &got);
    }
    return observe_record(o, &o->baseline, end, o->req->baseline, &baseline_causes) &&
           !o->outcome && read_memory(o, &o->res->baseline_rss) && quiet_before_load(o) &&
           write_load(o);
}

void observe_ready_fits(struct observation *o)
{
    struct wire_bytes got = record_text(&o->ready);
    int unread = 0;

    if (!o->req->baseline)
        return;
    if (record_is(&o->ready, o->req->baseline))
        observe_fail(o, "lane.baseline_twice", &got);
    else if (record_is(&o->ready, o->req->ready) && ioctl(o->in, FIONREAD, &unread) == 0 &&
             (size_t)unread > strlen(o->req->load))
        observe_fail(o, "lane.ready_early", &got);
}

void observe_peak(struct observation *o)
{
    if (o->req->memory)
        o->res->peak_rss = tree_peak_bytes();
}

/* The most that one of them ever had: also one that is gone, and what came after DONE. A program
 * that has had less than the runner is told the runner's, from which it was started. */
void observe_peak_at_end(struct observation *o)
{
    struct rusage own;
    int64_t most = o->end.reaped ? o->end.usage.ru_maxrss * 1024LL : -1;

    if (o->res->peak_rss < 0 || getrusage(RUSAGE_SELF, &own) != 0)
        return;
    if (most > own.ru_maxrss * 1024LL && most > o->res->peak_rss)
        o->res->peak_rss = most;
}

/* ---- CPU */

/* Sleeps to the end of the window, or until the lane says something or ends. */
static void sleep_through(struct observation *o, int64_t until_ns)
{
    struct pollfd p[2] = {{.fd = o->child.pidfd, .events = POLLIN},
                          {.fd = o->out, .events = POLLIN}};

    for (int n = 0; n <= 0 && !o->outcome;) {
        int64_t left_ns = until_ns - clock_mono_ns();
        if (left_ns <= 0)
            return;
        n = poll(p, 2, (int)((left_ns + 999999) / 1000000));
        enum control_news news =
            n < 0 && errno == EINTR ? control_interrupted(o->id) : CONTROL_NONE;
        if (news == CONTROL_CANCEL || news == CONTROL_GONE)
            observe_fail(o, "lane.cancelled", NULL);
    }
}

static bool watch_cpu(struct observation *o)
{
    watch_stop();
    tree_window_begin();
    o->res->window_from_ns = clock_mono_ns();
    int64_t until_ns = o->res->window_from_ns + o->req->window_ms * 1000000;
    sleep_through(o, until_ns);
    o->res->window_to_ns = clock_mono_ns();
    o->res->window_cpu_ns = tree_window_cpu_ns();
    char early[WIRE_LINE_MAX];
    struct wire_bytes extra = observe_behind(o, &o->ready, early);
    if (extra.data)
        observe_fail(o, "lane.done_early", &extra);
    if (!o->outcome && o->res->window_to_ns < until_ns) {
        observe_fail(o, "lane.window_ended", NULL);
        o->owed = true;
    }
    return !o->outcome;
}

bool observe_standing(struct observation *o)
{
    if (o->req->memory && !read_memory(o, &o->res->ready_rss))
        return false;
    return o->req->window_ms == 0 || watch_cpu(o);
}
