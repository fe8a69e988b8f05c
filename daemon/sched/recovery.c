/* What a daemon that is gone left unfinished. What its runners left is ended first, so that nothing
 * writes into a folder that is looked at or removed. An attempt whose evidence was sealed is given
 * the end that it would have had: the folder has its final name only when it is complete. Every
 * other one was lost. */
#include <errno.h>
#include <string.h>

#include "base/fault.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/doc/documents.h"
#include "sched/orphans.h"
#include "sched/sched_internal.h"

#define RAW_BYTES_MAX ((size_t)512 << 20)

/* ---- evidence that was sealed */

static char *sealed_file(const struct sched *s, const char *attempt, const char *name)
{
    return mem_printf("%s/%s/%s", s->evidence_root, attempt, name);
}

static bool is_sealed(const struct sched *s, const char *attempt)
{
    CLEANUP(mem_freep) char *path = sealed_file(s, attempt, "raw.json");

    return file_exists(path);
}

static int read_raw(struct sched *s, struct attempt *a, struct raw **raw,
                    struct evidence_sealed *sealed, struct err *e)
{
    CLEANUP(mem_freep) char *raw_path = sealed_file(s, a->id, "raw.json");
    CLEANUP(mem_freep) char *summary_path = sealed_file(s, a->id, "summary.json");
    CLEANUP(buf_deinit) struct buf text = {0};
    int rc = file_read(raw_path, RAW_BYTES_MAX, &text, e);

    if (rc == 0)
        rc = raw_decode(&a->arena, text.data, text.len, raw, e);
    if (rc < 0)
        return rc;
    digest_bytes(text.data, text.len, sealed->raw_sha256);
    return (*raw)->void_code ? 0 : digest_file(summary_path, sealed->summary_sha256, NULL, e);
}

/* The attempt as it was when it had sealed its report. */
static int revive(struct sched *s, struct attempt *a, const struct store_job *job, struct err *e)
{
    struct evidence_sealed sealed = {0};
    struct raw *raw;
    int rc = attempt_load(s, a);

    if (rc < 0)
        return err_set(e, rc, a->e.code, a->e.field, "%s", a->e.text);
    rc = read_raw(s, a, &raw, &sealed, e);
    if (rc < 0)
        return rc;
    a->state = job->state;
    a->boot = raw->boot;
    if (raw->void_code) {
        a->end = END_VOID;
        (void)err_set(&a->e, -EPROTO, raw->void_code, "", "%s", raw->void_text);
    } else {
        a->requeue = raw->phases[PHASE_AFTER_TIMING].inventory->state != INVENTORY_QUIET &&
                     !a->job->allow_competing;
    }
    attempt_report(a, raw, summarise(&a->arena, raw), &sealed);
    a->sealed.created_ms = sched_now_ms(s);
    a->is_sealed = true;
    return 0;
}

static int adopt(struct sched *s, const struct store_attempt *row, const struct store_job *job,
                 enum job_state *state, struct err *e)
{
    struct attempt *a = attempt_new(s, row->id, row->job, NULL);
    const char *text = NULL;
    int64_t next_try_ms = -1;
    int rc = revive(s, a, job, e);

    if (rc == 0 && !job_state_is_running(job->state)) {
        a->stop_asked = true;
        a->stop_as = END_CANCELLED;
    }
    if (rc == 0) {
        (void)attempt_log_open(a);
        attempt_say(a, "the daemon went down when the evidence was sealed already; another one "
                       "took the report over");
        rc = outcome_store(s, a, state, &text, &next_try_ms, e);
    }
    attempt_free(a);
    return rc;
}

/* ---- the others */

static int lose(struct sched *s, const struct store_attempt *row, const struct store_job *job,
                const char *boot_id, enum job_state *state, struct err *e)
{
    const bool rebooted = boot_id && strcmp(row->boot, boot_id) != 0;
    const struct attempt_lost lost = {.job = row->job,
                                      .attempt = row->id,
                                      .had_begun_timing = job->state != JOB_PREPARING,
                                      .code = "daemon.lost",
                                      .why = rebooted ? "the host was restarted during the attempt"
                                                      : "the daemon went down during the attempt"};

    return outcome_lose(s, &lost, state, e);
}

/* Evidence that cannot be read again stays where it is, and the attempt is lost. */
static int recover(struct sched *s, struct arena *arena, const struct store_attempt *row,
                   const char *boot_id, struct err *e)
{
    struct err why = {0};
    enum job_state state = JOB_LOST;
    struct store_job *job;
    int rc = store_job_get(s->config.store, row->job, arena, &job, e);

    if (rc < 0)
        return rc;
    if (is_sealed(s, row->id)) {
        rc = adopt(s, row, job, &state, &why);
        if (rc == 0) {
            log_info("attempt %s of job %s had sealed its report; the job is now %s", row->id,
                     row->job, job_state_name(state));
            return 0;
        }
        log_err("taking over a sealed report", rc, &why);
    }
    if (!job_state_is_running(job->state))
        return store_attempt_end(s->config.store, row->id, job_state_name(job->state),
                                 sched_now_ms(s), e);
    rc = lose(s, row, job, boot_id, &state, e);
    if (rc == 0)
        log_warn("attempt %s of job %s was lost; the job is now %s", row->id, row->job,
                 job_state_name(state));
    return rc;
}

static int recover_all(struct sched *s, struct arena *arena, const char *boot_id, struct err *e)
{
    struct store_attempt *attempts;
    size_t n = 0;

    int rc = store_unfinished_attempts(s->config.store, arena, &attempts, &n, e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        FAULT_POINT("recovery.attempt");
        rc = recover(s, arena, &attempts[i], boot_id, e);
    }
    return rc;
}

static void end_orphans(struct sched *s, const char *boot_id)
{
    char left[sizeof s->blocked];

    orphans_end(s, boot_id, left, sizeof left);
    if (left[0])
        sched_block(s, left);
}

/* Which boot this is decides who can be an orphan. Where the host does not say, nobody is. */
static const char *this_boot(struct sched *s, struct arena *arena)
{
    struct boot_identity boot;
    struct err e = {0};
    int rc = host_probe_boot(s->config.probe, arena, &boot, &e);

    if (rc == 0)
        return boot.id;
    log_err("asking which boot this is", rc, &e);
    return NULL;
}

int recovery_run(struct sched *s, struct err *e)
{
    struct arena arena = {0};
    const char *boot_id = this_boot(s, &arena);

    if (boot_id)
        end_orphans(s, boot_id);
    FAULT_POINT("recovery.orphans_ended");
    int rc = recover_all(s, &arena, boot_id, e);
    FAULT_POINT("recovery.done");
    arena_deinit(&arena);
    return rc;
}
