#include "core/grade/check.h"

#include <string.h>

#include "core/ledger/ledger_raw.h"

static const char *told(int bits, char *text)
{
    return bits < 0 ? "not judged" : bits == 0 ? "clean" : disturbances_text(bits, text);
}

static const char *contradiction(struct arena *a, const struct raw_observation *o, int bits)
{
    char said[DISTURBANCES_TEXT], found[DISTURBANCES_TEXT];

    return arena_printf(a, "observation %d is called %s, its ledger makes it %s", o->seq,
                        told(o->disturbed, said), told(bits, found));
}

const char *check_ledgers(struct arena *a, const struct raw *raw)
{
    struct warmups warmups;

    warmups_from(a, raw, &warmups);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        const struct plan_step *step = ledger_step(raw, o);
        struct ledger_limits limits;
        if (!step || step->kind != OBS_TIMED)
            continue;
        ledger_limits_of(raw, &warmups, step, &limits);
        /* Values do not depend on what else the host does. */
        bool is_time = !measure_has_values(raw->workloads[step->workload].measure);
        int bits = is_time ? observation_judge(o, &limits) : -1;
        if (bits != o->disturbed)
            return contradiction(a, o, bits);
    }
    return NULL;
}
