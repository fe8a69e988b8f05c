#include "tests/bench/verdict/judges.h"

#include <math.h>
#include <stdio.h>

#include "core/stats/shift.h"
#include "core/summary/summarise.h"
#include "tests/bench/bench.h"
#include "tests/bench/verdict/trial.h"

#define N TRIAL_REPETITIONS
#define NORMAL_975 1.959963984540054 /* the 97.5 % point of the normal distribution */

static const char *const judge_names[JUDGES] = {
    [JUDGE_OURS] = "ours",   [JUDGE_OURS_CPU] = "ours_cpu", [JUDGE_HYPERFINE] = "hyperfine",
    [JUDGE_WELCH] = "welch", [JUDGE_MINIMUM] = "minimum",   [JUDGE_BENCHSTAT] = "benchstat"};

/* ---- ours */

static void ask_ours(struct arena *a, const struct raw *raw, struct judged *out)
{
    const struct summary *s = summarise(a, raw);

    if (s->n_comparisons != 1)
        bench_fail("core/summary/summarise", "the report does not hold exactly one comparison");
    const struct replacement_count *r = &s->repetitions[0];
    out->by[JUDGE_OURS] = s->comparisons[0].wall.verdict;
    out->by[JUDGE_OURS_CPU] = s->comparisons[0].cpu.verdict;
    out->few = r->as_observed;
    out->repetitions = r->clean + r->unjudged + r->disturbed;
    out->disturbed = r->disturbed;
}

/* ---- theirs */

struct moments {
    double mean, sd, min;
};

static struct moments moments_of(const double *v)
{
    struct moments m = {.min = v[0]};

    for (int i = 0; i < N; i++) {
        m.mean += v[i] / N;
        m.min = v[i] < m.min ? v[i] : m.min;
    }
    for (int i = 0; i < N; i++)
        m.sd += (v[i] - m.mean) * (v[i] - m.mean) / (N - 1);
    m.sd = sqrt(m.sd);
    return m;
}

static enum verdict by_sign(double difference, bool significant)
{
    if (!significant)
        return VERDICT_UNRESOLVED;
    return difference > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
}

/* "1.05 +- 0.02 times faster": the ratio of means, errors propagated; read as a difference where 1
 * is outside of it. */
static enum verdict hyperfine(const struct moments *b, const struct moments *a)
{
    double ratio = a->mean / b->mean;
    double error = ratio * sqrt(pow(a->sd / a->mean, 2) + pow(b->sd / b->mean, 2));

    return by_sign(ratio - 1, fabs(ratio - 1) > error);
}

/* The 97.5 % point of Student's t, by the expansion of Cornish and Fisher in 1 / df. */
static double student(double df)
{
    double z = NORMAL_975, z3 = z * z * z, z5 = z3 * z * z;

    return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df);
}

static enum verdict welch(const struct moments *b, const struct moments *a)
{
    double vb = b->sd * b->sd / N, va = a->sd * a->sd / N;
    double df = (va + vb) * (va + vb) * (N - 1) / (va * va + vb * vb);

    return by_sign(a->mean - b->mean, fabs(a->mean - b->mean) > student(df) * sqrt(va + vb));
}

static enum verdict minimum(const struct moments *b, const struct moments *a, double margin)
{
    return by_sign(a->min - b->min, fabs(a->min / b->min - 1) > margin);
}

/* Mann-Whitney at 5 %, two-sided, exact: U or its mirror is at most what core/stats/shift counts.
 */
static enum verdict benchstat(const double *b, const double *a)
{
    size_t above = 0, below = 0, rank = shift_rank(N, N);

    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            above += a[i] > b[k];
            below += a[i] < b[k];
        }
    return by_sign((double)above - (double)below, (above < below ? above : below) < rank);
}

static void planned_ns(const struct raw *raw, double out[TRIAL_SIDES][N])
{
    int n[TRIAL_SIDES] = {0};

    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        int side = raw->plan.steps[o->seq].side;
        if (o->kind == OBS_TIMED && o->replaces < 0 && n[side] < N)
            out[side][n[side]++] = (double)o->elapsed_ns;
    }
    if (n[TRIAL_BEFORE] != N || n[TRIAL_AFTER] != N)
        bench_fail("trial_make", "a planned repetition is missing");
}

static void ask_others(const struct raw *raw, struct judged *out)
{
    double ns[TRIAL_SIDES][N];

    planned_ns(raw, ns);
    struct moments b = moments_of(ns[TRIAL_BEFORE]), a = moments_of(ns[TRIAL_AFTER]);
    out->by[JUDGE_HYPERFINE] = hyperfine(&b, &a);
    out->by[JUDGE_WELCH] = welch(&b, &a);
    out->by[JUDGE_MINIMUM] = minimum(&b, &a, raw->policy.margin);
    out->by[JUDGE_BENCHSTAT] = benchstat(ns[TRIAL_BEFORE], ns[TRIAL_AFTER]);
}

void judges_ask(struct arena *a, const struct raw *raw, struct judged *out)
{
    ask_ours(a, raw, out);
    ask_others(raw, out);
}

/* ---- counting */

void tally_add(struct tally *t, const struct judged *j)
{
    for (int k = 0; k < JUDGES; k++) {
        t->by[k][j->by[k]]++;
        t->clean[k][j->by[k]] += !j->few;
    }
    t->few += j->few;
    t->repetitions += j->repetitions;
    t->disturbed += j->disturbed;
}

static void print_verdict(const struct tally *t, const char *prefix, int judge, int verdict)
{
    const char *name = verdict_name((enum verdict)verdict);

    (void)printf("%s%s.%s %d\n", prefix, judge_names[judge], name, t->by[judge][verdict]);
    (void)printf("%s%s.%s.clean %d\n", prefix, judge_names[judge], name, t->clean[judge][verdict]);
}

void tally_print(const struct tally *t, const char *prefix)
{
    for (int k = 0; k < JUDGES; k++)
        for (int v = 0; v < VERDICTS; v++)
            print_verdict(t, prefix, k, v);
    (void)printf("%sfew %d\n%srepetitions %d\n%sdisturbed %d\n", prefix, t->few, prefix,
                 t->repetitions, prefix, t->disturbed);
}
