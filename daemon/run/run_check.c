#include "run/run_check.h"

#include <string.h>

#include "base/mem.h"
#include "run/run_text.h"

#define STATUS_MAX 255
#define SIGNAL_MAX 64
#define ERRNO_MAX 4095
#define COUNTER_MAX (1LL << 53) /* what a document can hold */
#define LEFTOVERS_MAX 32768

struct span {
    int64_t from, to;
};

static bool within(int64_t v, int64_t from, int64_t to)
{
    return from <= v && v <= to;
}

/* -1 where there is none. */
static bool is_stamp(int64_t ns, const struct span *s)
{
    return ns == -1 || within(ns, s->from, s->to);
}

static bool check_end(const struct wire_end *end, const struct span *s)
{
    return within(end->exit_status, -1, STATUS_MAX) && within(end->exit_signal, 0, SIGNAL_MAX) &&
           within(end->exec_errno, 0, ERRNO_MAX) && within(end->leftovers, 0, LEFTOVERS_MAX) &&
           is_stamp(end->start_ns, s) && is_stamp(end->exit_ns, s);
}

/* It was started, ended by itself with status 0, and nothing of it is there. */
static bool ended_well(const struct wire_end *end)
{
    return end->exit_status == 0 && end->exit_signal == 0 && end->exec_errno == 0 &&
           !end->exec_step && end->start_ns >= 0 && end->exit_ns >= end->start_ns;
}

static bool check_exec(const struct wire_exec_result *r, const struct span *s)
{
    bool ok = strcmp(r->end.outcome, "ok") == 0;

    return run_exec_known(r->end.outcome) && check_end(&r->end, s) && r->output_bytes >= 0 &&
           r->log_bytes >= 0 && within(r->truncated, 0, 1) && within(r->log_errno, 0, ERRNO_MAX) &&
           (!ok || ended_well(&r->end));
}

/* Counters are -1 where they are not known. */
static bool check_counters(const struct wire_observe_result *r)
{
    const int64_t counters[] = {r->interval_cpu_ns,
                                r->runner_cpu_ns,
                                r->runner_delay_ns,
                                r->user_us,
                                r->system_us,
                                r->max_rss_bytes,
                                r->minor_faults,
                                r->major_faults,
                                r->voluntary_switches,
                                r->threads,
                                r->involuntary_switches,
                                r->runner_switches,
                                r->daemon_cpu_ns,
                                r->daemon_switches,
                                r->span_ns,
                                r->lane_cpu_ns,
                                r->observer_cpu_ns,
                                r->near_foreign_ns,
                                r->far_foreign_ns,
                                r->steal_ns,
                                r->lane_delay_ns,
                                r->lane_preemptions,
                                r->pressure_us,
                                r->throttles,
                                r->swapped_pages,
                                r->instructions,
                                r->baseline_rss,
                                r->ready_rss,
                                r->peak_rss,
                                r->window_cpu_ns};

    for (size_t i = 0; i < ARRAY_LEN(counters); i++)
        if (!within(counters[i], -1, COUNTER_MAX))
            return false;
    return within(r->cpu, -1, WIRE_CPU_BYTES * 8 - 1) && within(r->fifo, 0, 1) &&
           within(r->threads, -1, INT32_MAX);
}

static bool check_good(const struct wire_observe_result *r, bool is_protocol)
{
    const struct wire_end *end = &r->end;
    bool in_order = is_protocol ? end->start_ns <= r->go_ns && r->go_ns <= r->done_ns &&
                                      r->done_ns <= end->exit_ns && r->ready.data && r->done.data
                                : r->go_ns == -1 && r->done_ns == -1;

    return ended_well(end) && in_order && end->leftovers == 0 && !end->unremoved &&
           r->stdout_bytes >= 0 && r->stderr_bytes >= 0;
}

/* Where a window was asked for it stands before GO, and is as long. */
static bool check_window(const struct wire_observe *req, const struct wire_observe_result *r)
{
    if (req->window_ms == 0)
        return r->window_from_ns == -1 && r->window_to_ns == -1;
    return r->end.start_ns <= r->window_from_ns && r->window_to_ns <= r->go_ns &&
           r->window_to_ns - r->window_from_ns >= req->window_ms * 1000000;
}

static bool check_observe(const struct wire_observe *req, const struct wire_observe_result *r,
                          const struct span *s)
{
    bool ok = strcmp(r->end.outcome, "ok") == 0;

    size_t may_say = req->measure == WIRE_OUTPUT     ? WIRE_OUTPUT_MAX
                     : req->measure == WIRE_PROTOCOL ? (size_t)req->samples_max_bytes
                                                     : 0;

    return r->output.len <= may_say && (may_say > 0 || !r->output.data) &&
           run_observe_known(r->end.outcome) && check_end(&r->end, s) && is_stamp(r->go_ns, s) &&
           is_stamp(r->done_ns, s) && is_stamp(r->window_from_ns, s) &&
           is_stamp(r->window_to_ns, s) && check_counters(r) &&
           (!ok || (check_good(r, req->measure == WIRE_PROTOCOL) && check_window(req, r)));
}

bool run_check_reply(const struct wire_msg *request, const struct wire_msg *reply, int64_t begun_ns,
                     int64_t now_ns)
{
    const struct span span = {begun_ns, now_ns};

    if (request->type == WIRE_EXEC)
        return check_exec(&reply->exec_result, &span);
    return check_observe(&request->observe, &reply->observe_result, &span);
}
