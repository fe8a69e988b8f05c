/* Real comparisons of two programs whose truth is known, judged by this project's own way and by
 * the rules that others use, on the same observations:
 *   bench-verdict-real COMPARISONS SEED WORK_US GROUPS RUNNER FLOOR BURNER
 *
 * The program is aurabench-floor (FLOOR), pinned, which does a number of steps of arithmetic
 * between GO and DONE: so many as take WORK_US of CPU time here, and on the side after so many, or
 * exactly 5 % more. The runner is the daemon's own, driven by the daemon's own code, and so is the
 * calibration of GROUPS groups of pairs that comes first, while nothing burns. Conditions, each
 * with a burner (burner.c) of its own for every comparison:
 *   quiet   none.
 *   burner  30 % of the time, half of its bursts on the lane's core.
 *   same    30 % of the time, all bursts on the lane's core.
 *   always  all the time, on the lane's core.
 * Conditions and changes take turns, so that whatever else the host does meets all of them.
 *
 * Prints "noise_floor F" and "cpu_noise_floor F" (as fractions), "work NS" (CPU time that the side
 * before needs), and for each condition and change what tally_print() prints behind "quiet.5.".
 */
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/cpus.h"
#include "proto/doc/documents.h"
#include "run/floor/floor.h"
#include "run/run.h"
#include "run/run_env.h"
#include "sched/calibrating_run.h"
#include "tests/bench/bench.h"
#include "tests/bench/verdict/judges.h"
#include "tests/bench/verdict/trial.h"

#define COMPARISONS_MAX 10000
#define SEED_MAX 100000
#define WORK_US_MAX 1000000
#define TIMEOUT_MS 60000
#define REST_US 10000  /* between repetitions, as the daemon does (sched/steps_measure.c) */
#define PROBE 2000000L /* steps of a run that tells how long one takes */
#define PROBES 7
#define PART 20 /* 5 % is one part of so many */
#define STEPS_BYTES 24

static const struct {
    const char *name;
    int busy_pct, near_pct; /* busy 0: no burner */
} conditions[] = {{"quiet", 0, 0}, {"burner", 30, 50}, {"same", 30, 100}, {"always", 100, 100}};
static const int changes[] = {0, 5};

struct real {
    struct arena arena;
    struct run *run;
    const struct policy *policy;
    const struct calibration *calibration;
    const char *floor, *burner, *folder;
    const char *const *env;
    const int *cpus;
    size_t n_cpus;
    int lane_cpu, other_cpu;
    int *near;
    size_t n_near;
    char steps[TRIAL_SIDES][STEPS_BYTES]; /* as its argument, of one length on both sides */
};

extern char **environ;

/* ---- the host */

static bool contains(const int *cpus, size_t n, int cpu)
{
    for (size_t i = 0; i < n; i++)
        if (cpus[i] == cpu)
            return true;
    return false;
}

/* The lane's is the last one, as the scheduler has it. The other one shares no core with it, where
 * there is such a one. */
static void choose_cpus(struct real *r)
{
    int *cpus;

    host_usable_cpus(&r->arena, &cpus, &r->n_cpus);
    r->cpus = cpus;
    if (r->n_cpus < 2)
        bench_fail("the CPUs that may be used", "two CPUs are needed, one for the lane");
    r->lane_cpu = cpus[r->n_cpus - 1];
    r->other_cpu = cpus[0];
    host_cpus_with_siblings(&r->arena, &r->lane_cpu, 1, &r->near, &r->n_near);
    for (size_t i = 0; i < r->n_cpus; i++)
        if (!contains(r->near, r->n_near, cpus[i])) {
            r->other_cpu = cpus[i];
            break;
        }
}

static void calibrate(struct real *r, int groups)
{
    struct calibrating_run *c = arena_alloc(&r->arena, sizeof *c);
    const char *left = NULL;
    struct err e = {0};

    *c = (struct calibrating_run){.run = r->run,
                                  .arena = &r->arena,
                                  .program = r->floor,
                                  .folder = r->folder,
                                  .env = r->env,
                                  .cpus = r->cpus,
                                  .n_cpus = r->n_cpus};
    calibrating_run_init(c, CALIBRATION_QUICK);
    if ((size_t)groups > c->rounds)
        bench_fail("GROUPS", "a quick calibration has not so many");
    c->rounds = (size_t)groups;
    while (c->slice < calibrating_run_slices(c)) {
        BENCH_OK(calibrating_run_slice(c, &left, &e), &e);
        (void)usleep(REST_US);
    }
    c->result.id = c->result.boot = "this one";
    r->calibration = &c->result;
}

static void print_calibration(struct real *r)
{
    struct calibration_figures f;

    calibration_figures(&r->arena, r->calibration, MEASURE_PROTOCOL, &f);
    if (isnan(f.noise_floor) || isnan(f.cpu_noise_floor))
        bench_fail("the calibration", "it gives no noise floor on this host");
    (void)printf("noise_floor %.9f\ncpu_noise_floor %.9f\n", f.noise_floor, f.cpu_noise_floor);
}

/* ---- one observation */

static void observe_steps(struct real *r, struct arena *a, const char *steps,
                          struct raw_observation *out)
{
    const char *const argv[] = {r->floor, steps, FLOOR_PROTOCOL, NULL};
    const struct run_observe req = {.measure = MEASURE_PROTOCOL,
                                    .argv = argv,
                                    .env = r->env,
                                    .cwd = r->folder,
                                    .ready = FLOOR_READY,
                                    .go = FLOOR_GO,
                                    .done = FLOOR_DONE,
                                    .ready_timeout_ms = TIMEOUT_MS,
                                    .done_timeout_ms = TIMEOUT_MS,
                                    .cpus = r->cpus,
                                    .n_cpus = r->n_cpus,
                                    .pin_cpu = r->lane_cpu,
                                    .near_cpus = r->near,
                                    .n_near = r->n_near};
    struct run_observation o;
    struct err e = {0};

    BENCH_OK(run_observe_begin(r->run, &req, &e), &e);
    (void)run_wait(r->run, -1); /* one that is lost is told by what follows */
    BENCH_OK(run_observe_finish(r->run, a, &o, &e), &e);
    if (strcmp(o.raw.outcome, "ok") != 0)
        bench_fail("the observation", o.raw.outcome);
    *out = o.raw;
}

static void observe(void *context, struct arena *a, const struct plan_step *step,
                    struct raw_observation *out)
{
    struct real *r = context;

    if (step->position == 0)
        (void)usleep(REST_US);
    observe_steps(r, a, r->steps[step->side], out);
}

/* How many steps take work_ns: by the fastest of some runs, by their CPU time, so that a neighbour
 * makes the work no smaller. Such a number that one twentieth of it is whole. */
static long steps_of(struct real *r, double work_ns)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    int64_t least_ns = INT64_MAX;
    char probe[STEPS_BYTES];

    (void)snprintf(probe, sizeof probe, "%ld", PROBE);
    for (int i = 0; i < PROBES; i++) {
        struct raw_observation o;
        observe_steps(r, &a, probe, &o);
        if (o.interval_cpu_ns > 0 && o.interval_cpu_ns < least_ns)
            least_ns = o.interval_cpu_ns;
    }
    if (least_ns == INT64_MAX)
        bench_fail("the CPU time of the lane", "it cannot be read on this host");
    long parts = lround(work_ns / (double)least_ns * PROBE / PART);
    long steps = PART * (parts > 0 ? parts : 1);
    (void)printf("work %.0f\n", (double)steps / PROBE * (double)least_ns);
    return steps;
}

static void set_steps(struct real *r, long steps, int change_pct)
{
    const long of_side[TRIAL_SIDES] = {
        [TRIAL_BEFORE] = steps, [TRIAL_AFTER] = steps + steps / PART * change_pct / 5};

    for (int side = 0; side < TRIAL_SIDES; side++)
        (void)snprintf(r->steps[side], STEPS_BYTES, "%014ld", of_side[side]);
}

/* ---- the burner */

static pid_t burner_start(const struct real *r, size_t condition, int seed)
{
    char words[5][STEPS_BYTES];
    const int numbers[] = {r->lane_cpu, r->other_cpu, conditions[condition].busy_pct,
                           conditions[condition].near_pct, seed};
    char *argv[] = {(char *)r->burner, words[0], words[1], words[2], words[3], words[4], NULL};
    pid_t pid = -1;

    if (conditions[condition].busy_pct == 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        (void)snprintf(words[i], sizeof words[i], "%d", numbers[i]);
    if (posix_spawn(&pid, r->burner, NULL, NULL, argv, environ) != 0)
        bench_fail(r->burner, "cannot be started");
    return pid;
}

static void burner_stop(const struct real *r, pid_t pid)
{
    int status = 0;

    if (pid < 0)
        return;
    (void)kill(pid, SIGKILL);
    if (waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        bench_fail(r->burner, "it ended before the comparison did");
}

/* ---- all of it */

static void compare(struct real *r, size_t condition, int seed, struct tally *tally)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    const struct trial trial = {.policy = r->policy,
                                .sources = run_sources(r->run),
                                .calibration = r->calibration,
                                .cores = (int)sysconf(_SC_NPROCESSORS_ONLN),
                                .context = r,
                                .observe = observe};
    struct judged judged;

    pid_t burner = burner_start(r, condition, seed);
    const struct raw *raw = trial_make(&a, &trial);
    burner_stop(r, burner);
    judges_ask(&a, raw, &judged);
    tally_add(tally, &judged);
}

static void compare_all(struct real *r, long steps, int comparisons, int seed)
{
    struct tally tallies[ARRAY_LEN(conditions)][ARRAY_LEN(changes)] = {0};
    char prefix[64];

    for (int i = 0; i < comparisons; i++)
        for (size_t c = 0; c < ARRAY_LEN(conditions); c++)
            for (size_t k = 0; k < ARRAY_LEN(changes); k++) {
                set_steps(r, steps, changes[k]);
                compare(r, c, seed++, &tallies[c][k]);
            }
    for (size_t c = 0; c < ARRAY_LEN(conditions); c++)
        for (size_t k = 0; k < ARRAY_LEN(changes); k++) {
            (void)snprintf(prefix, sizeof prefix, "%s.%d.", conditions[c].name, changes[k]);
            tally_print(&tallies[c][k], prefix);
        }
}

static void prepare(struct real *r, char **paths)
{
    struct policy *policy;
    struct err e = {0};
    char *folder = realpath(".", NULL);

    if (!folder)
        bench_fail("the current folder", "it cannot be named");
    r->folder = arena_strdup(&r->arena, folder);
    free(folder);
    r->floor = paths[1];
    r->burner = paths[2];
    choose_cpus(r);
    BENCH_OK(policy_shipped(&r->arena, "standard", &policy, &e), &e);
    r->policy = policy;
    r->env = run_environment(&r->arena, policy->path, r->folder, NULL, 0, NULL, 0);
    BENCH_OK(run_new(paths[0], &r->run, &e), &e);
}

int main(int argc, char **argv)
{
    struct real r = {0};

    if (argc != 8)
        bench_fail("bench-verdict-real", "say COMPARISONS SEED WORK_US GROUPS RUNNER FLOOR BURNER");
    int comparisons = bench_count(argv[1], COMPARISONS_MAX);
    int seed = bench_count(argv[2], SEED_MAX);
    double work_ns = 1e3 * bench_count(argv[3], WORK_US_MAX);
    int groups = bench_count(argv[4], COMPARISONS_MAX);
    prepare(&r, argv + 5);
    calibrate(&r, groups);
    print_calibration(&r);
    compare_all(&r, steps_of(&r, work_ns), comparisons, seed);
    run_free(r.run);
    arena_deinit(&r.arena);
    return 0;
}
