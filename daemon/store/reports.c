/* Refusals and reports. */
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "store/rows.h"

WORDS(phase, phase);
WORDS(grade, grade);

/* ---- refusals ---- */

static const struct field refusal_fields[] = {
    F(struct raw_refusal, attempt),
    F(struct raw_refusal, wall_ms),
    F_WORD(struct raw_refusal, phase, phase),
    F(struct raw_refusal, reason),
};

int rows_add_refusal(struct store *s, const struct raw_refusal *refusal, struct err *e)
{
    static const char SQL[] = "INSERT INTO refusals (attempt, wall_ms, phase, reason)"
                              " VALUES (:attempt, :wall_ms, :phase, :reason)";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, refusal_fields, ARRAY_LEN(refusal_fields), refusal);
    return query_run(&q, e);
}

int store_load_refusals(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                        struct err *e)
{
    static const char SQL[] =
        "SELECT r.attempt, r.wall_ms, r.phase, r.reason"
        " FROM attempts own JOIN attempts t ON t.job = own.job AND t.number <= own.number"
        " JOIN refusals r ON r.attempt = t.id"
        " WHERE own.id = :attempt ORDER BY t.number, r.number";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    raw->refusals = query_all(&q, refusal_fields, ARRAY_LEN(refusal_fields),
                              sizeof(struct raw_refusal), a, &raw->n_refusals);
    return query_end(&q, e);
}

int store_recent_refusal(struct store *s, const char *job, struct arena *a,
                         struct raw_refusal **out, struct err *e)
{
    static const char SQL[] = "SELECT r.attempt, r.wall_ms, r.phase, r.reason"
                              " FROM attempts t JOIN refusals r ON r.attempt = t.id"
                              " WHERE t.job = :job ORDER BY t.number DESC, r.number DESC LIMIT 1";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":job", job);
    *out = query_all(&q, refusal_fields, ARRAY_LEN(refusal_fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? STORE_NONE : rc;
}

/* ---- reports ---- */

const char *rows_evidence(struct store *s, const char *path, struct arena *a)
{
    const char *slash = strrchr(s->path, '/'), *name = path ? strrchr(path, '/') : NULL;
    if (!slash || !name)
        return path;
    const char *here = arena_printf(a, "%.*s/evidence%s", (int)(slash - s->path), s->path, name);
    return file_exists(here) ? here : path;
}

static const struct field report_fields[] = {
    F(struct store_report, attempt),    F_WORD(struct store_report, grade, grade),
    F(struct store_report, grade_line), F(struct store_report, evidence),
    F(struct store_report, raw_sha256), F(struct store_report, summary_sha256),
    F(struct store_report, created_ms),
};

static int link_to_job(struct store *s, const char *attempt, struct err *e)
{
    static const char SQL[] = "UPDATE jobs SET report = :attempt"
                              " WHERE id = (SELECT job FROM attempts WHERE id = :attempt)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    return query_run(&q, e);
}

static const struct field count_fields[] = {
    F(struct store_report_count, faster),   F(struct store_report_count, slower),
    F(struct store_report_count, same),     F(struct store_report_count, unresolved),
    F(struct store_report_count, controls), F(struct store_report_count, drifted),
};

static int add_counts(struct store *s, const struct store_report *report, struct err *e)
{
    static const char SQL[] = "INSERT INTO report_counts (attempt, faster, slower, same,"
                              " unresolved, controls, drifted) VALUES (:attempt, :faster, :slower,"
                              " :same, :unresolved, :controls, :drifted)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", report->attempt);
    query_bind(&q, count_fields, ARRAY_LEN(count_fields), report->counts);
    return query_run(&q, e);
}

int store_report_counts(struct store *s, const char *attempt, struct store_report_count *out,
                        struct err *e)
{
    static const char SQL[] = "SELECT faster, slower, same, unresolved, controls, drifted"
                              " FROM report_counts WHERE attempt = :attempt";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    bool found = query_row(&q);
    if (found)
        query_read(&q, count_fields, ARRAY_LEN(count_fields), NULL, out);
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

int rows_add_report(struct store *s, const struct store_report *report, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO reports (attempt, grade, grade_line, evidence, raw_sha256, summary_sha256,"
        " created_ms) VALUES (:attempt, :grade, :grade_line, :evidence, :raw_sha256,"
        " :summary_sha256, :created_ms)";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, report_fields, ARRAY_LEN(report_fields), report);
    int rc = query_run(&q, e);
    if (rc == 0 && report->counts)
        rc = add_counts(s, report, e);
    if (rc == 0 && report->history)
        rc = rows_add_figures(s, report->history, e);
    return rc ? rc : link_to_job(s, report->attempt, e);
}

int store_report_put(struct store *s, const struct store_report *report, struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, rows_add_report(s, report, e), e);
}

int store_report_get(struct store *s, const char *attempt, struct arena *a,
                     struct store_report **out, struct err *e)
{
    static const char SQL[] = "SELECT attempt, grade, grade_line, evidence, raw_sha256,"
                              " summary_sha256, created_ms FROM reports WHERE attempt = :attempt";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    *out = query_all(&q, report_fields, ARRAY_LEN(report_fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    if (rc == 0 && n > 0)
        (*out)->evidence = rows_evidence(s, (*out)->evidence, a);
    return rc == 0 && n == 0 ? STORE_NONE : rc;
}
