/* Which repetitions others disturbed, whether they were run again, and what would have come out
 * with them. */
#include "base/mem.h"
#include "core/ledger/ledger_raw.h"
#include "report/number.h"
#include "report/sections.h"

#define NAMED_PCT 0.5 /* of a core: the share of it that disturbs a lane */

static const char *outcome_of(const struct replacement_count *count)
{
    if (count->as_observed)
        return "too few are left: figures as observed";
    return count->disturbed > 0 ? "replaced" : "none";
}

static void put_counts(const struct report *r)
{
    struct table t = {0};

    table_column(&t, "workload", ALIGN_LEFT, 0);
    table_column(&t, "clean", ALIGN_RIGHT, 0);
    table_column(&t, "disturbed", ALIGN_RIGHT, 0);
    table_column(&t, "not judged", ALIGN_RIGHT, 0);
    table_column(&t, "by", ALIGN_LEFT, 0);
    table_column(&t, "then", ALIGN_LEFT, 0);
    for (size_t w = 0; w < r->raw->n_workloads; w++) {
        const struct replacement_count *count = &r->s->repetitions[w];
        char reasons[DISTURBANCES_TEXT];
        if (count->disturbed == 0)
            continue;
        table_put(&t, r->raw->workloads[w].name);
        table_cell(&t, STYLE_PLAIN, "%d", count->clean);
        table_cell(&t, STYLE_PLAIN, "%d", count->disturbed);
        table_cell(&t, STYLE_PLAIN, "%d", count->unjudged);
        table_put(&t, disturbances_text(replacement_reasons(r->raw, (int)w), reasons));
        table_put(&t, outcome_of(count));
    }
    page_table(r->page, &t);
}

static void put_observed(const struct report *r)
{
    for (size_t i = 0; i < r->s->n_comparisons; i++) {
        const struct comparison *c = &r->s->comparisons[i];
        char chosen[NUMBER_MAX], observed[NUMBER_MAX];
        if (!c->has_observed || !lookup_has_verdict(r, c))
            continue;
        CLEANUP(mem_freep) char *subject = lookup_subject(c);
        page_item(r->page, "%s: as observed ratio %s, %s; without the disturbed repetitions %s, %s",
                  subject, number_ratio(observed, estimate_ratio(&c->observed)),
                  verdict_name(c->observed.verdict), number_ratio(chosen, estimate_ratio(&c->wall)),
                  verdict_name(c->wall.verdict));
    }
}

static double latest_pct(const struct competitor *c)
{
    double a = c->share_pct[0], b = c->share_pct[1];

    return a > b ? a : b;
}

/* The ledger says how much, not who; the inventory right behind it may have met them. */
static size_t put_named(const struct report *r, const struct competitor *list, size_t n)
{
    size_t named = 0;

    for (size_t i = 0; i < n; i++) {
        if (list[i].pid == 0 || !(latest_pct(&list[i]) >= NAMED_PCT))
            continue;
        char share[NUMBER_MAX];
        page_item(r->page, "right after timing %s (pid %d) was running, at %s of a core",
                  list[i].command, list[i].pid, number_share(share, latest_pct(&list[i])));
        named++;
    }
    return named;
}

static void put_culprits(const struct report *r)
{
    const struct inventory *inv = r->raw->phases[PHASE_AFTER_TIMING].inventory;

    if (!inv)
        return;
    size_t named = put_named(r, inv->competitors, inv->n_competitors);
    named += put_named(r, inv->hints, inv->n_hints);
    if (named == 0)
        page_item(r->page, "whoever it was did not run any more when the inventory was taken "
                           "after timing");
}

/* What stands beside every run of a lane is the lane's own work in the kernel, as a rule. It is
 * told of where it makes the limit twice as wide and more. */
static const char *beside(struct arena *a, const struct report *r, const struct warmups *warmups,
                          const struct plan_step *step)
{
    const struct raw_workload *workload = &r->raw->workloads[step->workload];
    const struct raw_lane *lane = &workload->lanes[step->lane];
    int64_t beside_ns = warmups_of(warmups, step, lane->cpus).near_ns;
    char had[NUMBER_MAX], allowed[NUMBER_MAX];
    struct ledger_limits limits;

    ledger_limits_of(r->raw, warmups, step, &limits);
    if (beside_ns <= limits.near_ns / 2)
        return NULL;
    return arena_printf(a,
                        "%s %s: every warmup had %s ms of others' CPU time near the lane, as a "
                        "rule the kernel's for the lane; up to %s ms disturb nothing",
                        workload->name, lane->name, number_ms(had, (double)beside_ns),
                        number_ms(allowed, (double)limits.near_ns));
}

/* A sentence for each lane that has such. */
static struct args all_beside(struct arena *a, const struct report *r)
{
    struct warmups warmups;
    size_t lanes = 0;

    warmups_from(a, r->raw, &warmups);
    for (size_t w = 0; w < r->raw->n_workloads; w++)
        lanes += r->raw->workloads[w].n_lanes;
    struct args out = {arena_array(a, lanes, sizeof *out.v), 0};
    for (size_t w = 0; w < r->raw->n_workloads; w++)
        for (size_t lane = 0; lane < r->raw->workloads[w].n_lanes; lane++) {
            const struct plan_step step = {.workload = (int)w, .lane = (int)lane};
            const char *sentence = beside(a, r, &warmups, &step);
            if (sentence)
                out.v[out.n++] = sentence;
        }
    return out;
}

void section_disturbances(const struct report *r)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct args sentences = all_beside(&a, r);
    int disturbed = 0;

    for (size_t w = 0; w < r->raw->n_workloads; w++)
        disturbed += r->s->repetitions[w].disturbed;
    if (disturbed == 0 && sentences.n == 0)
        return;
    page_section(r->page, "Disturbances", "repetitions that the ledger names, by workload");
    if (disturbed > 0) {
        put_counts(r);
        put_observed(r);
        put_culprits(r);
    }
    for (size_t i = 0; i < sentences.n; i++)
        page_item(r->page, "%s", sentences.v[i]);
}
