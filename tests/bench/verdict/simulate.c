/* Simulated comparisons of two programs, judged by this project's own way and by the rules that
 * others use, on the same data: bench-verdict-simulate CONDITION PERCENT COMPARISONS SEED.
 *
 * The model is world.h's; the program under test needs PERCENT more than the 30 ms of the other
 * one. Each comparison is of a host of its own, with a calibration of its own. Prints what
 * tally_print() prints.
 */
#include "base/mem.h"
#include "proto/doc/documents.h"
#include "tests/bench/bench.h"
#include "tests/bench/verdict/judges.h"
#include "tests/bench/verdict/trial.h"
#include "tests/bench/verdict/world.h"

#define WORK_NS 30e6
#define COMPARISONS_MAX 1000000
#define SEED_MAX 1000000000

struct simulation {
    struct world world;
    double factor[TRIAL_SIDES];
};

static void observe(void *context, struct arena *a, const struct plan_step *step,
                    struct raw_observation *out)
{
    struct simulation *s = context;

    world_observe(&s->world, WORK_NS * s->factor[step->side], out);
}

static void compare(const struct policy *policy, enum noise noise, double change, uint64_t seed,
                    struct judged *out)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct simulation s = {.factor = {1, 1 + change}};
    const struct trial trial = {.policy = policy,
                                .sources = &world_sources,
                                .calibration = world_calibrate(&a, ~seed, noise, "simulated"),
                                .cores = WORLD_CORES,
                                .context = &s,
                                .observe = observe};

    world_init(&s.world, seed, noise);
    judges_ask(&a, trial_make(&a, &trial), out);
}

static double percent(const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= 0 && v <= 1000))
        bench_fail(text, "is no change in percent, 0 to 1000");
    return v / 100;
}

int main(int argc, char **argv)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct policy *policy;
    struct tally tally = {0};
    struct err e = {0};

    if (argc != 5)
        bench_fail("bench-verdict-simulate", "say CONDITION PERCENT COMPARISONS SEED");
    int noise = noise_parse(argv[1]);
    if (noise < 0)
        bench_fail(argv[1], "is no condition: quiet, burner, same, always or drift");
    double change = percent(argv[2]);
    int comparisons = bench_count(argv[3], COMPARISONS_MAX);
    uint64_t seed = (uint64_t)bench_count(argv[4], SEED_MAX);
    BENCH_OK(policy_shipped(&a, "standard", &policy, &e), &e);
    for (uint64_t t = 0; t < (uint64_t)comparisons; t++) {
        struct judged judged;
        compare(policy, (enum noise)noise, change, seed * 1000003 + t * 7919 + (uint64_t)noise,
                &judged);
        tally_add(&tally, &judged);
    }
    tally_print(&tally, "");
    return 0;
}
