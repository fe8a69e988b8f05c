#include <string.h>

#include "core/grade/grade_predicates.h"

static bool has_sources(const struct grade_input *in)
{
    return in->raw->job.n_sources > 0;
}

/* The result of a predicate about sources where there are none. `run` asked for a comparison that
 * no source stands behind, so the two that pin it down fail there. */
static struct predicate_result without_sources(const struct grade_input *in, bool pins)
{
    if (pins && in->raw->job.is_run)
        return RESULT(in, TRI_FAIL, "two commands without sources");
    return RESULT(in, TRI_NOT_APPLICABLE, "the job has no sources: it measures the suite");
}

static const struct raw_source *source_of(const struct raw *raw, const char *side)
{
    for (size_t i = 0; i < raw->n_sources; i++)
        if (strcmp(raw->sources[i].side, side) == 0)
            return &raw->sources[i];
    return NULL;
}

static const struct job_source *asked_for(const struct raw *raw, const char *side)
{
    for (size_t i = 0; i < raw->job.n_sources; i++)
        if (strcmp(raw->job.sources[i].side, side) == 0)
            return &raw->job.sources[i];
    return NULL;
}

/* Folds what judge says of each side that the job has a source for. */
static struct predicate_result
each_source(const struct grade_input *in, const char *all_good,
            struct predicate_result (*judge)(const struct grade_input *, const struct raw_source *))
{
    struct predicate_result worst = RESULT(in, TRI_PASS, "%s", all_good);
    for (size_t i = 0; i < in->raw->job.n_sources; i++) {
        const char *side = in->raw->job.sources[i].side;
        const struct raw_source *source = source_of(in->raw, side);
        predicate_fold(&worst, source ? judge(in, source)
                                      : RESULT(in, TRI_UNKNOWN, "%s: no checkout recorded", side));
    }
    return worst;
}

static struct predicate_result judge_checkout(const struct grade_input *in,
                                              const struct raw_source *source)
{
    int64_t first_bytes = in->raw->sources[0].path_bytes;
    if (!source->detached)
        return RESULT(in, TRI_FAIL, "%s: HEAD names a branch", source->side);
    if (!source->clean)
        return RESULT(in, TRI_FAIL, "%s: the checkout was not clean before the build",
                      source->side);
    /* A longer path moves the stack of every program that is started from it. */
    if (source->path_bytes != first_bytes)
        return RESULT(in, TRI_FAIL, "%s: its path has %lld bytes, another side's %lld",
                      source->side, (long long)source->path_bytes, (long long)first_bytes);
    return RESULT(in, TRI_PASS, "%s: clean and detached", source->side);
}

struct predicate_result predicate_sources_clean_detached(const struct grade_input *in)
{
    if (!has_sources(in))
        return without_sources(in, true);
    return each_source(in, "every checkout is clean and detached", judge_checkout);
}

static bool is_full_commit(const char *id)
{
    size_t digits = strspn(id, "0123456789abcdef");
    return id[digits] == '\0' && (digits == 40 || digits == 64);
}

static struct predicate_result judge_commit(const struct grade_input *in,
                                            const struct raw_source *source)
{
    const struct job_source *asked = asked_for(in->raw, source->side);
    if (!source->commit || !source->head)
        return RESULT(in, TRI_UNKNOWN, "%s: no commit recorded", source->side);
    if (!is_full_commit(source->commit))
        return RESULT(in, TRI_FAIL, "%s: %s is no full commit id", source->side, source->commit);
    if (strcmp(source->head, source->commit) != 0)
        return RESULT(in, TRI_FAIL, "%s: HEAD is %s, not %s", source->side, source->head,
                      source->commit);
    if (!asked || !asked->commit || strcmp(asked->commit, source->commit) != 0)
        return RESULT(in, TRI_FAIL, "%s: %s is not the commit that the job names", source->side,
                      source->commit);
    return RESULT(in, TRI_PASS, "%s: %s", source->side, source->commit);
}

struct predicate_result predicate_commits_pinned(const struct grade_input *in)
{
    if (!has_sources(in))
        return without_sources(in, true);
    return each_source(in, "every side is a full commit id and HEAD is that commit", judge_commit);
}

/* Where the recorded proof is not of what the job asks for; NULL: nowhere. */
static const char *proof_flaw(const struct job_source *asked, const struct raw_source *source)
{
    const struct raw_correction *found = source->correction;
    if (!text_agrees(found->base_commit, asked->correction->base_commit))
        return "another base than the job's";
    if (!text_agrees(found->corrected, asked->commit) ||
        !text_agrees(found->corrected, source->commit))
        return "another commit than the one that was measured";
    if (!text_agrees(found->diff_sha256, asked->correction->diff_sha256))
        return "another diff than the one that was allowed";
    if (!text_agrees(found->approved_by, asked->correction->approved_by) ||
        !text_agrees(found->reason, asked->correction->reason))
        return "another approval than the job's";
    return found->proven ? NULL : "the commit is not the base and exactly the allowed diff";
}

static struct predicate_result judge_correction(const struct grade_input *in,
                                                const struct job_source *asked)
{
    const struct raw_source *source = source_of(in->raw, asked->side);
    bool found = source && source->correction;
    if (!asked->correction)
        return found ? RESULT(in, TRI_FAIL, "%s: a correction that the job does not name",
                              asked->side)
                     : RESULT(in, TRI_NOT_APPLICABLE, "%s: no correction", asked->side);
    if (!found)
        return RESULT(in, TRI_UNKNOWN, "%s: no proof recorded", asked->side);
    const char *flaw = proof_flaw(asked, source);
    if (flaw)
        return RESULT(in, TRI_FAIL, "%s: %s", asked->side, flaw);
    return RESULT(in, TRI_PASS, "%s: base and exactly the diff that %s allowed", asked->side,
                  source->correction->approved_by);
}

struct predicate_result predicate_corrections_proven(const struct grade_input *in)
{
    struct predicate_result worst = RESULT(in, TRI_NOT_APPLICABLE, "no side is a corrected commit");
    for (size_t i = 0; i < in->raw->job.n_sources; i++)
        predicate_fold(&worst, judge_correction(in, &in->raw->job.sources[i]));
    return worst;
}

static struct predicate_result judge_recheck(const struct grade_input *in,
                                             const struct raw_recheck *r, const char *recorded)
{
    const char *kind = recheck_kind_name(r->kind);
    if (!r->sha256)
        return RESULT(in, TRI_UNKNOWN, "%s %s was not hashed after the build", kind, r->name);
    if (strcmp(r->sha256, recorded) != 0)
        return RESULT(in, TRI_FAIL, "%s %s changed before timing", kind, r->name);
    if (!r->again)
        return RESULT(in, TRI_FAIL, "%s %s was gone after timing", kind, r->name);
    if (strcmp(r->again, r->sha256) != 0)
        return RESULT(in, TRI_FAIL, "%s %s changed during timing", kind, r->name);
    return RESULT(in, TRI_PASS, "%s %s is unchanged", kind, r->name);
}

/* Was this thing, whose hash is recorded, hashed again and found the same? */
static struct predicate_result unchanged(const struct grade_input *in, enum recheck_kind kind,
                                         const char *name, const char *recorded)
{
    if (!recorded)
        return RESULT(in, TRI_UNKNOWN, "%s %s was not hashed", recheck_kind_name(kind), name);
    struct predicate_result worst =
        RESULT(in, TRI_NOT_APPLICABLE, "%s %s", recheck_kind_name(kind), name);
    for (size_t i = 0; i < in->raw->n_rechecks; i++) {
        const struct raw_recheck *r = &in->raw->rechecks[i];
        if (r->kind == kind && strcmp(r->name, name) == 0)
            predicate_fold(&worst, judge_recheck(in, r, recorded));
    }
    if (worst.status == TRI_NOT_APPLICABLE)
        return RESULT(in, TRI_UNKNOWN, "%s %s was not hashed again after timing",
                      recheck_kind_name(kind), name);
    return worst;
}

static struct predicate_result judge_tree(const struct grade_input *in,
                                          const struct raw_source *source)
{
    return unchanged(in, RECHECK_SOURCE, source->side, source->tree_sha256);
}

struct predicate_result predicate_sources_frozen(const struct grade_input *in)
{
    if (!has_sources(in))
        return without_sources(in, false);
    return each_source(in, "every tracked file has the same hash after timing", judge_tree);
}

struct predicate_result predicate_inputs_unchanged(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    struct predicate_result worst = RESULT(
        in, TRI_PASS, "the suite and %zu tools have the same hashes after timing", raw->n_tools);
    predicate_fold(&worst, unchanged(in, RECHECK_SUITE, "suite", raw->suite_sha256));
    for (size_t i = 0; i < raw->n_tools; i++)
        predicate_fold(&worst,
                       unchanged(in, RECHECK_TOOL, raw->tools[i].path, raw->tools[i].sha256));
    return worst;
}

struct predicate_result predicate_binaries_unchanged(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    if (raw->n_artifacts == 0)
        return raw->n_builds > 0
                   ? RESULT(in, TRI_UNKNOWN, "something was built, but no product was hashed")
                   : RESULT(in, TRI_NOT_APPLICABLE, "nothing was built");
    struct predicate_result worst = RESULT(
        in, TRI_PASS, "%zu build products have the same hashes after timing", raw->n_artifacts);
    for (size_t i = 0; i < raw->n_artifacts; i++) {
        const struct raw_artifact *f = &raw->artifacts[i];
        const char *name = arena_printf(in->arena, "%s:%s", f->side, f->path);
        predicate_fold(&worst, unchanged(in, RECHECK_ARTIFACT, name, f->sha256));
    }
    return worst;
}

/* Was this side built with the variables that the job names, and no others? */
static bool variant_is_the_jobs(const struct grade_input *in, const struct job_source *asked)
{
    const struct raw_source *source = source_of(in->raw, asked->side);
    if (!source || source->variant.n != asked->n_variant)
        return !source; /* a missing checkout is another predicate's fault */
    for (size_t i = 0; i < asked->n_variant; i++) {
        const char *variable =
            arena_printf(in->arena, "%s=%s", asked->variant[i].name, asked->variant[i].value);
        if (strcmp(variable, source->variant.v[i]) != 0)
            return false;
    }
    return true;
}

static size_t builds_of(const struct raw *raw, const char *side)
{
    size_t n = 0;
    for (size_t i = 0; i < raw->n_builds; i++)
        n += strcmp(raw->builds[i].side, side) == 0;
    return n;
}

/* Either every side has the same number of build steps or none has any. */
static struct predicate_result judge_build_steps(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    size_t expected = raw->job.n_sources > 0 ? builds_of(raw, raw->job.sources[0].side) : 0;
    for (size_t i = 0; i < raw->job.n_sources; i++) {
        const char *side = raw->job.sources[i].side;
        if (builds_of(raw, side) != expected)
            return RESULT(in, TRI_FAIL, "%s: %zu build steps, another side %zu", side,
                          builds_of(raw, side), expected);
        if (!variant_is_the_jobs(in, &raw->job.sources[i]))
            return RESULT(in, TRI_FAIL, "%s: built with another variant than the job names", side);
    }
    return RESULT(in, TRI_PASS, "%zu build steps ended well in fresh worktrees", raw->n_builds);
}

struct predicate_result predicate_fresh_build(const struct grade_input *in)
{
    const struct raw *raw = in->raw;
    if (raw->n_builds == 0)
        return RESULT(in, TRI_NOT_APPLICABLE, "no build steps declared");
    if (has_sources(in) && !raw->fresh_worktrees)
        return RESULT(in, TRI_FAIL, "the worktrees were not checked out for this attempt");
    struct predicate_result worst = judge_build_steps(in);
    for (size_t i = 0; i < raw->n_builds; i++) {
        const struct raw_build *b = &raw->builds[i];
        if (b->exit_status != 0)
            predicate_fold(&worst, RESULT(in, TRI_FAIL, "%s: build step %d ended with status %d",
                                          b->side, b->step, b->exit_status));
    }
    return worst;
}
