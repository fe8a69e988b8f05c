/* What the ledger makes of an observation, and the repetitions that run again because of it. The
 * rule is core/ledger/replacement; here it gets its observations and its rounds get their place in
 * the stored plan, before the first of their observations. */
#include "core/ledger/ledger_raw.h"
#include "sched/sched_internal.h"

void replacements_begin(struct attempt *a)
{
    size_t *n_lanes = arena_array(&a->arena, a->suite->n_workloads, sizeof *n_lanes);

    for (size_t w = 0; w < a->suite->n_workloads; w++)
        n_lanes[w] = a->suite->workloads[w].n_lanes;
    warmups_init(&a->arena, n_lanes, a->suite->n_workloads, a->n_sides, &a->warmups);
    a->replacements = arena_array(&a->arena, a->suite->n_workloads, sizeof *a->replacements);
    for (size_t w = 0; w < a->suite->n_workloads; w++)
        replacement_init(&a->arena, a->job->repetitions, &a->replacements[w]);
}

void replacements_note(struct attempt *a, const struct plan_step *step, struct raw_observation *o)
{
    struct ledger_limits limits;

    /* Values do not depend on what else the host does. */
    if (measure_has_values(a->suite->workloads[step->workload].measure)) {
        if (step->kind == OBS_TIMED)
            replacement_note_with(&a->raw, a->replacements, (size_t)step->workload,
                                  step->repetition, -1);
        return;
    }
    if (step->kind != OBS_TIMED) {
        warmups_note(&a->warmups, step, o->elapsed_ns, &o->ledger);
        return;
    }
    int cpus = a->suite->workloads[step->workload].lanes[step->lane].cpus;
    struct warmup warmup = warmups_of(&a->warmups, step, cpus);
    ledger_limits(&a->raw.observer, a->policy, a->host.cores, &warmup, &limits);
    o->disturbed = observation_judge(o, &limits);
    replacement_note_with(&a->raw, a->replacements, (size_t)step->workload, step->repetition,
                          o->disturbed);
}

void replacements_plan(struct attempt *a)
{
    size_t n = a->suite->n_workloads;
    int *replaces = arena_array(&a->arena, n, sizeof *replaces), repetition, again = 0;

    if (!replacement_round(a->replacements, n, replaces, &repetition))
        return;
    plan_replace(&a->arena, a->plan, a->suite, a->n_sides, repetition, replaces,
                 attempt_present_lanes(a));
    for (size_t w = 0; w < n; w = plan_end_of_steps(a->suite, w))
        again += replaces[w] >= 0;
    attempt_say(a, "%d disturbed repetition%s again", again, again == 1 ? " runs" : "s run");
}
