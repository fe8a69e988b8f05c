/* Phases: inventories, conditions and facts read back equal; what was not taken never passes. */
#include "tests/unit/store/random.h"

#include <errno.h>

#define COMPETITOR_TEXTS(X) X(command) X(args) X(cwd)
#define INVENTORY_REALS(X) X(aggregate_pct[0]) X(aggregate_pct[1]) X(forks_per_second)

static struct competitor *fill_competitors(struct unit *u, size_t n, bool hints)
{
    struct competitor *list = arena_array(&u->arena, n, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        struct competitor *x = &list[i];
        COMPETITOR_TEXTS(FILL_TEXT_OR_NULL)
        x->pid = (int)rnd(40000);
        x->ppid = (int)rnd(40000);
        x->uid = rnd_int64();
        x->start_ticks = rnd_int64();
        x->share_pct[0] = rnd_real();
        x->share_pct[1] = rnd_real();
        x->reasons = hints ? 0 : 1 + (unsigned)rnd(31);
    }
    return list;
}

static void same_competitors(const struct competitor *in, size_t n_in, const struct competitor *out,
                             size_t n_out)
{
    assert_int_equal(n_in, n_out);
    for (size_t i = 0; i < n_in; i++) {
        const struct competitor *x = &in[i], *y = &out[i];
        COMPETITOR_TEXTS(SAME_TEXT)
        SAME_INT(pid)
        SAME_INT(ppid)
        SAME_INT(uid)
        SAME_INT(start_ticks)
        SAME_REAL(share_pct[0])
        SAME_REAL(share_pct[1])
        SAME_INT(reasons)
    }
}

static struct inventory *fill_inventory(struct unit *u, enum phase phase)
{
    struct inventory *x = arena_alloc(&u->arena, sizeof *x);
    x->phase = phase;
    x->wall_ms = (int64_t)rnd(1u << 30);
    x->window_ns[0] = (int64_t)rnd(1u << 30);
    x->window_ns[1] = (int64_t)rnd(1u << 30);
    INVENTORY_REALS(FILL_REAL)
    x->n_procs = (size_t)rnd(5000);
    x->state = (enum inventory_state)rnd(3);
    x->partial_reason = rnd_text_or_null(u);
    x->n_competitors = (size_t)rnd(20);
    x->competitors = fill_competitors(u, x->n_competitors, false);
    x->n_hints = (size_t)rnd(6);
    x->hints = fill_competitors(u, x->n_hints, true);
    return x;
}

static void same_inventory(const struct inventory *x, const struct inventory *y)
{
    SAME_INT(phase)
    SAME_INT(wall_ms)
    SAME_INT(window_ns[0])
    SAME_INT(window_ns[1])
    INVENTORY_REALS(SAME_REAL)
    SAME_INT(n_procs)
    SAME_INT(state)
    SAME_TEXT(partial_reason)
    same_competitors(x->competitors, x->n_competitors, y->competitors, y->n_competitors);
    same_competitors(x->hints, x->n_hints, y->hints, y->n_hints);
}

static void fill_judgement(struct unit *u, struct phase_record *r)
{
    r->facts.wall_ms = (int64_t)rnd(1u << 30);
    for (int i = 0; i < COND_COUNT; i++)
        r->conditions[i] =
            (struct condition_result){(enum condition)i, (enum tri)rnd(4), (enum rule_mode)rnd(3),
                                      rnd_text_or_null(u), rnd_text_or_null(u)};
    for (int i = 0; i < FACT_COUNT; i++)
        r->facts.facts[i] = (struct fact){(enum fact_state)rnd(3), rnd_int64(), rnd_text_or_null(u),
                                          rnd_text_or_null(u)};
}

static void same_judgement(const struct phase_record *in, const struct phase_record *out)
{
    assert_int_equal(in->facts.wall_ms, out->facts.wall_ms);
    for (int i = 0; i < COND_COUNT; i++) {
        const struct condition_result *x = &in->conditions[i], *y = &out->conditions[i];
        SAME_INT(condition)
        SAME_INT(status)
        SAME_INT(mode)
        SAME_TEXT(seen)
        SAME_TEXT(needed)
    }
    for (int i = 0; i < FACT_COUNT; i++) {
        const struct fact *x = &in->facts.facts[i], *y = &out->facts.facts[i];
        SAME_INT(state)
        SAME_INT(value)
        SAME_TEXT(text)
        SAME_TEXT(source)
    }
}

static void phases_read_back_equal(void **ctx)
{
    struct unit *u = *ctx;
    struct phase_record in[PHASE_COUNT] = {0};
    struct raw raw = {0};
    const char *attempt = unit_attempt(u);
    for (int p = 0; p < PHASE_COUNT; p++) {
        fill_judgement(u, &in[p]);
        in[p].inventory = fill_inventory(u, (enum phase)p);
        ok(u, store_put_phase(u->s, attempt, (enum phase)p, &in[p], &u->e));
    }
    ok(u, store_load_phases(u->s, attempt, &u->arena, &raw, &u->e));
    for (int p = 0; p < PHASE_COUNT; p++) {
        assert_non_null(raw.phases[p].inventory);
        same_inventory(in[p].inventory, raw.phases[p].inventory);
        same_judgement(&in[p], &raw.phases[p]);
    }
}

static void a_phase_not_taken_is_unknown_and_never_passes(void **ctx)
{
    struct unit *u = *ctx;
    struct raw raw = {0};
    struct phase_record in = {0};
    const char *attempt = unit_attempt(u);
    fill_judgement(u, &in); /* facts, but no inventory */
    ok(u, store_put_phase(u->s, attempt, PHASE_BEFORE_BUILD, &in, &u->e));
    ok(u, store_load_phases(u->s, attempt, &u->arena, &raw, &u->e));
    assert_null(raw.phases[PHASE_BEFORE_BUILD].inventory);
    same_judgement(&in, &raw.phases[PHASE_BEFORE_BUILD]);
    assert_null(raw.phases[PHASE_AFTER_TIMING].inventory);
    for (int i = 0; i < COND_COUNT; i++) {
        assert_int_equal(raw.phases[PHASE_AFTER_TIMING].conditions[i].condition, i);
        assert_int_equal(raw.phases[PHASE_AFTER_TIMING].conditions[i].status, TRI_UNKNOWN);
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(phases_read_back_equal),
        T(a_phase_not_taken_is_unknown_and_never_passes),
    };
    return cmocka_run_group_tests(tests, start_seed, NULL);
}
