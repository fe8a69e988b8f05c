/* The plan: every step, by name for people and by index for struct plan. */
#include <errno.h>

#include "base/mem.h"
#include "store/rows.h"

WORDS(obs_kind, obs_kind);

#define STEP(column, m) F_AS(struct named_step, step.m, column)

/* A step with the names that its indexes mean. */
struct named_step {
    struct plan_step step;
    const char *workload, *lane, *side;
};

static const struct field step_fields[] = {
    STEP("seq", seq),
    STEP("workload_index", workload),
    STEP("lane_index", lane),
    STEP("side_index", side),
    STEP("repetition", repetition),
    STEP("position", position),
    F_WORD_AS(struct named_step, step.kind, "kind", obs_kind),
    F_OPT_AS(struct named_step, step.replaces, "replaces"),
    F(struct named_step, workload),
    F(struct named_step, lane),
    F(struct named_step, side),
};

static bool below(int index, size_t n)
{
    return index >= 0 && (size_t)index < n;
}

static int name_step(const struct plan_step *step, const struct suite *suite,
                     const char *const *sides, size_t n_sides, struct named_step *out,
                     struct err *e)
{
    const struct workload *w =
        below(step->workload, suite->n_workloads) ? &suite->workloads[step->workload] : NULL;
    if (!w || !below(step->lane, w->n_lanes) || !below(step->side, n_sides))
        return err_set(e, -EINVAL, "store.bad_plan", "plan",
                       "step %d of the plan names a workload, lane or side that the suite lacks",
                       step->seq);
    *out = (struct named_step){*step, w->name, w->lanes[step->lane].name, sides[step->side]};
    return 0;
}

static int add_step(struct store *s, const char *attempt, const struct named_step *step,
                    struct err *e)
{
    static const char SQL[] =
        "INSERT INTO plan_steps (attempt, seq, workload_index, lane_index, side_index, repetition,"
        " position, kind, replaces, workload, lane, side) VALUES (:attempt, :seq, :workload_index,"
        " :lane_index, :side_index, :repetition, :position, :kind, :replaces, :workload, :lane,"
        " :side)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_bind(&q, step_fields, ARRAY_LEN(step_fields), step);
    return query_run(&q, e);
}

int store_put_plan(struct store *s, const char *attempt, const struct plan *plan, size_t from,
                   const struct suite *suite, const char *const *sides, size_t n_sides,
                   struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    for (size_t i = from; i < plan->n && rc == 0; i++) {
        struct named_step step;
        rc = name_step(&plan->steps[i], suite, sides, n_sides, &step, e);
        if (rc == 0)
            rc = add_step(s, attempt, &step, e);
    }
    return tx_end(s, rc, e);
}

static const struct field plan_fields[] = {
    F(struct plan_step, seq),
    F_AS(struct plan_step, workload, "workload_index"),
    F_AS(struct plan_step, lane, "lane_index"),
    F_AS(struct plan_step, side, "side_index"),
    F(struct plan_step, repetition),
    F(struct plan_step, position),
    F_WORD(struct plan_step, kind, obs_kind),
    F_OPT(struct plan_step, replaces),
};

int store_load_plan(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                    struct err *e)
{
    static const char SQL[] = "SELECT seq, workload_index, lane_index, side_index, repetition,"
                              " position, kind, replaces FROM plan_steps WHERE attempt = :attempt"
                              " ORDER BY seq";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    raw->plan.steps = query_all(&q, plan_fields, ARRAY_LEN(plan_fields), sizeof(struct plan_step),
                                a, &raw->plan.n);
    return query_end(&q, e);
}
