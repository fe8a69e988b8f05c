/* A session's folder: each report that session.json names is there and no other, is of this
 * session, follows from its raw.json, and is what session.json says of it. */
#include "client/verify/verify_session.h"

#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "core/grade/grade.h"
#include "core/summary/summarise.h"
#include "proto/json/json.h"

/* ---- session.json */

static void check_record(struct verify *v)
{
    const struct verify_session *s = v->session;
    CLEANUP(buf_deinit) struct buf again = {0};

    if (!s->read)
        verify_say(v, "session", TRI_FAIL, "session.json%s%s: %s", s->err.field[0] ? ", " : "",
                   s->err.field, s->err.text);
    else if (json_canonical(s->text.data, s->text.len, &again, NULL) < 0 ||
             s->text.len != again.len || memcmp(s->text.data, again.data, again.len) != 0)
        verify_say(v, "session", TRI_FAIL, "session.json is not canonical");
    else
        verify_say(v, "session", TRI_PASS, "session.json is canonical, session %s, %zu job%s",
                   s->document->id, s->n_jobs, s->n_jobs == 1 ? "" : "s");
}

/* ---- the reports that are there */

struct look {
    struct verify *v;
    size_t faults;
};

static int look(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct look *l = ctx;

    (void)kind, (void)mode, (void)bytes;
    if (strchr(path, '/') || verify_session_find(l->v->session, path))
        return 0;
    l->faults++;
    verify_say(l->v, "reports", TRI_FAIL, "reports/%s is not named in session.json", path);
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* NULL: it is not there, or only behind a link, which leads elsewhere. */
static char *report_dir(const struct verify *v, const char *attempt)
{
    CLEANUP(mem_freep) char *all = file_join(v->dir, "reports");
    char *dir = file_join(all, attempt);

    if (is_folder(all) && is_folder(dir))
        return dir;
    free(dir);
    return NULL;
}

static void check_reports(struct verify *v)
{
    const struct verify_session *s = v->session;
    CLEANUP(mem_freep) char *all = file_join(v->dir, "reports");
    struct look l = {.v = v};
    struct err e = {0};

    if (is_folder(all) && file_walk(all, look, &l, &e) < 0) {
        l.faults++;
        verify_say(v, "reports", TRI_FAIL, "%s", e.text);
    }
    for (size_t i = 0; i < s->n_reports; i++) {
        CLEANUP(mem_freep) char *dir = report_dir(v, s->reports[i].attempt);
        if (dir)
            continue;
        l.faults++;
        verify_say(v, "reports", TRI_FAIL, "reports/%s is missing", s->reports[i].attempt);
    }
    if (l.faults == 0)
        verify_say(v, "reports", TRI_PASS, "%zu, all named in session.json", s->n_reports);
}

/* ---- one report */

static const char *session_fault(const struct verify_session *s, const struct raw_session *its)
{
    if (!its)
        return "it belongs to no session";
    if (!text_equal(its->id, s->document->id))
        return "it belongs to another session";
    if (!text_equal(its->label, s->document->label) || its->boot != s->document->boot ||
        its->settle_ms != s->document->settle_ms || its->opened_ms != s->opened_ms ||
        !text_equal(its->opened_boot, s->opened_boot))
        return "it says another thing of its session than session.json";
    return NULL;
}

static const char *member_fault(struct verify *v, const struct verify *its,
                                const struct verify_session_report *r)
{
    const struct verify_text *text = &its->files[VERIFY_RAW];
    const struct raw *raw = its->raw;
    char hex[DIGEST_HEX];
    const char *fault = session_fault(v->session, raw->session);

    digest_bytes(text->data, text->len, hex);
    if (fault)
        return fault;
    if (!text_equal(raw->id, r->attempt))
        return arena_printf(&v->a, "it is of attempt %s", raw->id);
    if (!text_equal(raw->job.id, r->job->id) || !text_equal(raw->job.label, r->job->label))
        return arena_printf(&v->a, "it is not of job %s, for which session.json names it",
                            r->job->id);
    return text_equal(hex, r->raw_sha256) ? NULL
                                          : "session.json names the hash of another raw.json";
}

/* What session.json repeats of the report that it shows for a job. */
static const char *shown_fault(const struct verify_session *s, const struct verify *its,
                               const struct verify_session_job *job)
{
    const struct raw *raw = its->raw;
    bool post = session_is_post_reboot(s->opened_boot, &raw->boot, s->document->settle_ms,
                                       raw->started_wall_ms);

    if (its->summary && (!text_equal(job->grade, grade_name(its->summary->grade.value)) ||
                         !text_equal(job->line, its->summary->grade.line)))
        return "its grade";
    if (job->started_ms != raw->started_wall_ms)
        return "when it began";
    if (!text_equal(job->boot, raw->boot.id) ||
        !text_equal(job->boot_label, session_boot_label(post)))
        return "its boot";
    return NULL;
}

/* All were made by one host: the first one's key is that of the session. */
static void check_key(struct verify *v, const struct verify *its)
{
    if (!v->names_key) {
        v->names_key = true;
        v->host_key = its->raw->host_key ? arena_strdup(&v->a, its->raw->host_key) : NULL;
    }
}

static void check_member(struct verify *v, struct verify *its,
                         const struct verify_session_report *r)
{
    const char *fault = member_fault(v, its, r);
    bool shown = text_equal(r->job->attempt, r->attempt);

    verify_say(its, "member", fault ? TRI_FAIL : TRI_PASS, "%s",
               fault ? fault : "it is the one that session.json names, of this session");
    check_key(v, its);
    if (text_equal(v->host_key, its->raw->host_key))
        verify_say(its, "key", TRI_PASS, "it names the key that all reports here name");
    else
        verify_say(its, "key", TRI_FAIL, "it names another key than the first report here");
    fault = shown ? shown_fault(v->session, its, r->job) : NULL;
    if (shown)
        verify_say(its, "record", fault ? TRI_FAIL : TRI_PASS, "%s%s",
                   fault ? "session.json says otherwise: " : "session.json says the same of it",
                   fault ? fault : "");
}

static void check_report(struct verify *v, const struct verify_session_report *r)
{
    CLEANUP(mem_freep) char *dir = report_dir(v, r->attempt);
    struct verify its;

    if (!dir)
        return; /* said by the check of the reports */
    verify_init(&its, dir);
    if (verify_load(&its, &(struct err){0}) < 0) {
        verify_say(&its, "raw", TRI_FAIL, "the report's folder cannot be read");
    } else {
        verify_figures(&its);
        verify_report(&its);
        if (its.raw)
            check_member(v, &its, r);
    }
    for (size_t i = 0; i < its.n_lines; i++)
        verify_say(v, its.lines[i].check, its.lines[i].status, "%s: %s", r->attempt,
                   its.lines[i].text);
    verify_deinit(&its);
}

void verify_session(struct verify *v)
{
    check_record(v);
    if (!v->session->read)
        return;
    check_reports(v);
    for (size_t i = 0; i < v->session->n_reports; i++)
        check_report(v, &v->session->reports[i]);
}
