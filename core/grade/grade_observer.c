/* Whether the observer kept quiet: what the daemon and the runner did inside timed intervals. */
#include <inttypes.h>
#include <string.h>

#include "core/grade/grade_predicates.h"
#include "core/ledger/ledger_raw.h"
#include "core/summary/observations.h"

struct audit {
    int64_t observations, runner_max_ns, runner_sum_ns, daemon_sum_ns;
};

static bool is_known(const struct raw_observation *o)
{
    return o->runner_cpu_ns >= 0 && o->daemon_cpu_ns >= 0 && o->daemon_switches >= 0 &&
           o->elapsed_ns >= 0;
}

/* The daemon inside one interval; PASS: it slept. */
static struct predicate_result judge_daemon(const struct grade_input *in,
                                            const struct raw_observation *o)
{
    bool ran = o->daemon_switches > 0 || o->daemon_cpu_ns > 0;

    if (!is_known(o))
        return RESULT(in, TRI_UNKNOWN, "observation %d: not all of the counters are here", o->seq);
    if (ran && o->elapsed_ns <= OBSERVER_LONG_NS)
        return RESULT(in, TRI_FAIL,
                      "observation %d: the daemon ran for %" PRId64 " us, %" PRId64
                      " times, inside a timed interval",
                      o->seq, o->daemon_cpu_ns / 1000, o->daemon_switches);
    return RESULT(in, TRI_PASS, "silent");
}

/* How much of one interval that counts: others were replaced for it. */
static struct predicate_result judge_use(const struct grade_input *in,
                                         const struct raw_observation *o)
{
    int64_t used_ns = observer_used_ns(o), allowed_ns = observer_allowed_ns(o);

    if (is_known(o) && used_ns > allowed_ns)
        return RESULT(in, TRI_FAIL,
                      "observation %d: the observer used %" PRId64 " us, %" PRId64 " are allowed",
                      o->seq, used_ns / 1000, allowed_ns / 1000);
    return RESULT(in, TRI_PASS, "silent");
}

static void count(struct audit *audit, const struct raw_observation *o)
{
    audit->observations++;
    audit->runner_sum_ns += o->runner_cpu_ns;
    audit->daemon_sum_ns += o->daemon_cpu_ns;
    if (o->runner_cpu_ns > audit->runner_max_ns)
        audit->runner_max_ns = o->runner_cpu_ns;
}

struct predicate_result predicate_observer_silent(const struct grade_input *in)
{
    struct predicate_result worst = {TRI_PASS, NULL};
    struct observation_index counting;
    struct audit audit = {0};

    observations_index(in->arena, in->raw, &counting);
    for (size_t i = 0; i < counting.n; i++)
        if (observation_is_time(in->raw, counting.v[i]))
            predicate_fold(&worst, judge_use(in, counting.v[i]));
    for (size_t i = 0; i < in->raw->n_observations; i++) {
        const struct raw_observation *o = &in->raw->observations[i];
        if (o->kind != OBS_TIMED || !o->outcome || strcmp(o->outcome, "ok") != 0 ||
            !observation_is_time(in->raw, o))
            continue;
        predicate_fold(&worst, judge_daemon(in, o));
        count(&audit, o);
    }
    if (worst.status != TRI_PASS)
        return worst;
    if (!raw_has_times(in->raw))
        return RESULT(in, TRI_NOT_APPLICABLE, "no figure is a time");
    if (audit.observations == 0)
        return RESULT(in, TRI_UNKNOWN, "nothing was timed");
    return RESULT(in, TRI_PASS,
                  "in %" PRId64 " intervals the daemon ran for %" PRId64
                  " us, the runner for %" PRId64 " us and at most %" PRId64 " us in one",
                  audit.observations, audit.daemon_sum_ns / 1000, audit.runner_sum_ns / 1000,
                  audit.runner_max_ns / 1000);
}
