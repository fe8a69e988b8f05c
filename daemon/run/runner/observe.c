#include "run/runner/observe.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/mem.h"
#include "run/runner/control.h"
#include "run/runner/instructions.h"
#include "run/runner/watch.h"

#define OWED_WAIT_MS 1000
/* User and system time are each cut off to us. */
#define USAGE_CUT_NS 5000

void observe_fail(struct observation *o, const char *outcome, const struct wire_bytes *got)
{
    if (o->outcome)
        return;
    o->outcome = outcome;
    if (!got)
        return;
    size_t len = got->len < sizeof o->got ? got->len : sizeof o->got;
    memcpy(o->got, got->data, len);
    o->res->got = (struct wire_bytes){o->got, len};
}

void observe_output(struct observation *o, const void *data, size_t len)
{
    tail_add(&o->stdout_tail, data, len);
    o->res->stdout_bytes += (int64_t)len;
}

static void add_mask(cpu_set_t *cpus, const struct wire_bytes *mask)
{
    const uint8_t *bits = mask->data;

    for (size_t cpu = 0; cpu < mask->len * 8 && cpu < CPU_SETSIZE; cpu++)
        if (bits[cpu / 8] & 1U << cpu % 8)
            CPU_SET(cpu, cpus);
}

/* NULL: as the runner's own. */
static const cpu_set_t *lane_cpus(struct observation *o)
{
    CPU_ZERO(&o->cpus);
    if (o->req->pin_cpu >= 0)
        CPU_SET((size_t)o->req->pin_cpu, &o->cpus); /* beyond CPU_SETSIZE it sets nothing */
    else if (o->req->cpus.data)
        add_mask(&o->cpus, &o->req->cpus);
    else
        return NULL;
    return &o->cpus;
}

bool observe_start(struct observation *o, int in, int out)
{
    o->spawn.in = in;
    o->spawn.out = out;
    spawn_start(&o->spawn, &o->child, &o->res->end.start_ns, &o->failure);
    if (o->failure.errnum == 0)
        return true;
    observe_fail(o, "lane.exec_failed", NULL);
    return false;
}

void observe_enter(struct observation *o)
{
    placement_enter(&o->placement, (int)o->req->pin_cpu);
    o->res->fifo = o->placement.fifo;
    o->res->cpu = o->placement.pinned ? o->req->pin_cpu : -1;
    o->account.pinned = o->placement.pinned;
}

void observe_leave(struct observation *o)
{
    placement_leave(&o->placement);
}

bool observe_undisturbed(struct observation *o)
{
    enum control_news news = control_interrupted(o->id);

    if (news == CONTROL_CANCEL || news == CONTROL_GONE)
        observe_fail(o, "lane.cancelled", NULL);
    return !o->outcome;
}

/* Before the lane: its stderr, its CPUs, its file. */
static bool prepare(struct observation *o)
{
    int rc = capture_open(&o->stderr_file, o->req->stderr_limit_bytes);

    o->spawn.program = &o->req->program;
    o->spawn.cpus = lane_cpus(o);
    o->spawn.err = o->stderr_file.fd;
    if (rc < 0)
        o->failure = (struct spawn_failure){-rc, "stdio"};
    else
        spawn_lookup(&o->spawn, &o->failure);
    if (o->failure.errnum != 0)
        observe_fail(o, "lane.exec_failed", NULL);
    return o->failure.errnum == 0;
}

/* A lane that closed its stdout is most likely on its way out: how it ends says why. */
static void wait_owed(struct observation *o)
{
    watch_start(OWED_WAIT_MS);
    while (o->owed && !spawn_ended(&o->child) && !watch_due())
        clock_sleep_ns(1000000);
    watch_stop();
}

/* A program whose output met the limit could not write on and most likely ended with an error of
 * its own: the limit is the cause to name. */
static void judge_limits(struct observation *o)
{
    bool is_process = o->req->measure != WIRE_PROTOCOL;
    const char *why = NULL;

    if (is_process && capture_over(&o->stdout_file, o->req->expected.data != NULL))
        why = "lane.stdout_limit";
    else if (capture_over(&o->stderr_file, !o->req->stderr_allowed))
        why = "lane.stderr_limit";
    if (why && o->owed)
        o->outcome = NULL;
    if (why)
        observe_fail(o, why, NULL);
    o->owed = o->owed && !why;
}

static void judge_end(struct observation *o, bool by_itself)
{
    int status = o->end.status;

    if (!by_itself || !o->end.reaped)
        return;
    const char *why = WIFSIGNALED(status)        ? "lane.signal"
                      : WEXITSTATUS(status) != 0 ? "lane.exit_status"
                                                 : NULL;
    if (why && o->owed)
        o->outcome = why;
    if (why)
        observe_fail(o, why, NULL);
}

static void judge_stderr(struct observation *o)
{
    int64_t bytes = capture_bytes(&o->stderr_file);

    o->res->stderr_bytes = bytes < 0 ? -1 : bytes;
    if (bytes > 0)
        capture_tail(&o->stderr_file, bytes, &o->stderr_tail);
    if (bytes > 0 && !o->req->stderr_allowed)
        observe_fail(o, "lane.stderr_written", NULL);
}

static void fill_usage(struct observation *o)
{
    const struct rusage *u = &o->end.usage;
    struct wire_observe_result *r = o->res;

    if (!o->end.reaped)
        return;
    r->end.exit_status = WIFEXITED(o->end.status) ? WEXITSTATUS(o->end.status) : -1;
    r->end.exit_signal = WIFSIGNALED(o->end.status) ? WTERMSIG(o->end.status) : 0;
    r->user_us = u->ru_utime.tv_sec * 1000000LL + u->ru_utime.tv_usec;
    r->system_us = u->ru_stime.tv_sec * 1000000LL + u->ru_stime.tv_usec;
    r->max_rss_bytes = u->ru_maxrss * 1024LL;
    r->minor_faults = u->ru_minflt;
    r->major_faults = u->ru_majflt;
    r->voluntary_switches = u->ru_nvcsw;
    r->involuntary_switches = u->ru_nivcsw;
}

/* What wait(2) says of the lane with all descendants that it waited for, beyond the lane itself. */
static int64_t dead_ns(const struct observation *o, int64_t whole_ns)
{
    const struct rusage *u = &o->end.usage;
    int64_t all_us = (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000LL + u->ru_utime.tv_usec +
                     u->ru_stime.tv_usec;

    if (!o->end.reaped || whole_ns < 0)
        return -1;
    int64_t ns = all_us * 1000 - whole_ns;
    return ns > USAGE_CUT_NS ? ns : 0;
}

static void fill_ledger(const struct observation *o, struct wire_observe_result *r)
{
    const struct account *a = &o->account;
    struct ledger l;

    ledger_account(a, &l);
    r->runner_switches = counted(a->from.runner_switches, a->to.runner_switches);
    r->daemon_cpu_ns = counted(a->from.daemon_ns, a->to.daemon_ns);
    r->daemon_switches = counted(a->from.daemon_switches, a->to.daemon_switches);
    r->span_ns = l.span_ns;
    r->lane_cpu_ns = l.lane_cpu_ns;
    r->observer_cpu_ns = l.observer_cpu_ns;
    r->near_foreign_ns = l.near_foreign_ns;
    r->far_foreign_ns = l.far_foreign_ns;
    r->steal_ns = l.steal_ns;
    r->lane_delay_ns = l.lane_delay_ns;
    r->lane_preemptions = l.lane_preemptions;
    r->pressure_us = l.pressure_us;
    r->throttles = l.throttles;
    r->swapped_pages = l.swapped_pages;
}

static void fill_result(struct observation *o)
{
    struct wire_observe_result *r = o->res;

    r->end.outcome = o->outcome ? o->outcome : "ok";
    r->runner_cpu_ns = o->own.cpu_ns;
    r->runner_delay_ns = o->own.delay_ns;
    fill_ledger(o, r);
    r->end.exec_errno = o->failure.errnum;
    r->end.exec_step = o->failure.step;
    r->end.leftovers = o->swept.leftovers;
    r->end.leftover_names = o->swept.names[0] ? o->swept.names : NULL;
    r->end.unremoved = o->swept.unremoved[0] ? o->swept.unremoved : NULL;
    if (o->ready.len > 0)
        r->ready = record_text(&o->ready);
    if (o->done.len > 0)
        r->done = record_text(&o->done);
    if (!o->outcome)
        return;
    r->stdout_tail = (struct wire_bytes){o->stdout_tail.data, o->stdout_tail.len};
    r->stderr_tail = (struct wire_bytes){o->stderr_tail.data, o->stderr_tail.len};
}

/* The lane has done what it does: see it end, end what is left of it, and judge what it left. */
static void conclude(struct observation *o)
{
    wait_owed(o);
    bool by_itself = spawn_ended(&o->child);
    if (by_itself && o->res->end.exit_ns < 0)
        o->res->end.exit_ns = clock_mono_ns();
    int64_t whole_ns = by_itself ? reading_cpu_ns(o->child.pid) : -1;
    FAULT_POINT("in_runner.sweep");
    sweep_run(&o->child, &o->end, &o->swept);
    FAULT_POINT("in_runner.swept");
    if (!by_itself)
        o->res->end.exit_ns = clock_mono_ns();
    fill_usage(o);
    observe_peak_at_end(o);
    if (o->req->measure == WIRE_INSTRUCTIONS)
        o->res->instructions = instructions_close();
    o->account.dead_ns = dead_ns(o, whole_ns);
    o->account.preemptions = o->req->measure != WIRE_PROTOCOL ? o->res->involuntary_switches : -1;
    judge_limits(o);
    judge_end(o, by_itself);
    if (o->req->measure == WIRE_PROTOCOL)
        observe_protocol_rest(o);
    else
        observe_process_output(o);
    judge_stderr(o);
    if (o->swept.leftovers > 0 || o->swept.unremoved[0])
        observe_fail(o, "lane.leftover", NULL);
}

static void close_all(struct observation *o)
{
    capture_close(&o->stdout_file);
    capture_close(&o->stderr_file);
    mem_closep(&o->in);
    mem_closep(&o->out);
    mem_closep(&o->child.pidfd);
}

void observe_run(int64_t id, const struct wire_observe *req, struct wire_observe_result *res)
{
    static struct observation o;

    *res = (struct wire_observe_result){
        .end = {.exit_status = -1, .start_ns = -1, .exit_ns = -1},
        .go_ns = -1,
        .done_ns = -1,
        .interval_cpu_ns = -1,
        .user_us = -1,
        .system_us = -1,
        .max_rss_bytes = -1,
        .minor_faults = -1,
        .major_faults = -1,
        .voluntary_switches = -1,
        .involuntary_switches = -1,
        .cpu = -1,
        .threads = -1,
        .instructions = -1,
        .baseline_rss = -1,
        .ready_rss = -1,
        .peak_rss = -1,
        .window_from_ns = -1,
        .window_to_ns = -1,
        .window_cpu_ns = -1,
    };
    memset(&o, 0, sizeof o);
    o.id = id;
    o.req = req;
    o.res = res;
    o.child = (struct child){-1, -1};
    o.own = (struct own_readings){-1, -1};
    o.account = (struct account){.from = COUNTERS_UNKNOWN,
                                 .to = COUNTERS_UNKNOWN,
                                 .ticks_off_ns = counters_ticks_off_ns(),
                                 .dead_ns = -1,
                                 .preemptions = -1};
    o.in = o.out = o.stdout_file.fd = o.stderr_file.fd = -1;
    if (prepare(&o)) {
        if (req->measure == WIRE_PROTOCOL)
            observe_protocol(&o);
        else
            observe_process(&o);
        watch_stop();
    }
    if (o.child.pid > 0)
        conclude(&o);
    else
        (void)instructions_close();
    fill_result(&o);
    close_all(&o);
}
