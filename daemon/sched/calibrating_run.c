#include "sched/calibrating_run.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/floor/floor.h"
#include "run/run_text.h"

#define ROUNDS_QUICK 5
#define ROUNDS_FULL 21
#define SLICES 3        /* of a round */
#define FLOOR_STARTS 21 /* of a round, for each measure */
/* Some milliseconds of work: so much that starting and stamping it is a small part. */
#define LOOPS "2000000"
#define TIMEOUT_MS 10000
#define STEP_READINGS 10000

enum role { ROLE_FLOOR, ROLE_WORK };

static const char *const who_of[] = {[ROLE_FLOOR] = "floor", [ROLE_WORK] = "work"};

static void request(const struct calibrating_run *c, enum measure measure, enum role role,
                    const char *argv[4], struct run_observe *out)
{
    size_t n = 0;

    argv[n++] = c->program;
    argv[n++] = role == ROLE_WORK ? LOOPS : "0";
    if (measure == MEASURE_PROTOCOL)
        argv[n++] = FLOOR_PROTOCOL;
    argv[n] = NULL;
    *out = (struct run_observe){
        .measure = measure,
        .argv = argv,
        .env = c->env,
        .cwd = c->folder,
        .ready = measure == MEASURE_PROTOCOL ? FLOOR_READY : NULL,
        .go = measure == MEASURE_PROTOCOL ? FLOOR_GO : NULL,
        .done = measure == MEASURE_PROTOCOL ? FLOOR_DONE : NULL,
        .stdout_text = measure == MEASURE_PROCESS ? "" : NULL,
        .ready_timeout_ms = TIMEOUT_MS,
        .done_timeout_ms = TIMEOUT_MS,
        .cpus = c->cpus,
        .n_cpus = c->n_cpus,
        .pin_cpu = c->cpus[c->n_cpus - 1],
    };
}

static int failed(enum measure measure, enum role role, const struct run_observe *req,
                  const struct run_observation *o, struct err *e)
{
    const struct run_text_who who = {measure_name(measure), who_of[role], FLOOR_PROGRAM};
    struct err why = {0};

    (void)run_observe_text(&who, req, o, &why);
    return err_set(e, -EPROTO, "calibration.failed", "", "the calibration's program failed: %s",
                   why.text);
}

/* *o lives in the arena only while it is looked at: a calibration makes hundreds. */
static int observe(struct calibrating_run *c, enum measure measure, enum role role,
                   struct raw_observation *out, const char **left, struct err *e)
{
    CLEANUP(arena_deinit) struct arena scratch = {0};
    const char *argv[4];
    struct run_observation o;
    struct run_observe req;

    request(c, measure, role, argv, &req);
    int rc = run_observe_begin(c->run, &req, e);
    if (rc == 0) {
        (void)run_wait(c->run, -1);
        rc = run_observe_finish(c->run, &scratch, &o, e);
    }
    if (rc < 0)
        return rc;
    if (o.unremoved)
        *left = arena_strdup(c->arena, o.unremoved);
    if (strcmp(o.raw.outcome, "ok") != 0)
        return failed(measure, role, &req, &o, e);
    c->result.cpu = o.raw.cpu;
    c->result.fifo = o.raw.fifo;
    *out = o.raw;
    return 0;
}

/* Once each, before anything counts. */
static int warm_up(struct calibrating_run *c, const char **left, struct err *e)
{
    struct raw_observation o;
    int rc = 0;

    for (int m = 0; rc == 0 && m < CALIBRATION_MEASURES; m++) {
        rc = observe(c, (enum measure)m, ROLE_WORK, &o, left, e);
        if (rc == 0)
            rc = observe(c, (enum measure)m, ROLE_FLOOR, &o, left, e);
    }
    return rc;
}

/* A lane's sides are adjacent and take turns in going first, as in a plan. */
static int observe_group(struct calibrating_run *c, enum measure measure, const char **left,
                         struct err *e)
{
    struct calibration_measure *to = &c->result.measures[measure];
    struct raw_observation o;

    for (size_t i = 0; i < 2 * (size_t)CALIBRATION_GROUP_PAIRS; i++) {
        size_t pair = i / 2, at = to->pairs_ns.n + 2 * pair + (i + pair) % 2;
        int rc = observe(c, measure, ROLE_WORK, &o, left, e);
        if (rc < 0)
            return rc;
        to->pairs_ns.v[at] = o.elapsed_ns;
        to->pairs_cpu_ns.v[at] = o.interval_cpu_ns;
    }
    to->pairs_ns.n += 2 * (size_t)CALIBRATION_GROUP_PAIRS;
    to->pairs_cpu_ns.n = to->pairs_ns.n;
    return 0;
}

static int observe_floors(struct calibrating_run *c, const char **left, struct err *e)
{
    struct raw_observation o;

    for (size_t i = 0; i < (size_t)FLOOR_STARTS * CALIBRATION_MEASURES; i++) {
        enum measure measure = (enum measure)(i % CALIBRATION_MEASURES);
        struct calibration_values *to = &c->result.measures[measure].floor_ns;
        int rc = observe(c, measure, ROLE_FLOOR, &o, left, e);
        if (rc < 0)
            return rc;
        to->v[to->n++] = o.elapsed_ns;
    }
    return 0;
}

static int64_t clock_step_ns(void)
{
    int64_t least = 0, last = clock_mono_ns();

    for (int i = 0; i < STEP_READINGS; i++) {
        int64_t now = clock_mono_ns(), step = now - last;
        if (step > 0 && (least == 0 || step < least))
            least = step;
        last = now;
    }
    return least;
}

void calibrating_run_init(struct calibrating_run *c, enum calibration_form form)
{
    c->rounds = form == CALIBRATION_FULL ? ROUNDS_FULL : ROUNDS_QUICK;
    c->slice = 0;
    c->result = (struct calibration){.form = form,
                                     .version = AURABENCH_VERSION,
                                     .clock = clock_name(),
                                     .clock_step_ns = clock_step_ns()};
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        struct calibration_measure *to = &c->result.measures[m];
        size_t pairs = c->rounds * CALIBRATION_GROUP_PAIRS;
        to->measure = (enum measure)m;
        to->floor_ns.v = arena_array(c->arena, c->rounds * FLOOR_STARTS, sizeof(int64_t));
        to->pairs_ns.v = arena_array(c->arena, 2 * pairs, sizeof(int64_t));
        to->pairs_cpu_ns.v = arena_array(c->arena, 2 * pairs, sizeof(int64_t));
    }
}

size_t calibrating_run_slices(const struct calibrating_run *c)
{
    return c->rounds * SLICES;
}

int calibrating_run_slice(struct calibrating_run *c, const char **left, struct err *e)
{
    size_t part = c->slice % SLICES;
    int rc = c->slice == 0 ? warm_up(c, left, e) : 0;

    if (rc == 0)
        rc = part < CALIBRATION_MEASURES ? observe_group(c, (enum measure)part, left, e)
                                         : observe_floors(c, left, e);
    if (rc == 0)
        c->slice++;
    return rc;
}
