/* Inventories of random worlds, against the rules written down a second time, naively. */
#include "unit/unit.h"

#include "unit/core/prng.h"
#include "unit/core/worlds.h"

#define ROUNDS 3000

static int64_t random_ticks(struct prng *rng, int64_t before)
{
    switch (prng_below(rng, 8)) {
    case 0:
        return GONE;
    case 1:
        return UNREADABLE;
    case 2:
        return before / 2; /* a step back */
    default:
        return before + (int64_t)prng_below(rng, 26);
    }
}

static void random_world(struct world *w, struct prng *rng)
{
    int pid = 90;
    world_init(w);
    for (size_t n = prng_below(rng, 24); n > 0; n--) {
        pid += 1 + (int)prng_below(rng, 3);
        int ppid = prng_below(rng, 3) ? 1 : 90 + (int)prng_below(rng, 40);
        int64_t t0 = random_ticks(rng, 50);
        int64_t t1 = random_ticks(rng, t0 > 0 ? t0 : 0);
        int64_t t2 = random_ticks(rng, t1 > 0 ? t1 : 0);
        world_add(w, pid, ppid, "p", t0, t1, t2);
    }
    world_busy(w, (int64_t)prng_below(rng, 10), (int64_t)prng_below(rng, 10));
}

static const struct proc_sample *sample_at(const struct world *w, size_t snap, int pid)
{
    for (size_t i = 0; i < w->snaps[snap].n_procs; i++)
        if (w->procs[snap][i].pid == pid)
            return &w->procs[snap][i];
    return NULL;
}

/* What the rules say one process used in a window. */
static int64_t naive_ticks(const struct world *w, size_t window, int pid)
{
    const struct proc_sample *now = sample_at(w, window + 1, pid);
    if (!now || now->cpu_ticks < 0)
        return 0;
    for (size_t k = window + 1; k-- > 0;) {
        const struct proc_sample *was = sample_at(w, k, pid);
        if (was && was->cpu_ticks >= 0)
            return now->cpu_ticks > was->cpu_ticks ? now->cpu_ticks - was->cpu_ticks : 0;
    }
    for (size_t k = window + 1; k-- > 0;)
        if (sample_at(w, k, pid))
            return 0; /* it was there, unreadable */
    return now->cpu_ticks;
}

static bool naive_own(const struct world *w, int pid)
{
    for (size_t k = 3; k-- > 0;) {
        const struct proc_sample *p = sample_at(w, k, pid);
        if (!p)
            continue;
        for (int steps = 0; p && steps < 100; steps++) {
            if (p->pid == w->scope.self_pid)
                return true;
            const struct proc_sample *up = sample_at(w, k, p->ppid);
            if (up && up->start_ticks > p->start_ticks)
                return false;
            p = up;
        }
        return false;
    }
    return false;
}

static bool listed(const struct competitor *list, size_t n, int pid)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].pid == pid)
            return true;
    return false;
}

static void check_process(const struct world *w, const struct inventory *inv, int pid)
{
    bool sustained = naive_ticks(w, 0, pid) * 2 >= 25 && naive_ticks(w, 1, pid) * 2 >= 25;
    bool own = naive_own(w, pid);
    assert_int_equal(listed(inv->competitors, inv->n_competitors, pid), sustained && !own);
    if (own || sustained)
        assert_false(listed(inv->hints, inv->n_hints, pid));
}

static void check_numbers(const struct inventory *inv)
{
    assert_true(inv->n_hints <= 5);
    for (size_t win = 0; win < INVENTORY_WINDOWS; win++)
        assert_true(inv->aggregate_pct[win] >= 0);
    for (size_t i = 0; i < inv->n_hints; i++) {
        assert_int_equal(inv->hints[i].reasons, 0);
        assert_true(inv->hints[i].share_pct[0] + inv->hints[i].share_pct[1] > 0);
    }
    for (size_t i = 0; i < inv->n_competitors; i++) {
        assert_int_not_equal(inv->competitors[i].reasons, 0);
        assert_true(inv->competitors[i].share_pct[0] >= 0);
        assert_true(inv->competitors[i].share_pct[1] >= 0);
    }
}

static void random_worlds_are_judged_by_the_rules(void **state)
{
    struct prng rng = prng_seeded("random_worlds_are_judged_by_the_rules");
    static struct world w;
    for (int round = 0; round < ROUNDS; round++) {
        random_world(&w, &rng);
        struct inventory *inv = world_judge(&w);
        for (int pid = 90; pid < 170; pid++)
            check_process(&w, inv, pid);
        check_numbers(inv);
        bool unreadable = false;
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < w.snaps[k].n_procs; i++)
                unreadable |= w.procs[k][i].cpu_ticks < 0;
        assert_int_equal(inv->state == INVENTORY_PARTIAL, unreadable);
        if (!unreadable)
            assert_int_equal(inv->state == INVENTORY_BUSY, inv->n_competitors > 0);
        world_deinit(&w);
    }
}

static void more_noise_never_makes_a_host_quiet(void **state)
{
    struct prng rng = prng_seeded("more_noise_never_makes_a_host_quiet");
    static struct world w;
    for (int round = 0; round < ROUNDS; round++) {
        random_world(&w, &rng);
        enum inventory_state before = world_judge(&w)->state;
        world_busy(&w, (int64_t)prng_below(&rng, 30), (int64_t)prng_below(&rng, 30));
        w.snaps[2].forks += (int64_t)prng_below(&rng, 30);
        enum inventory_state after = world_judge(&w)->state;
        assert_true(before == INVENTORY_QUIET || after == before);
        world_deinit(&w);
    }
}

static void counters_at_their_limits_do_not_overflow(void **state)
{
    struct prng rng = prng_seeded("counters_at_their_limits_do_not_overflow");
    const int cpus[] = {0, 1};
    static struct world w;
    for (int round = 0; round < ROUNDS; round++) {
        random_world(&w, &rng);
        world_long(&w);
        w.scope.lane_cpus = cpus;
        w.scope.n_lane_cpus = 2;
        for (size_t k = 0; k < 4; k++) {
            for (size_t i = 0; i < w.snaps[k].n_procs; i++)
                w.procs[k][i].cpu_ticks = prng_below(&rng, 2) ? INT64_MAX : 0;
            w.snaps[k].busy_ticks = prng_below(&rng, 2) ? INT64_MAX : 0;
            w.snaps[k].forks = prng_below(&rng, 2) ? INT64_MAX : 0;
            w.cpu_ticks[k][0] = prng_below(&rng, 2) ? INT64_MAX : 0;
        }
        check_numbers(world_judge(&w));
        world_deinit(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_worlds_are_judged_by_the_rules),
        cmocka_unit_test(more_noise_never_makes_a_host_quiet),
        cmocka_unit_test(counters_at_their_limits_do_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
