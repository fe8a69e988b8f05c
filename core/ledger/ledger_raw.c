#include "core/ledger/ledger_raw.h"

#include <string.h>

/* Of the contract (The disturbance ledger). */
#define RUNNER_NS 50000
#define RUNNER_SHARE 1000 /* one part in so many of the interval */

const struct plan_step *ledger_step(const struct raw *raw, const struct raw_observation *o)
{
    bool is_good = o->outcome && strcmp(o->outcome, "ok") == 0;

    if (!is_good || o->seq < 0 || (size_t)o->seq >= raw->plan.n)
        return NULL;
    const struct plan_step *s = &raw->plan.steps[o->seq];
    bool is_here = s->workload >= 0 && (size_t)s->workload < raw->n_workloads && s->lane >= 0 &&
                   (size_t)s->lane < raw->workloads[s->workload].n_lanes;
    return is_here ? s : NULL;
}

void warmups_from(struct arena *a, const struct raw *raw, struct warmups *out)
{
    size_t *n_lanes = arena_array(a, raw->n_workloads, sizeof *n_lanes);

    for (size_t w = 0; w < raw->n_workloads; w++)
        n_lanes[w] = raw->workloads[w].n_lanes;
    warmups_init(a, n_lanes, raw->n_workloads, raw->n_sides, out);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        const struct plan_step *step = ledger_step(raw, o);
        if (step && step->kind != OBS_TIMED &&
            !measure_has_values(raw->workloads[step->workload].measure))
            warmups_note(out, step, o->elapsed_ns, &o->ledger);
    }
}

void ledger_limits_of(const struct raw *raw, const struct warmups *warmups,
                      const struct plan_step *step, struct ledger_limits *out)
{
    int cpus = raw->workloads[step->workload].lanes[step->lane].cpus;
    struct warmup warmup = warmups_of(warmups, step, cpus);

    ledger_limits(&raw->observer, &raw->policy, raw->host.cores, &warmup, out);
}

int64_t observer_allowed_ns(const struct raw_observation *o)
{
    int64_t share_ns = o->elapsed_ns / RUNNER_SHARE;

    return share_ns > RUNNER_NS ? share_ns : RUNNER_NS;
}

int64_t observer_used_ns(const struct raw_observation *o)
{
    bool is_long = o->elapsed_ns > OBSERVER_LONG_NS;

    if (o->runner_cpu_ns < 0 || (is_long && o->daemon_cpu_ns < 0))
        return -1;
    return o->runner_cpu_ns + (is_long ? o->daemon_cpu_ns : 0);
}

int observation_judge(const struct raw_observation *o, const struct ledger_limits *limits)
{
    int bits = ledger_judge(&o->ledger, limits);

    return bits >= 0 && observer_used_ns(o) > observer_allowed_ns(o)
               ? bits | 1 << DISTURBED_OBSERVER
               : bits;
}
