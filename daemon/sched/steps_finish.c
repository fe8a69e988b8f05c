/* After timing: everything hashed again, the evidence sealed, the folders removed. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/summary/history.h"
#include "evidence/evidence.h"
#include "proto/doc/doc_calibration.h"
#include "report/report.h"
#include "sched/orphans.h"
#include "sched/pairs.h"
#include "sched/sched_internal.h"
#include "store/calibrations.h"

/* ---- hash again */

static void add_recheck(struct attempt *a, enum recheck_kind kind, const char *name,
                        const char *sha256, const char *again)
{
    a->raw.rechecks[a->raw.n_rechecks++] =
        (struct raw_recheck){.kind = kind, .name = name, .sha256 = sha256, .again = again};
}

static int recheck_sources(struct attempt *a)
{
    struct source_store *sources = a->sched->config.sources;
    char again[DIGEST_HEX];

    for (size_t k = 0; k < a->raw.n_sources; k++) {
        const struct raw_source *s = &a->raw.sources[k];
        int rc = source_rehash(sources, s->commit, a->sides[k].source_dir, again, &a->e);
        if (rc < 0)
            return rc;
        add_recheck(a, RECHECK_SOURCE, s->side, s->tree_sha256, arena_strdup(&a->arena, again));
    }
    int rc = source_hash_suite(sources, a->job->suite_sha256, a->suite_dir, again, &a->e);
    if (rc < 0)
        return rc;
    add_recheck(a, RECHECK_SUITE, JOB_SIDE_SUITE, a->job->suite_sha256,
                again[0] ? arena_strdup(&a->arena, again) : NULL);
    return 0;
}

static const char *folder_of(const struct attempt *a, const char *side)
{
    for (size_t k = 0; k < a->n_sides; k++)
        if (strcmp(a->sides[k].name, side) == 0)
            return a->sides[k].build_dir;
    return a->suite_build_dir;
}

static const char *find_sha256(const struct raw_artifact *artifacts, size_t n, const char *path)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(artifacts[i].path, path) == 0)
            return artifacts[i].sha256;
    return NULL;
}

/* Artifacts are listed side by side; each side's folder is read once. */
static int recheck_artifacts(struct attempt *a)
{
    struct raw_artifact *now = NULL;
    const char *side = NULL;
    size_t n = 0;

    for (size_t i = 0; i < a->raw.n_artifacts; i++) {
        const struct raw_artifact *was = &a->raw.artifacts[i];
        if (!side || strcmp(side, was->side) != 0) {
            side = was->side;
            int rc = source_hash_folder(&a->arena, folder_of(a, side), side, &now, &n, &a->e);
            if (rc < 0)
                return rc;
        }
        add_recheck(a, RECHECK_ARTIFACT, arena_printf(&a->arena, "%s:%s", side, was->path),
                    was->sha256, find_sha256(now, n, was->path));
    }
    return 0;
}

/* Several names may mean one program: "true" and "/usr/bin/true". */
static bool is_rechecked(const struct attempt *a, const struct raw_tool *tool)
{
    for (const struct raw_tool *t = a->raw.tools; t < tool; t++)
        if (strcmp(t->path, tool->path) == 0)
            return true;
    return false;
}

static void recheck_tools(struct attempt *a)
{
    char again[DIGEST_HEX];

    for (size_t i = 0; i < a->raw.n_tools; i++) {
        const struct raw_tool *tool = &a->raw.tools[i];
        if (is_rechecked(a, tool))
            continue;
        int rc = digest_file(tool->path, again, NULL, NULL);
        add_recheck(a, RECHECK_TOOL, tool->path, tool->sha256,
                    rc < 0 ? NULL : arena_strdup(&a->arena, again));
    }
}

/* The logs of the builds, with room for one more. */
static struct evidence_log *build_logs(struct attempt *a)
{
    struct evidence_log *logs = arena_array(&a->arena, a->n_builds + 1, sizeof *logs);

    for (size_t i = 0; i < a->n_builds; i++) {
        const char *name = a->builds[i].log + strlen("logs/");
        logs[i] = (struct evidence_log){.name = name,
                                        .path = arena_printf(&a->arena, "%s/%s", a->log_dir, name)};
    }
    return logs;
}

/* Before anything is hashed again, so that nothing that is done now can be part of it. */
static int sum_initially(struct attempt *a)
{
    const struct raw raw = {.job = *a->job, .policy = *a->policy};
    const struct evidence_input in = {
        .raw = &raw,
        .suite_dir = source_suite_path(a->sched->config.sources, &a->arena, a->job->suite_sha256),
        .logs = build_logs(a),
        .n_logs = a->n_builds,
        .tally_dir = a->tally_dir};
    struct buf sums = {0};
    int rc = evidence_initial_sums(&in, &sums, &a->e);

    a->initial_sums = arena_strdup(&a->arena, buf_str(&sums));
    buf_deinit(&sums);
    return rc;
}

static int hash_again(struct attempt *a)
{
    size_t cap = a->raw.n_sources + 1 + a->raw.n_artifacts + a->raw.n_tools;

    a->raw.n_rechecks = 0;
    a->raw.rechecks = arena_array(&a->arena, cap, sizeof *a->raw.rechecks);
    int rc = sum_initially(a);
    if (rc == 0)
        rc = recheck_sources(a);
    if (rc == 0)
        rc = recheck_artifacts(a);
    if (rc == 0)
        recheck_tools(a);
    return rc;
}

static int check_hashes(struct attempt *a)
{
    for (size_t i = 0; i < a->raw.n_rechecks; i++) {
        const struct raw_recheck *r = &a->raw.rechecks[i];
        if (!r->again || strcmp(r->sha256, r->again) != 0)
            return err_set(&a->e, -EPROTO, "attempt.hash_changed", r->name,
                           "%s %s %s while it was measured; find what wrote to it and submit the "
                           "job again",
                           recheck_kind_name(r->kind), r->name, r->again ? "changed" : "vanished");
    }
    return 0;
}

static int check_boot(struct attempt *a)
{
    struct boot_identity now;

    a->raw.suspend_after_ms = host_probe_suspend_ms(a->sched->config.probe);
    int rc = host_probe_boot(a->sched->config.probe, &a->arena, &now, &a->e);
    if (rc < 0)
        return rc;
    a->raw.boot_id_after = now.id;
    if (strcmp(now.id, a->boot.id) != 0)
        return err_set(&a->e, -EPROTO, "attempt.boot_changed", "boot",
                       "the boot identity changed from %s to %s under the attempt; submit the job "
                       "again",
                       a->boot.id, now.id);
    if (a->raw.suspend_after_ms - a->raw.suspend_before_ms > SUSPEND_TOLERANCE_MS)
        return err_set(&a->e, -EPROTO, "attempt.suspended", "suspend",
                       "the machine slept for %lld ms during the attempt; keep it awake and submit "
                       "the job again",
                       (long long)(a->raw.suspend_after_ms - a->raw.suspend_before_ms));
    return 0;
}

static int hashed_again(struct attempt *a)
{
    int rc = store_put_rechecks(a->sched->config.store, a->id, a->raw.rechecks, a->raw.n_rechecks,
                                &a->e);

    if (rc < 0)
        return rc;
    a->raw.cleanup = "verified";
    rc = check_hashes(a);
    if (rc == 0)
        rc = check_boot(a);
    if (rc == -EPROTO)
        return attempt_end_as(a, END_VOID);
    if (rc == 0)
        attempt_say(a, "%zu hashes taken again, all equal", a->raw.n_rechecks);
    return rc;
}

int step_rehash(struct attempt *a)
{
    FAULT_POINT("step.rehash");
    return attempt_on_worker(a, hash_again, hashed_again);
}

/* ---- seal: the raw report is what the store has, nothing else */

/* Whether the attempt may be called post-reboot depends on when it began. */
static const struct raw_session *session_of(struct attempt *a, const struct raw *raw)
{
    struct raw_session *session = a->in_session;

    if (session)
        session->post_reboot = session_is_post_reboot(session->opened_boot, &raw->boot,
                                                      session->settle_ms, raw->started_wall_ms);
    return session;
}

/* NULL where the attempt began without one. */
static int load_calibration(struct attempt *a, const struct calibration **out)
{
    const char *document;
    int rc = store_attempt_calibration(a->sched->config.store, a->id, &a->arena, &document, &a->e);

    return rc == 0 ? calibration_decode_text(&a->arena, document, out, &a->e)
                   : (rc == STORE_NONE ? 0 : rc);
}

static int assemble(struct attempt *a)
{
    struct store *store = a->sched->config.store;
    struct raw *raw = arena_alloc(&a->arena, sizeof *raw);
    const struct calibration *calibration = NULL;

    if (a->end == END_VOID) {
        a->raw.void_code = a->e.code;
        a->raw.void_text = a->e.text;
    }
    int rc = store_attempt_put(store, a->id, &a->raw, &a->e);
    if (rc == 0 && a->end != END_VOID)
        rc = pair_find(a);
    if (rc == 0)
        rc = store_load_raw(store, a->id, &a->arena, raw, &a->e);
    if (rc == 0)
        rc = load_calibration(a, &calibration);
    if (rc < 0)
        return rc;
    raw->ended_wall_ms = sched_now_ms(a->sched);
    raw->host_key = key_public(a->sched->config.key);
    raw->job = *a->job;
    raw->session = session_of(a, raw);
    raw->calibration = calibration;
    raw->policy = *a->policy;
    raw->workloads = a->raw.workloads;
    raw->n_workloads = a->raw.n_workloads;
    raw->sides = a->raw.sides;
    raw->n_sides = a->raw.n_sides;
    a->report = raw;
    return 0;
}

/* Without it the evidence is less, but still evidence; without space for it, it waits. */
static int bundle_commits(struct attempt *a, const char **out)
{
    const char *commits[2 * JOB_SIDES_MAX];
    size_t n = 0;
    const char *path = arena_printf(&a->arena, "%s/commits.bundle", a->work_dir);
    struct err e = {0};

    *out = NULL;
    if (a->job->n_sources == 0)
        return 0;
    for (size_t k = 0; k < a->job->n_sources; k++) {
        const struct job_source *s = &a->job->sources[k];
        commits[n++] = s->commit;
        if (s->correction)
            commits[n++] = s->correction->base_commit;
    }
    int rc = source_bundle_commits(a->sched->config.sources, commits, n, path, &e);
    if (disk_is_full(rc))
        return err_set(&a->e, rc, e.code, e.field, "%s", e.text);
    if (rc < 0)
        log_err("the bundle of the measured commits could not be made", rc, &e);
    else
        *out = path;
    return 0;
}

/* The diffs that were allowed, as texts of their own. */
static struct evidence_correction *allowed_diffs(struct attempt *a, size_t *n)
{
    struct evidence_correction *out = arena_array(&a->arena, a->job->n_sources, sizeof *out);

    *n = 0;
    for (size_t k = 0; k < a->job->n_sources; k++)
        if (a->job->sources[k].correction)
            out[(*n)++] = (struct evidence_correction){a->job->sources[k].side,
                                                       a->job->sources[k].correction->diff};
    return out;
}

static void count_verdict(const struct comparison *c, struct store_report_count *n)
{
    switch (c->undefined ? VERDICT_UNRESOLVED : c->wall.verdict) {
    case VERDICT_FASTER:
        n->faster++;
        return;
    case VERDICT_SLOWER:
        n->slower++;
        return;
    case VERDICT_SAME:
        n->same++;
        return;
    case VERDICT_UNRESOLVED:
        n->unresolved++;
        return;
    }
}

/* Of the sides without their controls: what a session is run for, as many as the report counts.
 * Lanes against lanes stand in the report. */
static const struct store_report_count *count(struct attempt *a, const struct summary *s)
{
    struct store_report_count *n = arena_alloc(&a->arena, sizeof *n);

    for (size_t i = 0; i < s->n_comparisons; i++)
        if (s->comparisons[i].kind == COMPARE_SIDES && !summary_is_control(s, &s->comparisons[i]))
            count_verdict(&s->comparisons[i], n);
    n->controls = (int)s->n_controls;
    for (size_t i = 0; i < s->n_controls; i++)
        n->drifted += s->controls[i].within == TRI_FAIL;
    return n;
}

void attempt_report(struct attempt *a, const struct raw *raw, const struct summary *summary,
                    const struct evidence_sealed *sealed)
{
    a->drifted = summary->grade.predicates[PRED_CONTROLS_WITHIN_DRIFT].status == TRI_FAIL;
    a->sealed = (struct store_report){
        .attempt = a->id,
        .grade = summary->grade.value,
        .grade_line = summary->grade.line,
        .counts = count(a, summary),
        .history = history_of(&a->arena, raw, summary),
        .evidence = arena_printf(&a->arena, "%s/%s", a->sched->evidence_root, a->id),
        .raw_sha256 = arena_strdup(&a->arena, sealed->raw_sha256),
        .summary_sha256 =
            a->end == END_VOID ? NULL : arena_strdup(&a->arena, sealed->summary_sha256)};
}

static int seal(struct attempt *a)
{
    size_t n_allowed;
    struct evidence_correction *allowed = allowed_diffs(a, &n_allowed);
    struct evidence_log *logs = build_logs(a);
    struct err why = {0};
    struct evidence_sealed sealed;
    struct buf markdown = {0};
    const char *bundle;

    int rc = bundle_commits(a, &bundle);
    if (rc < 0)
        return rc;
    a->report->repeats = pair_read(a, &why);
    if (err_is_set(&why))
        log_err("the pair that is repeated could not be read", 0, &why);
    const struct summary *summary = summarise(&a->arena, a->report);

    logs[a->n_builds] = (struct evidence_log){.name = "job.txt", .path = attempt_log_path(a)};
    report_markdown(&markdown, a->report, summary);
    const struct evidence_input in = {
        .root = a->sched->evidence_root,
        .name = a->id,
        .raw = a->report,
        .summary = summary,
        .report_markdown = buf_str(&markdown),
        .suite_dir = source_suite_path(a->sched->config.sources, &a->arena, a->job->suite_sha256),
        .logs = logs,
        .n_logs = a->n_builds + 1,
        .tally_dir = a->tally_dir,
        .corrections = allowed,
        .n_corrections = n_allowed,
        .initial_sums = a->initial_sums,
        .bundle = bundle,
        .key = a->sched->config.key};
    FAULT_POINT("seal.inputs_ready");
    rc = evidence_seal(&in, &sealed, &a->e);
    buf_deinit(&markdown);
    if (rc < 0)
        return rc;
    attempt_report(a, a->report, summary, &sealed);
    return 0;
}

static int sealed(struct attempt *a)
{
    FAULT_POINT("seal.sealed");
    a->sealed.created_ms = sched_now_ms(a->sched);
    a->is_sealed = true;
    attempt_say(a, "grade: %s", a->sealed.grade_line);
    attempt_say(a, "evidence: %s", a->sealed.evidence);
    return 0;
}

int step_seal(struct attempt *a)
{
    FAULT_POINT("step.seal");
    int rc = assemble(a);

    FAULT_POINT("seal.assembled");
    return rc < 0 ? rc : attempt_on_worker(a, seal, sealed);
}

/* ---- clean up */

/* A runner that is stuck takes its time to be ended: not on the loop's thread. */
static int end_runner(struct attempt *a)
{
    if (!a->run)
        return 0;
    run_free(a->run);
    a->run = NULL;
    orphans_end(a->sched, a->boot.id, a->left, sizeof a->left);
    return 0;
}

/* What a retry goes on with stays. */
static int clean_up(struct attempt *a)
{
    struct err e = {0};
    int rc = end_runner(a);

    FAULT_POINT("cleanup.runner_ended");
    if (attempt_keeps_builds(a) || !a->work_dir)
        return rc;
    for (size_t k = 0; k < a->job->n_sources; k++)
        (void)source_remove(a->sched->config.sources, a->sides[k].source_dir, NULL);
    if (file_rmtree(a->work_dir, &e) < 0)
        log_err("the work folder could not be removed", 0, &e);
    return rc;
}

static int cleaned_up(struct attempt *a)
{
    if (a->left[0])
        sched_block(a->sched, a->left);
    return 0;
}

bool attempt_keeps_builds(const struct attempt *a)
{
    return (a->end == END_REFUSED && a->refused_in == PHASE_BEFORE_TIMING) ||
           a->end == END_DEFERRED;
}

int step_cleanup(struct attempt *a)
{
    FAULT_POINT("step.cleanup");
    return attempt_on_worker(a, clean_up, cleaned_up);
}
