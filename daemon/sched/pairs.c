/* The pair that an attempt repeats: a control drifted in it, so the daemon measured once more. What
 * it showed goes into the new report, so that a reader sees both. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/doc/documents.h"
#include "sched/pairs.h"

#define RAW_BYTES_MAX ((size_t)512 << 20)

/* Of this run: what a person asks to be measured again repeats no pair. */
static const struct store_attempt *last_drifted(struct attempt *a, struct err *e)
{
    struct store *store = a->sched->config.store;
    struct store_attempt *attempts;
    struct store_job *job;
    size_t n = 0;

    if (store_job_get(store, a->job_id, &a->arena, &job, e) < 0 ||
        store_job_attempts(store, a->job_id, &a->arena, &attempts, &n, e) < 0)
        return NULL;
    while (n > 0) {
        const struct store_attempt *x = &attempts[--n];
        if (x->number < job->run_from)
            return NULL;
        if (x->outcome && strcmp(x->outcome, OUTCOME_DRIFTED) == 0)
            return x;
    }
    return NULL;
}

int pair_find(struct attempt *a)
{
    const struct store_attempt *earlier = last_drifted(a, &a->e);

    a->earlier = NULL;
    if (err_is_set(&a->e))
        return -EIO;
    if (!earlier)
        return 0;
    int rc = store_report_get(a->sched->config.store, earlier->id, &a->arena, &a->earlier, &a->e);
    return rc > 0 ? 0 : rc;
}

static double median_of(const struct summary *s, const char *workload, const char *lane,
                        const char *side)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (strcmp(s->rows[i].workload, workload) == 0 && strcmp(s->rows[i].lane, lane) == 0 &&
            strcmp(s->rows[i].side, side) == 0)
            return s->rows[i].wall.median_ns;
    return NAN;
}

static struct raw_pair_row subject_row(const struct summary *s, const struct comparison *c)
{
    return (struct raw_pair_row){
        .workload = c->workload,
        .lane = c->subject_lane,
        .before_side = c->reference_side,
        .after_side = c->subject_side,
        .before_ns = median_of(s, c->workload, c->subject_lane, c->reference_side),
        .after_ns = median_of(s, c->workload, c->subject_lane, c->subject_side)};
}

static struct raw_pair_row control_row(const struct control_drift *d)
{
    return (struct raw_pair_row){.workload = d->workload,
                                 .lane = d->lane,
                                 .before_side = d->before_side,
                                 .after_side = d->after_side,
                                 .control = true,
                                 .before_ns = d->before_ns,
                                 .after_ns = d->after_ns};
}

static void fill(struct arena *arena, const struct summary *s, struct raw_pair *pair)
{
    pair->rows = arena_array(arena, s->n_comparisons + s->n_controls, sizeof *pair->rows);
    for (size_t i = 0; i < s->n_comparisons; i++)
        if (s->comparisons[i].kind == COMPARE_SIDES && !summary_is_control(s, &s->comparisons[i]))
            pair->rows[pair->n_rows++] = subject_row(s, &s->comparisons[i]);
    for (size_t i = 0; i < s->n_controls; i++)
        pair->rows[pair->n_rows++] = control_row(&s->controls[i]);
}

const struct raw_pair *pair_read(struct attempt *a, struct err *e)
{
    struct raw_pair *pair = arena_alloc(&a->arena, sizeof *pair);
    struct buf text = {0};
    struct raw *raw;

    if (!a->earlier)
        return NULL;
    int rc = file_read(arena_printf(&a->arena, "%s/raw.json", a->earlier->evidence), RAW_BYTES_MAX,
                       &text, e);
    if (rc == 0)
        rc = raw_decode(&a->arena, text.data, text.len, &raw, e);
    buf_deinit(&text);
    if (rc < 0)
        return NULL;
    pair->attempt = a->earlier->attempt;
    pair->raw_sha256 = a->earlier->raw_sha256;
    fill(&a->arena, summarise(&a->arena, raw), pair);
    return pair;
}
