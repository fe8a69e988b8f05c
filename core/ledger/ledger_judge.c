#include "core/ledger/ledger_judge.h"

/* Of the warmup. The contract has them, but for the share of other CPUs: at 5 % of a core a
 * compiler of 5 ms beside an observation of 200 ms would pass, and it takes caches, memory
 * bandwidth and, on a guest, time of the machine below. */
#define NEAR_SHARE 0.005
#define FAR_SHARE 0.02
#define DELAY_SHARE 0.005
#define DELAY_MIN_NS 500000
/* What stood beside every warmup varies from one run to the next. */
#define BESIDE_SHARE 1.25
/* A reading is off by less than the resolution, and a difference has two. */
#define READINGS 2

static int64_t at_least(int64_t v, int64_t least)
{
    return v > least ? v : least;
}

static int64_t share(int64_t ns, double part)
{
    return (int64_t)((double)ns * part);
}

static bool required(const struct policy *policy, enum condition c)
{
    return policy->rules[c].mode == RULE_REQUIRE;
}

void ledger_limits(const struct ledger_sources *sources, const struct policy *policy, int cores,
                   const struct warmup *warmup, struct ledger_limits *out)
{
    int64_t warmup_ns = warmup->ns;

    *out = (struct ledger_limits){-1, -1, -1, -1, -1, -1};
    if (warmup_ns <= 0)
        return;
    if (sources->busy_resolution_ns >= 0) {
        int64_t least_ns = READINGS * sources->busy_resolution_ns;
        double near = warmup->wide ? FAR_SHARE : NEAR_SHARE;
        out->near_ns =
            at_least(share(warmup_ns, near), least_ns) + share(warmup->near_ns, BESIDE_SHARE);
        out->far_ns =
            at_least(share(warmup_ns, FAR_SHARE), least_ns) + share(warmup->far_ns, BESIDE_SHARE);
    }
    out->delay_ns = at_least(share(warmup_ns, DELAY_SHARE), DELAY_MIN_NS);
    if (required(policy, COND_STEAL) && sources->steal_resolution_ns >= 0)
        out->steal_ns = at_least(share(warmup_ns * cores, policy->rules[COND_STEAL].limit / 100),
                                 sources->steal_resolution_ns);
    out->throttles = required(policy, COND_THERMAL) ? 0 : -1;
    out->swapped_pages = required(policy, COND_SWAP) ? 0 : -1;
}

int ledger_judge(const struct ledger *l, const struct ledger_limits *limits)
{
    const struct {
        int64_t found, limit;
    } pairs[DISTURBANCE_COUNT] = {
        [DISTURBED_NEAR] = {l->near_foreign_ns, limits->near_ns},
        [DISTURBED_FAR] = {l->far_foreign_ns, limits->far_ns},
        [DISTURBED_DELAY] = {l->lane_delay_ns, limits->delay_ns},
        [DISTURBED_STEAL] = {l->steal_ns, limits->steal_ns},
        [DISTURBED_THROTTLE] = {l->throttles, limits->throttles},
        [DISTURBED_SWAP] = {l->swapped_pages, limits->swapped_pages},
        [DISTURBED_OBSERVER] = {-1, -1}, /* not of the host */
    };
    bool told = limits->near_ns >= 0 && limits->far_ns >= 0 && l->near_foreign_ns >= 0 &&
                l->far_foreign_ns >= 0;
    int bits = 0;

    for (int d = 0; d < DISTURBANCE_COUNT; d++)
        if (pairs[d].limit >= 0 && pairs[d].found > pairs[d].limit)
            bits |= 1 << d;
    return bits > 0 || told ? bits : -1;
}

/* ---- warmups */

void warmups_init(struct arena *a, const size_t *n_lanes, size_t n_workloads, size_t n_sides,
                  struct warmups *out)
{
    *out = (struct warmups){.n_sides = n_sides};
    out->base = arena_array(a, n_workloads + 1, sizeof *out->base);
    for (size_t w = 0; w < n_workloads; w++)
        out->base[w + 1] = out->base[w] + n_lanes[w] * n_sides;
    out->n_workloads = n_workloads;
    out->v = arena_array(a, out->base[n_workloads], sizeof *out->v);
    for (size_t i = 0; i < out->base[n_workloads]; i++)
        out->v[i] = (struct warmup){.near_ns = -1, .far_ns = -1};
}

/* All sides of the step's lane, one behind the other; NULL: no such lane. */
static struct warmup *sides_of(const struct warmups *w, const struct plan_step *step)
{
    if (step->workload < 0 || (size_t)step->workload >= w->n_workloads || step->lane < 0 ||
        step->side < 0 || (size_t)step->side >= w->n_sides)
        return NULL;
    size_t from = w->base[step->workload], to = w->base[step->workload + 1];
    size_t at = from + (size_t)step->lane * w->n_sides;
    return at < to ? &w->v[at] : NULL;
}

static void note_least(int64_t *least, int64_t ns)
{
    ns = ns > 0 ? ns : 0;
    if (*least < 0 || ns < *least)
        *least = ns;
}

void warmups_note(struct warmups *w, const struct plan_step *step, int64_t elapsed_ns,
                  const struct ledger *l)
{
    struct warmup *sides = sides_of(w, step);

    if (!sides || elapsed_ns <= 0)
        return;
    sides[step->side].ns = elapsed_ns;
    for (size_t side = 0; side < w->n_sides; side++) {
        note_least(&sides[side].near_ns, l->near_foreign_ns);
        note_least(&sides[side].far_ns, l->far_foreign_ns);
    }
}

struct warmup warmups_of(const struct warmups *w, const struct plan_step *step, int lane_cpus)
{
    const struct warmup *sides = sides_of(w, step);
    struct warmup out = {0};

    if (sides && sides[step->side].ns > 0)
        out = sides[step->side];
    out.wide = lane_cpus != 1;
    return out;
}
