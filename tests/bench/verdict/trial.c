#include "tests/bench/verdict/trial.h"

#include "core/ledger/ledger_raw.h"
#include "core/ledger/replacement.h"

#define WARMUPS 1

static struct lane lanes[] = {{.name = "lane", .cpus = 1}};
static struct workload workloads[] = {
    {.name = "work", .measure = MEASURE_PROTOCOL, .lanes = lanes, .n_lanes = 1}};
static const struct suite suite = {.name = "verdict", .workloads = workloads, .n_workloads = 1};

static struct raw_lane raw_lanes[] = {{.name = "lane", .cpus = 1}};
static struct raw_workload raw_workloads[] = {
    {.name = "work", .measure = MEASURE_PROTOCOL, .lanes = raw_lanes, .n_lanes = 1}};
static const char *sides[TRIAL_SIDES] = {[TRIAL_BEFORE] = "before", [TRIAL_AFTER] = "after"};

/* What goes on while it is measured. */
struct measuring {
    struct arena *arena;
    const struct trial *trial;
    struct plan *plan;
    struct warmups warmups;
    struct replacement replacement;
    struct raw *raw;
};

static struct raw *raw_of(struct arena *a, const struct trial *t)
{
    size_t most =
        (size_t)(WARMUPS + TRIAL_REPETITIONS + replacement_room(TRIAL_REPETITIONS)) * TRIAL_SIDES;
    struct raw *raw = arena_alloc(a, sizeof *raw);

    *raw = (struct raw){.id = "trial",
                        .boot = {.id = t->calibration->boot},
                        .boot_id_after = t->calibration->boot,
                        .host = {.cores = t->cores},
                        .job = {.repetitions = TRIAL_REPETITIONS, .warmups = WARMUPS},
                        .policy = *t->policy,
                        .calibration = t->calibration,
                        .workloads = raw_workloads,
                        .n_workloads = 1,
                        .sides = sides,
                        .n_sides = TRIAL_SIDES,
                        .observer = *t->sources,
                        .observations = arena_array(a, most, sizeof *raw->observations)};
    return raw;
}

static void place(const struct plan_step *step, struct raw_observation *o)
{
    o->seq = step->seq;
    o->workload = workloads[step->workload].name;
    o->lane = lanes[step->lane].name;
    o->side = sides[step->side];
    o->repetition = step->repetition;
    o->position = step->position;
    o->kind = step->kind;
    o->replaces = step->replaces;
    o->disturbed = -1;
}

static void judge(struct measuring *m, const struct plan_step *step, struct raw_observation *o)
{
    struct ledger_limits limits;

    if (step->kind != OBS_TIMED) {
        warmups_note(&m->warmups, step, o->elapsed_ns, &o->ledger);
        return;
    }
    ledger_limits_of(m->raw, &m->warmups, step, &limits);
    o->disturbed = observation_judge(o, &limits);
    replacement_note(&m->replacement, step->repetition, o->disturbed);
}

static void measure_from(struct measuring *m, size_t first)
{
    for (size_t i = first; i < m->plan->n; i++) {
        const struct plan_step *step = &m->plan->steps[i];
        struct raw_observation *o = &m->raw->observations[m->raw->n_observations++];
        m->trial->observe(m->trial->context, m->arena, step, o);
        place(step, o);
        judge(m, step, o);
    }
}

/* Plans the next repetition that runs again; false: there is none. */
static bool plan_again(struct measuring *m)
{
    int replaces, repetition = 0;

    if (!replacement_round(&m->replacement, 1, &replaces, &repetition))
        return false;
    plan_replace(m->arena, m->plan, &suite, TRIAL_SIDES, repetition, &replaces, NULL);
    return true;
}

const struct raw *trial_make(struct arena *a, const struct trial *t)
{
    const size_t n_lanes = 1;
    struct measuring m = {.arena = a, .trial = t, .raw = raw_of(a, t)};
    size_t first = 0;

    m.plan = plan_make(a, &suite, TRIAL_SIDES, TRIAL_REPETITIONS, WARMUPS, ORDER_INTERLEAVED, NULL);
    warmups_init(a, &n_lanes, 1, TRIAL_SIDES, &m.warmups);
    replacement_init(a, TRIAL_REPETITIONS, &m.replacement);
    do {
        measure_from(&m, first);
        first = m.plan->n;
    } while (plan_again(&m));
    m.raw->plan = *m.plan;
    return m.raw;
}
