#include "tests/bench/verdict/world.h"

#include <string.h>

#include "tests/bench/verdict/chance.h"

#define GAP_NS 5e6 /* between two observations */
#define BURST_NS 60e6
#define PAUSE_NS 140e6
#define TURN_NS 3e6
#define DRIFT_NS 1.5e9 /* a comparison lasts about so long */
#define FAR_SPEED (1 / 1.02)
#define RESOLUTION_NS 20000
#define RUNNER_NS 5000 /* what reading the answer costs the runner */
#define CALIBRATION_WORK_NS 4e6
#define CALIBRATION_GROUPS 5
#define PI 3.14159265358979323846

static const struct {
    const char *name;
    bool burns, always;
    double near_share; /* of the bursts */
} noises[NOISE_COUNT] = {
    [NOISE_QUIET] = {"quiet", false, false, 0}, [NOISE_BURNER] = {"burner", true, false, 0.5},
    [NOISE_SAME] = {"same", true, false, 1},    [NOISE_ALWAYS] = {"always", true, true, 1},
    [NOISE_DRIFT] = {"drift", false, false, 0},
};

const struct ledger_sources world_sources = {.busy = "cpuacct",
                                             .busy_resolution_ns = RESOLUTION_NS,
                                             .delay = "schedstat",
                                             .steal = "absent",
                                             .throttle = "absent",
                                             .swap = "absent"};

int noise_parse(const char *s)
{
    for (int i = 0; i < NOISE_COUNT; i++)
        if (strcmp(s, noises[i].name) == 0)
            return i;
    return -1;
}

/* ---- the burner */

static bool burns(const struct world *w)
{
    return noises[w->noise].burns && w->now_ns < w->burst_end_ns;
}

static void next_burst(struct world *w)
{
    double begin_ns = w->pause_end_ns;
    bool ends = !noises[w->noise].always;

    w->burst_end_ns = ends ? begin_ns + chance_exponential(&w->seed, BURST_NS) : INFINITY;
    w->pause_end_ns = w->burst_end_ns + chance_exponential(&w->seed, PAUSE_NS);
    w->near = chance_uniform(&w->seed) < noises[w->noise].near_share;
}

static void pass(struct world *w, double ns)
{
    w->now_ns += ns;
    while (noises[w->noise].burns && w->now_ns >= w->pause_end_ns)
        next_burst(w);
}

/* When what the burner does changes next. */
static double next_change_ns(const struct world *w)
{
    if (!noises[w->noise].burns)
        return INFINITY;
    return burns(w) ? w->burst_end_ns : w->pause_end_ns;
}

/* ---- one observation */

struct seen {
    double wall_ns, cpu_ns, near_ns, far_ns;
};

/* So much wall time passes, in which the lane gets what it gets. */
static void share_core(struct world *w, double ns, struct seen *s)
{
    bool near = burns(w) && w->near, far = burns(w) && !w->near;
    double beside_ns = near ? ns / 2 : 0;
    double turn_ns = near ? TURN_NS * (chance_uniform(&w->seed) - 0.5) : 0;

    if (turn_ns < -beside_ns)
        turn_ns = -beside_ns;
    s->wall_ns += ns + turn_ns;
    s->cpu_ns += ns - beside_ns;
    s->near_ns += beside_ns + turn_ns;
    s->far_ns += far ? ns : 0;
}

/* Works until done, slice by slice of what the burner does meanwhile. */
static void work(struct world *w, double left_ns, struct seen *s)
{
    while (left_ns > 0) {
        double speed = !burns(w) ? 1 : w->near ? 0.5 : FAR_SPEED;
        double need_ns = left_ns / speed, until_ns = next_change_ns(w) - w->now_ns;
        double take_ns = need_ns < until_ns ? need_ns : until_ns;
        share_core(w, take_ns, s);
        left_ns = need_ns < until_ns ? 0 : left_ns - take_ns * speed;
        pass(w, take_ns);
    }
}

/* How much longer this run takes than the program needs. */
static double share_of_run(struct world *w)
{
    double share = 1 + 0.004 * chance_normal(&w->seed);

    if (chance_uniform(&w->seed) < 0.05)
        share += chance_exponential(&w->seed, 0.01);
    if (w->noise == NOISE_DRIFT)
        share *= 1.05 + 0.05 * sin(2 * PI * w->now_ns / w->drift_period_ns + w->drift_phase);
    return share;
}

static int64_t counter_shows(struct world *w, double ns)
{
    double v = ns + RESOLUTION_NS * fabs(chance_normal(&w->seed));

    return (int64_t)(v / RESOLUTION_NS) * RESOLUTION_NS;
}

static void tell(struct world *w, const struct seen *s, struct raw_observation *out)
{
    *out = (struct raw_observation){.outcome = "ok",
                                    .elapsed_ns = (int64_t)s->wall_ns,
                                    .interval_cpu_ns = (int64_t)s->cpu_ns,
                                    .runner_cpu_ns = RUNNER_NS,
                                    .ledger = LEDGER_UNKNOWN};
    out->ledger.span_ns = out->elapsed_ns;
    out->ledger.near_foreign_ns = counter_shows(w, s->near_ns);
    out->ledger.far_foreign_ns = counter_shows(w, s->far_ns);
    out->ledger.lane_delay_ns = (int64_t)s->near_ns;
    out->ledger.steal_ns = out->ledger.throttles = out->ledger.swapped_pages = 0;
}

void world_observe(struct world *w, double work_ns, struct raw_observation *out)
{
    struct seen s = {0};

    work(w, work_ns * share_of_run(w), &s);
    tell(w, &s, out);
    pass(w, GAP_NS);
}

void world_init(struct world *w, uint64_t seed, enum noise noise)
{
    *w = (struct world){.seed = seed, .noise = noise};
    pass(w, chance_uniform(&w->seed) * 1e9);
    w->drift_period_ns = (1 + chance_uniform(&w->seed)) * DRIFT_NS;
    w->drift_phase = 2 * PI * chance_uniform(&w->seed);
}

/* ---- its calibration */

const struct calibration *world_calibrate(struct arena *a, uint64_t seed, enum noise noise,
                                          const char *boot)
{
    struct calibration *c = arena_alloc(a, sizeof *c);
    struct calibration_measure *m = &c->measures[MEASURE_PROTOCOL];
    size_t n = 2 * (size_t)CALIBRATION_GROUPS * CALIBRATION_GROUP_PAIRS;
    struct raw_observation o;
    struct world w;

    world_init(&w, seed, noises[noise].burns ? NOISE_QUIET : noise);
    *c = (struct calibration){.id = boot, .boot = boot, .form = CALIBRATION_QUICK};
    for (int i = 0; i < CALIBRATION_MEASURES; i++)
        c->measures[i].measure = (enum measure)i;
    m->pairs_ns = (struct calibration_values){arena_array(a, n, sizeof(int64_t)), n};
    m->pairs_cpu_ns = (struct calibration_values){arena_array(a, n, sizeof(int64_t)), n};
    for (size_t i = 0; i < n; i++) {
        size_t pair = i / 2, at = 2 * pair + (i + pair) % 2;
        world_observe(&w, CALIBRATION_WORK_NS, &o);
        m->pairs_ns.v[at] = o.elapsed_ns;
        m->pairs_cpu_ns.v[at] = o.interval_cpu_ns;
    }
    return c;
}
