#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_calibration.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/documents.h"

#define VALUE_VERDICT "value_verdict"

/* Each figure of the document by the name of its member, and the rule it follows. */
static const struct {
    const char *figure, *rule;
} rules[] = {
    {"median_ns", "mean of the two middle values for even n"},
    {"mad_ns", "median of the absolute deviations from the median, unscaled"},
    {"p95_ns", "nearest rank: the value at rank ceil(0.95 n)"},
    {"best_ns", "minimum"},
    {"total_ns", "sum of the samples used"},
    {"per_operation", "figures of wall time / the operations between GO and DONE; coarse: the "
                      "timer's step is more than 1 % of the median from GO to DONE"},
    {"startup_adjusted", "median of lane minus startup lane of the same repetition, positive "
                         "differences only; beside it the median of all differences"},
    {"excess_ns", "median minus the declared wait"},
    {"ratio_of_medians", "median of the subject / median of the reference"},
    {"paired_median_ratio", "median of subject / reference of the same repetition"},
    {"shift_ratio", "sides that ran one after the other: median of all ratios of a subject's value "
                    "to a reference's (Hodges-Lehmann on logarithms)"},
    {"interval", "pairs: order statistics of the sign test; unpaired sides: ordered ratios by the "
                 "null distribution of the Mann-Whitney U; the narrowest symmetric pair of ranks "
                 "with exact coverage of at least 95 %"},
    {"verdict", "the interval against the margin in force: the policy's, or for unpaired sides the "
                "largest bound_pct of a control; and against the noise floor, where it is larger"},
    {"noise_floor", "one program against itself: of groups of 11 pairs, 95th percentile by nearest "
                    "rank of max(p, 1/p) - 1, p the group's median ratio"},
    {"floor_share", "of a median: the median of a program that does nothing / it"},
    {"resolution_ns", "100 times the MAD of a program that does nothing, or of the clock's step"},
    {"repetitions", "of a workload: disturbed ones run again at the end, at most max(5, n) times; "
                    "figures are of the first n that were not disturbed, and of the planned ones "
                    "where fewer are left"},
    {"observed", "the ratio of wall time over the planned repetitions, disturbed or not"},
    {"resolvable", "smallest change that this run could have resolved, as a fraction"},
    {"values", "of figures that are no times: n, median, smallest, largest and sum of the "
               "repetitions that count; exact: the same in each of them"},
    {VALUE_VERDICT, "both sides exact: EQUAL, MORE or LESS, with the difference subject - "
                    "reference; else INEXACT, and only the medians are compared"},
    {"share_pct",
     "samples of a category, or of none, in all repetitions that count / all that were "
     "not excluded, in percent; they make 100"},
    {"change_pct", "(subject - reference) / reference of the medians, in percent"},
    {"excess_ratio", "the ratio, by the same rule, of the excesses over the declared wait"},
    {"drift_pct", "(after - before) / before of a control's medians, in percent"},
    {"bound_pct", "sides that ran one after the other: how far a control may have drifted, the far "
                  "end of the interval of its shift_ratio"},
};

/* In place of the one above where a comparison has an estimate. */
#define ESTIMATES_RULE                                                                             \
    "both sides exact: EQUAL, MORE or LESS, with the difference subject - reference; else by "     \
    "`estimate`, the ratio of the same repetition as of times: MORE or LESS where its interval "   \
    "lies beyond the margin, UNRESOLVED where it does not, as no noise floor is known of values; " \
    "INEXACT where it has no interval"
#define SAMPLES_RULE                                                                               \
    "all samples of the repetitions that count: n, median, p99 (nearest rank: the value at rank "  \
    "ceil(0.99 n)), largest and sum; p99_max: the bound, of lanes that are no controls"
#define SCALING_RULE                                                                                \
    "median of lane / one-task lane of the same repetition; MET or MISSED where the lanes have as " \
    "many CPUs as tasks, every repetition has both, what was disturbed was replaced, the one-task " \
    "lane computed for 90 % of its time, and ratio and interval are on one side of max_ratio"

static bool has_samples(const struct summary *s)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].n_samples > 0)
            return true;
    return false;
}

static bool has_estimates(const struct summary *s)
{
    for (size_t i = 0; i < s->n_value_comparisons; i++)
        if (s->value_comparisons[i].has_estimate)
            return true;
    return false;
}

static const char *rule_of(size_t index, const struct summary *s)
{
    bool is_other = strcmp(rules[index].figure, VALUE_VERDICT) == 0 && has_estimates(s);
    return is_other ? ESTIMATES_RULE : rules[index].rule;
}

/* The last two, as the rule of estimates, only where there is such a figure: reports without keep
 * their bytes. */
static void rules_encode(struct json_out *o, const struct summary *s)
{
    json_begin(o, "rules");
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        json_put_str(o, rules[i].figure, rule_of(i, s));
    if (has_samples(s))
        json_put_str(o, "samples", SAMPLES_RULE);
    if (s->n_scaling > 0)
        json_put_str(o, "scaling", SCALING_RULE);
    json_end(o);
}

/* ---- rows */

static void figures_encode(struct json_out *o, const char *key, const struct figures *f)
{
    json_begin(o, key);
    json_put_int(o, "n", (int64_t)f->n);
    json_put_num(o, "median_ns", f->median_ns);
    json_put_num(o, "mad_ns", f->mad_ns);
    json_put_int_or_null(o, "p95_ns", f->p95_ns);
    json_put_int_or_null(o, "best_ns", f->best_ns);
    json_put_int_or_null(o, "total_ns", f->total_ns);
    json_end(o);
}

static void adjusted_encode(struct json_out *o, const struct row *r)
{
    if (r->adjusted_n == 0) {
        json_put_null(o, "startup_adjusted");
        return;
    }
    json_begin(o, "startup_adjusted");
    json_put_num(o, "median_ns", r->startup_adjusted_ns);
    json_put_int(o, "valid_pairs", (int64_t)r->adjusted_valid);
    json_put_int(o, "pairs", (int64_t)r->adjusted_n);
    json_put_num(o, "median_of_all_ns", r->adjusted_all_ns);
    json_put_str(o, "undefined",
                 r->adjusted_valid ? NULL : "no repetition has a positive difference");
    json_end(o);
}

static void per_operation_encode(struct json_out *o, const struct per_operation *p)
{
    if (p->operations == 0) {
        json_put_null(o, "per_operation");
        return;
    }
    json_begin(o, "per_operation");
    json_put_num(o, "median_ns", p->median_ns);
    json_put_num(o, "mad_ns", p->mad_ns);
    json_put_num(o, "p95_ns", p->p95_ns);
    json_put_num(o, "best_ns", p->best_ns);
    json_put_num(o, "timer_step_ns", p->timer_step_ns);
    json_put_bool(o, "coarse", p->coarse);
    json_end(o);
}

static void samples_encode(struct json_out *o, const struct row *r)
{
    json_begin_array(o, "samples");
    for (size_t i = 0; i < r->n_samples; i++) {
        const struct sample_figures *f = &r->samples[i];
        json_begin(o, NULL);
        json_put_str(o, "name", f->name);
        json_put_str(o, "unit", sample_unit_name(f->unit));
        json_put_int(o, "n", (int64_t)f->n);
        json_put_num(o, "median", f->median);
        json_put_int_or_null(o, "p99", f->p99);
        json_put_int_or_null(o, "max", f->max);
        json_put_int_or_null(o, "total", f->total);
        json_put_int_or_null(o, "p99_max", f->p99_max);
        json_put_str(o, "within", tri_name(sampled_within(f)));
        json_end(o);
    }
    json_end_array(o);
}

static void row_encode(struct json_out *o, const struct row *r)
{
    json_begin(o, NULL);
    json_put_str(o, "lane", r->lane);
    json_put_str(o, "side", r->side);
    json_put_bool(o, "control", r->control);
    figures_encode(o, "wall", &r->wall);
    figures_encode(o, "cpu", &r->cpu);
    per_operation_encode(o, &r->per_operation);
    adjusted_encode(o, r);
    json_put_num(o, "excess_ns", r->excess_ns);
    json_put_num(o, "floor_share", r->floor_share);
    if (r->n_samples > 0)
        samples_encode(o, r);
    json_put_str(o, "undefined", r->undefined);
    json_end(o);
}

/* A void report has none. */
static void repetitions_encode(struct json_out *o, const struct replacement_count *count)
{
    if (!count) {
        json_put_null(o, "repetitions");
        return;
    }
    json_begin(o, "repetitions");
    json_put_int(o, "clean", count->clean);
    json_put_int(o, "disturbed", count->disturbed);
    json_put_int(o, "not_judged", count->unjudged);
    json_put_bool(o, "as_observed", count->as_observed);
    json_end(o);
}

/* ---- values */

static void value_figures_encode(struct json_out *o, enum measure m, const struct value_figures *v)
{
    json_begin(o, NULL);
    json_put_str(o, "name", v->name);
    json_put_int(o, "n", (int64_t)v->n);
    json_put_num(o, "median", v->median);
    json_put_int_or_null(o, "min", v->min);
    json_put_int_or_null(o, "max", v->max);
    json_put_int_or_null(o, "total", v->total);
    json_put_bool(o, "exact", v->exact);
    if (v->baseline >= 0)
        json_put_int(o, "baseline", v->baseline);
    if (m == MEASURE_ATTRIBUTION)
        json_put_num(o, "share_pct", v->share_pct);
    json_end(o);
}

static void value_row_encode(struct json_out *o, enum measure m, const struct value_row *r)
{
    json_begin(o, NULL);
    json_put_str(o, "lane", r->lane);
    json_put_str(o, "side", r->side);
    json_put_bool(o, "control", r->control);
    json_begin_array(o, "values");
    for (size_t i = 0; i < r->n_values; i++)
        value_figures_encode(o, m, &r->values[i]);
    json_end_array(o);
    json_put_str(o, "undefined", r->undefined);
    json_end(o);
}

/* Only of workloads that have them. */
static void value_rows_encode(struct json_out *o, const struct raw_workload *w,
                              const struct summary *s)
{
    if (!measure_has_values(w->measure))
        return;
    json_begin_array(o, "value_rows");
    for (size_t i = 0; i < s->n_values; i++)
        if (strcmp(s->values[i].workload, w->name) == 0)
            value_row_encode(o, w->measure, &s->values[i]);
    json_end_array(o);
}

static void workload_encode(struct json_out *o, const struct raw_workload *w,
                            const struct replacement_count *count, const struct summary *s)
{
    json_begin(o, NULL);
    json_put_str(o, "name", w->name);
    json_put_str(o, "measure", measure_name(w->measure));
    json_put_str(o, "unit", measure_unit(w->measure));
    json_put_int(o, "declared_wait_ns", w->declared_wait_ns);
    json_put_int(o, "operations", w->operations);
    repetitions_encode(o, count);
    json_begin_array(o, "rows");
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, w->name) == 0)
            row_encode(o, &s->rows[i]);
    json_end_array(o);
    value_rows_encode(o, w, s);
    json_end(o);
}

/* ---- comparisons */

static void ratios_encode(struct json_out *o, const struct estimate *e)
{
    json_put_bool(o, "unpaired", e->unpaired);
    json_put_num(o, "paired_median_ratio", e->paired_median_ratio);
    json_put_num(o, "shift_ratio", e->shift_ratio);
    json_put_int(o, "pairs", (int64_t)e->pairs);
    doc_put_interval(o, &e->interval, true);
    json_put_num(o, "margin", e->margin);
}

static void limits_encode(struct json_out *o, const struct estimate *e)
{
    json_put_num(o, "resolvable", e->resolvable);
    json_put_bool(o, "medians_outside", e->medians_outside);
    json_put_str(o, "note", e->note);
}

static void estimate_encode(struct json_out *o, const char *key, const struct estimate *e)
{
    json_begin(o, key);
    json_put_num(o, "ratio_of_medians", e->ratio_of_medians);
    ratios_encode(o, e);
    json_put_str(o, "verdict", verdict_name(e->verdict));
    limits_encode(o, e);
    json_end(o);
}

/* Without what stands beside it: the ratio of medians, and the verdict in the words of values. */
static void value_estimate_encode(struct json_out *o, const struct value_comparison *c)
{
    if (!c->has_estimate)
        return;
    json_begin(o, "estimate");
    ratios_encode(o, &c->estimate);
    limits_encode(o, &c->estimate);
    json_end(o);
}

static void end_encode(struct json_out *o, const char *key, const char *lane, const char *side)
{
    json_begin(o, key);
    json_put_str(o, "lane", lane);
    json_put_str(o, "side", side);
    json_end(o);
}

static void comparison_encode(struct json_out *o, const struct comparison *c)
{
    json_begin(o, NULL);
    json_put_str(o, "kind", comparison_kind_name(c->kind));
    json_put_str(o, "workload", c->workload);
    end_encode(o, "subject", c->subject_lane, c->subject_side);
    end_encode(o, "reference", c->reference_lane, c->reference_side);
    estimate_encode(o, "wall", &c->wall);
    estimate_encode(o, "cpu", &c->cpu);
    json_put_num(o, "change_pct", c->change_pct);
    if (c->has_observed)
        estimate_encode(o, "observed", &c->observed);
    else
        json_put_null(o, "observed");
    if (c->has_excess)
        estimate_encode(o, "excess", &c->excess);
    else
        json_put_null(o, "excess");
    json_put_num(o, "excess_ratio", c->excess_ratio);
    json_put_bool(o, "verdicts_disagree", c->verdicts_disagree);
    json_put_str(o, "undefined", c->undefined);
    json_end(o);
}

static void value_comparison_encode(struct json_out *o, const struct value_comparison *c)
{
    json_begin(o, NULL);
    json_put_str(o, "kind", comparison_kind_name(c->of_sides ? COMPARE_SIDES : COMPARE_LANES));
    json_put_str(o, "workload", c->workload);
    json_put_str(o, "name", c->name);
    json_put_str(o, "unit", c->unit);
    end_encode(o, "subject", c->subject_lane, c->subject_side);
    end_encode(o, "reference", c->reference_lane, c->reference_side);
    json_put_num(o, "ratio_of_medians", c->ratio_of_medians);
    json_put_num(o, "change_pct", c->change_pct);
    json_put_str(o, "value_verdict", value_verdict_name(c->verdict));
    if (c->exact)
        json_put_int(o, "difference", c->difference);
    else
        json_put_null(o, "difference");
    value_estimate_encode(o, c);
    json_put_str(o, "undefined", c->undefined);
    json_end(o);
}

/* Only where there are any. */
static void value_comparisons_encode(struct json_out *o, const struct summary *s)
{
    if (s->n_value_comparisons == 0)
        return;
    json_begin_array(o, "value_comparisons");
    for (size_t i = 0; i < s->n_value_comparisons; i++)
        value_comparison_encode(o, &s->value_comparisons[i]);
    json_end_array(o);
}

/* Only where there are any. */
static void scaling_encode(struct json_out *o, const struct summary *s)
{
    if (s->n_scaling == 0)
        return;
    json_begin_array(o, "scaling");
    for (size_t i = 0; i < s->n_scaling; i++) {
        const struct scaling_row *r = &s->scaling[i];
        json_begin(o, NULL);
        json_put_str(o, "workload", r->workload);
        end_encode(o, "subject", r->lane, r->side);
        end_encode(o, "reference", r->one, r->side);
        json_put_int(o, "tasks", r->tasks);
        json_put_int_or_null(o, "cpus", r->cpus);
        json_put_num(o, "ratio", r->ratio);
        json_put_int(o, "pairs", (int64_t)r->pairs);
        doc_put_interval(o, &r->interval, true);
        json_put_num(o, "max_ratio", r->max_ratio);
        json_put_str(o, "status", scaling_status_name(r->status));
        json_put_str(o, "why", r->why);
        json_end(o);
    }
    json_end_array(o);
}

static void control_encode(struct json_out *o, const struct control_drift *c)
{
    json_begin(o, NULL);
    json_put_str(o, "workload", c->workload);
    json_put_str(o, "lane", c->lane);
    json_put_str(o, "before_side", c->before_side);
    json_put_str(o, "after_side", c->after_side);
    json_put_num(o, "before_ns", c->before_ns);
    json_put_num(o, "after_ns", c->after_ns);
    json_put_num(o, "drift_pct", c->drift_pct);
    json_put_num(o, "bound_pct", c->bound_pct);
    json_put_str(o, "within", tri_name(c->within));
    json_put_str(o, "undefined", isnan(c->drift_pct) ? "a side has no median" : NULL);
    json_end(o);
}

/* ---- calibration */

/* The head once more: what the verdicts rest on stands beside what follows from it. */
static void summary_calibration_encode(struct json_out *o, const struct summary *s,
                                       const struct raw *raw)
{
    if (!s->calibration) {
        json_put_null(o, "calibration");
        return;
    }
    json_begin(o, "calibration");
    doc_fields_encode(o, &calibration_table, raw->calibration);
    json_begin(o, "measures");
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        json_begin(o, measure_name((enum measure)m));
        calibration_figures_encode(o, &s->calibration[m]);
        json_end(o);
    }
    json_end(o);
    json_end(o);
}

/* ---- grade */

static void predicate_encode(struct json_out *o, const char *name, const struct predicate_result *p)
{
    json_begin(o, NULL);
    json_put_str(o, "name", name);
    json_put_str(o, "status", tri_name(p->status));
    json_put_str(o, "fact", p->fact);
    json_end(o);
}

static void row_grade_encode(struct json_out *o, const struct graded_row *r)
{
    json_begin(o, NULL);
    json_put_str(o, "workload", r->workload);
    json_put_str(o, "lane", r->lane);
    json_put_str(o, "side", r->side);
    json_put_str(o, "value", grade_name(r->grade->value));
    json_begin_array(o, "predicates");
    for (int i = 0; i < ROW_COUNT; i++)
        if (r->grade->predicates[i].fact)
            predicate_encode(o, row_predicate_name((enum row_predicate)i),
                             &r->grade->predicates[i]);
    json_end_array(o);
    json_end(o);
}

static void waived_encode(struct json_out *o, const struct policy *p)
{
    json_begin_array(o, "waived");
    for (int i = 0; i < COND_COUNT; i++) {
        if (p->rules[i].mode != RULE_WAIVE)
            continue;
        json_begin(o, NULL);
        json_put_str(o, "condition", condition_name((enum condition)i));
        json_put_str(o, "reason", p->rules[i].reason);
        json_put_str(o, "by", p->rules[i].by);
        json_end(o);
    }
    json_end_array(o);
}

static void grade_encode(struct json_out *o, const struct summary *s, const struct raw *raw)
{
    const struct grade_result *g = &s->grade;
    json_begin(o, "grade");
    json_put_str(o, "value", grade_name(g->value));
    json_put_str(o, "line", g->line);
    json_put_str(o, "policy", raw->policy.name);
    waived_encode(o, &raw->policy);
    json_begin_array(o, "predicates");
    for (int i = 0; i < PRED_COUNT; i++)
        predicate_encode(o, predicate_name((enum predicate)i), &g->predicates[i]);
    json_end_array(o);
    json_begin_array(o, "rows");
    for (size_t i = 0; i < summary_count_graded(s); i++) {
        const struct graded_row row = summary_graded(s, i);
        row_grade_encode(o, &row);
    }
    json_end_array(o);
    json_end(o);
}

void summary_encode(struct json_out *o, const char *key, const struct summary *s,
                    const struct raw *raw, const char *raw_sha256)
{
    json_begin(o, key);
    json_put_str(o, "schema", "aurabench.summary.v1");
    json_put_str(o, "id", raw->id);
    json_put_str(o, "label", raw->job.label);
    json_begin(o, "raw_report");
    json_put_str(o, "file", "raw.json");
    json_put_str(o, "sha256", raw_sha256);
    json_end(o);
    rules_encode(o, s);
    summary_calibration_encode(o, s, raw);
    json_begin_array(o, "workloads");
    for (size_t i = 0; i < raw->n_workloads; i++)
        workload_encode(o, &raw->workloads[i], s->repetitions ? &s->repetitions[i] : NULL, s);
    json_end_array(o);
    json_begin_array(o, "comparisons");
    for (size_t i = 0; i < s->n_comparisons; i++)
        comparison_encode(o, &s->comparisons[i]);
    json_end_array(o);
    value_comparisons_encode(o, s);
    scaling_encode(o, s);
    json_begin_array(o, "controls");
    for (size_t i = 0; i < s->n_controls; i++)
        control_encode(o, &s->controls[i]);
    json_end_array(o);
    grade_encode(o, s, raw);
    json_end(o);
}
