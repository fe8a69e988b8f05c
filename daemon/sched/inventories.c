/* The three inventories: taken on a worker thread, judged and stored on the loop. */
#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "sched/sched_internal.h"

struct phase_steps {
    enum phase phase;
    int (*work)(struct attempt *a);
};

static bool control_everywhere(const struct suite *suite)
{
    for (size_t w = 0; w < suite->n_workloads; w++) {
        bool found = !measure_has_times(suite->workloads[w].measure); /* no host drifts in it */
        for (size_t l = 0; l < suite->workloads[w].n_lanes; l++)
            found = found || suite->workloads[w].lanes[l].control;
        if (!found)
            return false;
    }
    return true;
}

/* The work folder, and the users' checkouts where their names are paths on this machine. */
static size_t measured_paths(const struct attempt *a, const char **paths)
{
    size_t n = 0;

    paths[n++] = a->work_dir;
    for (size_t i = 0; i < a->job->n_sources; i++)
        if (a->job->sources[i].repo && a->job->sources[i].repo[0] == '/')
            paths[n++] = a->job->sources[i].repo;
    return n;
}

/* What a condition is judged against: the facts when the attempt began. A retry took its inventory
 * before build over from an earlier try; what counted up while the job waited (stolen time, swap)
 * is not this attempt's, so those counters begin anew. */
static const struct host_facts *since_facts(struct attempt *a, enum phase phase)
{
    static const enum fact_id counters[] = {FACT_STEAL_TICKS, FACT_CPU_TICKS, FACT_SWAP_IN};
    struct host_facts now;

    if (!a->reused_from)
        return &a->phases[PHASE_BEFORE_BUILD].facts;
    if (phase == PHASE_BEFORE_TIMING) {
        host_probe_facts(a->sched->config.probe, &a->arena, &now);
        a->since = a->phases[PHASE_BEFORE_BUILD].facts;
        for (size_t i = 0; i < ARRAY_LEN(counters); i++)
            a->since.facts[counters[i]] = now.facts[counters[i]];
    }
    return &a->since;
}

static int take(struct attempt *a, enum phase phase)
{
    const char *measured[JOB_SIDES_MAX + 1];
    const struct inventory_scope scope = {
        .self_pid = (int)getpid(),
        .measured = measured,
        .n_measured = measured_paths(a, measured),
        .more_forbidden = &a->suite->forbidden,
        .lane_cpus = phase == PHASE_BEFORE_TIMING ? a->cpus : NULL,
        .n_lane_cpus = phase == PHASE_BEFORE_TIMING ? a->n_cpus : 0,
    };
    const struct qualify_job job = {.is_comparison = a->n_sides > 1 || a->job->is_run,
                                    .control_everywhere = control_everywhere(a->suite)};
    const struct host_facts *first = phase == PHASE_BEFORE_BUILD ? NULL : since_facts(a, phase);

    return host_take_phase(a->sched->config.probe, &a->arena, a->policy, &scope, &job, phase, first,
                           a->policy->snapshot_gap_ms, &a->phases[phase], &a->e);
}

static int take_before_build(struct attempt *a)
{
    return take(a, PHASE_BEFORE_BUILD);
}

static int take_before_timing(struct attempt *a)
{
    return take(a, PHASE_BEFORE_TIMING);
}

static int take_after_timing(struct attempt *a)
{
    return take(a, PHASE_AFTER_TIMING);
}

static int (*const TAKE[PHASE_COUNT])(struct attempt *) = {
    [PHASE_BEFORE_BUILD] = take_before_build,
    [PHASE_BEFORE_TIMING] = take_before_timing,
    [PHASE_AFTER_TIMING] = take_after_timing,
};

int attempt_take_phase(struct attempt *a, enum phase phase, int (*done)(struct attempt *a))
{
    return attempt_on_worker(a, TAKE[phase], done);
}

static void say_inventory(struct attempt *a, const struct inventory *inv)
{
    char reasons[64];

    attempt_say(a, "inventory %s: %s, %zu processes, foreign CPU %.1f %% and %.1f %% of one core",
                phase_title(inv->phase), inventory_state_name(inv->state), inv->n_procs,
                inv->aggregate_pct[0], inv->aggregate_pct[1]);
    if (inv->partial_reason)
        attempt_say(a, "  incomplete: %s", inv->partial_reason);
    for (size_t i = 0; i < inv->n_competitors; i++) {
        const struct competitor *c = &inv->competitors[i];
        attempt_say(a, "  competitor: pid %d %s, %.1f %% and %.1f %% (%s)", c->pid, c->command,
                    c->share_pct[0], c->share_pct[1], compete_reasons_text(c->reasons, reasons));
    }
}

int attempt_judge_phase(struct attempt *a, enum phase phase)
{
    const struct phase_record *record = &a->phases[phase];

    int rc = store_put_phase(a->sched->config.store, a->id, phase, record, &a->e);
    if (rc < 0)
        return rc;
    say_inventory(a, record->inventory);
    if (phase == PHASE_AFTER_TIMING)
        return 0;
    if (qualify_decide(&a->arena, record, a->job->allow_competing, &a->refusal)) {
        if (record->inventory->state != INVENTORY_QUIET)
            attempt_say(a, "going on although others compete, as asked: the report is diagnostic");
        return 0;
    }
    a->refused_in = phase;
    return attempt_end_as(a, END_REFUSED);
}
