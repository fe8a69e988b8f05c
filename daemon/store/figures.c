#include "store/figures.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

#define AGAINST_MAX 256

WORDS(measure, measure);
WORDS(grade, grade);

static const struct field figure_fields[] = {
    F_AS(struct history_figure, of.attempt, "attempt"),
    F_AS(struct history_figure, of.started_ms, "started_ms"),
    F(struct history_figure, workload),
    F(struct history_figure, value),
    F(struct history_figure, lane),
    F(struct history_figure, side),
    F_AS(struct history_figure, commit, "commit_id"),
    F_WORD(struct history_figure, measure, measure),
    F(struct history_figure, unit),
    F_OPT(struct history_figure, operations),
    F(struct history_figure, control),
    F(struct history_figure, n),
    F(struct history_figure, median),
    F(struct history_figure, mad),
    F(struct history_figure, low),
    F(struct history_figure, high),
    F(struct history_figure, cpu_median),
    F_WORD(struct history_figure, grade, grade),
};
#define FIGURE_COLUMNS                                                                              \
    "f.attempt, f.started_ms, f.workload, f.value, f.lane, f.side, f.commit_id, f.measure, f.unit," \
    " f.operations, f.control, f.n, f.median, f.mad, f.low, f.high, f.cpu_median, f.grade"

static const struct field ratio_fields[] = {
    F_AS(struct history_ratio, of.attempt, "attempt"),
    F_AS(struct history_ratio, of.started_ms, "started_ms"),
    F(struct history_ratio, workload),
    F(struct history_ratio, value),
    F(struct history_ratio, subject_lane),
    F(struct history_ratio, reference_lane),
    F(struct history_ratio, subject_side),
    F(struct history_ratio, reference_side),
    F(struct history_ratio, subject_commit),
    F(struct history_ratio, reference_commit),
    F_WORD(struct history_ratio, measure, measure),
    F(struct history_ratio, unit),
    F_OPT(struct history_ratio, operations),
    F(struct history_ratio, subject),
    F(struct history_ratio, reference),
    F(struct history_ratio, ratio_of_medians),
    F(struct history_ratio, ratio),
    F(struct history_ratio, low),
    F(struct history_ratio, high),
    F(struct history_ratio, coverage),
    F(struct history_ratio, verdict),
    F_WORD(struct history_ratio, grade, grade),
};
#define RATIO_COLUMNS                                                                              \
    "f.attempt, f.started_ms, f.workload, f.value, f.subject_lane, f.reference_lane,"              \
    " f.subject_side, f.reference_side, f.subject_commit, f.reference_commit, f.measure, f.unit,"  \
    " f.operations, f.subject, f.reference, f.ratio_of_medians, f.ratio, f.low, f.high,"           \
    " f.coverage, f.verdict, f.grade"

/* ---- with a report */

struct table_of {
    const char *sql;
    const struct field *fields;
    size_t n_fields, bytes; /* of a row */
};

static int add_rows(struct store *s, const struct table_of *t, const void *rows, size_t n,
                    struct err *e)
{
    struct query q;
    query_begin(&q, s, t->sql);
    for (size_t i = 0; i < n; i++) {
        const char *row = (const char *)rows + i * t->bytes;
        query_bind_next(&q, t->fields, t->n_fields, row, i ? row - t->bytes : NULL);
        query_step(&q);
    }
    return query_end(&q, e);
}

int rows_add_figures(struct store *s, const struct history *h, struct err *e)
{
    static const struct table_of figures = {
        "INSERT INTO figures (attempt, started_ms, workload, value, lane, side, commit_id, measure,"
        " unit, operations, control, n, median, mad, low, high, cpu_median, grade) VALUES"
        " (:attempt, :started_ms, :workload, :value, :lane, :side, :commit_id, :measure, :unit,"
        " :operations, :control, :n, :median, :mad, :low, :high, :cpu_median, :grade)",
        figure_fields, ARRAY_LEN(figure_fields), sizeof(struct history_figure)};
    static const struct table_of ratios = {
        "INSERT INTO figure_ratios (attempt, started_ms, workload, value, subject_lane,"
        " reference_lane, subject_side, reference_side, subject_commit, reference_commit, measure,"
        " unit, operations, subject, reference, ratio_of_medians, ratio, low, high, coverage,"
        " verdict, grade) VALUES (:attempt, :started_ms, :workload, :value, :subject_lane,"
        " :reference_lane, :subject_side, :reference_side, :subject_commit, :reference_commit,"
        " :measure, :unit, :operations, :subject, :reference, :ratio_of_medians, :ratio, :low,"
        " :high, :coverage, :verdict, :grade)",
        ratio_fields, ARRAY_LEN(ratio_fields), sizeof(struct history_ratio)};
    int rc = add_rows(s, &figures, h->figures, h->n_figures, e);
    return rc ? rc : add_rows(s, &ratios, h->ratios, h->n_ratios, e);
}

/* ---- one series */

/* What both tables are joined with, and what of it is read. */
#define ORIGIN_COLUMNS ", a.job, j.label, a.boot, h.name, u.name, j.suite_sha256"
#define ORIGIN_JOIN                                                                                \
    " JOIN attempts a ON a.id = f.attempt JOIN jobs j ON j.id = a.job"                             \
    " JOIN hosts h ON h.number = a.host LEFT JOIN suites u ON u.sha256 = j.suite_sha256"
#define SERIES_PAGE                                                                                \
    " AND f.started_ms >= :since_ms AND f.started_ms < :until_ms"                                  \
    " AND (:grade IS NULL OR f.grade = :grade) AND (:suite IS NULL OR u.name = :suite)"            \
    " ORDER BY f.started_ms DESC, f.number DESC LIMIT :limit"

static void read_origin(struct query *q, int column, struct arena *a, struct history_origin *out)
{
    out->job = query_col_text(q, column, a);
    out->label = query_col_text(q, column + 1, a);
    out->boot = query_col_text(q, column + 2, a);
    out->host = query_col_text(q, column + 3, a);
    out->suite = query_col_text(q, column + 4, a);
    out->suite_sha256 = query_col_text(q, column + 5, a);
}

static int check_limit(int limit, struct err *e)
{
    if (limit >= 1 && limit <= STORE_SERIES_MAX)
        return 0;
    return err_set(e, -EINVAL, "store.bad_limit", "limit", "ask for 1 to %d", STORE_SERIES_MAX);
}

static void bind_series(struct query *q, const struct store_series *of)
{
    query_text(q, ":workload", of->workload);
    query_text(q, ":value", of->value);
    query_text(q, ":lane", of->lane);
    query_text(q, ":side", of->side);
    query_text(q, ":suite", of->suite);
    query_text(q, ":grade", of->contractual ? grade_name(GRADE_CONTRACTUAL) : NULL);
    query_int(q, ":since_ms", of->since_ms);
    query_int(q, ":until_ms", of->until_ms);
    query_int(q, ":limit", of->limit);
}

int store_figure_list(struct store *s, const struct store_series *of, struct arena *a,
                      struct history_figure **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        "SELECT " FIGURE_COLUMNS ORIGIN_COLUMNS " FROM figures f" ORIGIN_JOIN
        " WHERE f.workload = :workload AND f.value = :value AND f.lane = :lane"
        " AND (:side IS NULL OR f.side = :side)" SERIES_PAGE;
    struct query q;
    int rc = check_limit(of->limit, e);
    *n = 0;
    if (rc != 0)
        return rc;
    *out = arena_array(a, (size_t)of->limit, sizeof **out);
    query_begin(&q, s, SQL);
    bind_series(&q, of);
    for (; query_row(&q); (*n)++) {
        query_read(&q, figure_fields, ARRAY_LEN(figure_fields), a, &(*out)[*n]);
        read_origin(&q, ARRAY_LEN(figure_fields), a, &(*out)[*n].of);
    }
    return query_end(&q, e);
}

int store_ratio_list(struct store *s, const struct store_series *of, struct arena *a,
                     struct history_ratio **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        "SELECT " RATIO_COLUMNS ORIGIN_COLUMNS " FROM figure_ratios f" ORIGIN_JOIN
        " WHERE f.workload = :workload AND f.value = :value AND f.subject_lane = :lane"
        " AND f.reference_lane = :against"
        " AND (:side IS NULL OR f.subject_side = :side)" SERIES_PAGE;
    struct query q;
    int rc = check_limit(of->limit, e);
    *n = 0;
    if (rc != 0)
        return rc;
    *out = arena_array(a, (size_t)of->limit, sizeof **out);
    query_begin(&q, s, SQL);
    bind_series(&q, of);
    query_text(&q, ":against", of->against);
    for (; query_row(&q); (*n)++) {
        query_read(&q, ratio_fields, ARRAY_LEN(ratio_fields), a, &(*out)[*n]);
        read_origin(&q, ARRAY_LEN(ratio_fields), a, &(*out)[*n].of);
    }
    return query_end(&q, e);
}

/* ---- which there are: by skipping from one to the next, so that it costs by their number, not by
 * that of their rows */

static void bind_name(struct query *q, const struct history_name *name)
{
    query_text(q, ":workload", name->workload);
    query_text(q, ":value", name->value);
    query_text(q, ":lane", name->lane);
}

/* STORE_NONE: it was the last. */
static int next_name(struct store *s, const struct history_name *after, struct arena *a,
                     struct history_name *out, struct err *e)
{
    static const char SQL[] = "SELECT workload, value, lane, started_ms FROM figures"
                              " WHERE (workload, value, lane) > (:workload, :value, :lane)"
                              " ORDER BY workload, value, lane, started_ms LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    bind_name(&q, after);
    bool found = query_row(&q);
    if (found)
        *out = (struct history_name){.workload = query_col_text(&q, 0, a),
                                     .value = query_col_text(&q, 1, a),
                                     .lane = query_col_text(&q, 2, a),
                                     .first_ms = query_col_int(&q, 3)};
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

static const struct field latest_fields[] = {
    F_AS(struct history_name, latest_ms, "started_ms"),
    F_WORD(struct history_name, measure, measure),
    F(struct history_name, unit),
    F(struct history_name, control),
};

static int read_latest(struct store *s, struct arena *a, struct history_name *name, struct err *e)
{
    static const char SQL[] = "SELECT started_ms, measure, unit, control FROM figures"
                              " WHERE workload = :workload AND value = :value AND lane = :lane"
                              " ORDER BY started_ms DESC, number DESC LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    bind_name(&q, name);
    if (query_row(&q))
        query_read(&q, latest_fields, ARRAY_LEN(latest_fields), a, name);
    return query_end(&q, e);
}

/* STORE_NONE: it was the last. */
static int next_against(struct store *s, const struct history_name *name, const char *after,
                        struct arena *a, const char **out, struct err *e)
{
    static const char SQL[] =
        "SELECT reference_lane FROM figure_ratios WHERE workload = :workload AND value = :value"
        " AND subject_lane = :lane AND reference_lane > :after ORDER BY reference_lane LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    bind_name(&q, name);
    query_text(&q, ":after", after);
    bool found = query_row(&q);
    if (found)
        *out = query_col_text(&q, 0, a);
    int rc = query_end(&q, e);
    return rc ? rc : found ? 0 : STORE_NONE;
}

static int read_against(struct store *s, struct arena *a, struct history_name *name, struct err *e)
{
    const char *after = "", *lanes[AGAINST_MAX];
    int rc = 0;
    while (name->n_against < AGAINST_MAX &&
           (rc = next_against(s, name, after, a, &lanes[name->n_against], e)) == 0)
        after = lanes[name->n_against++];
    name->against = arena_array(a, name->n_against, sizeof *name->against);
    for (size_t i = 0; i < name->n_against; i++)
        name->against[i] = lanes[i];
    return rc < 0 ? rc : 0;
}

int store_series_list(struct store *s, const char *workload, int limit, struct arena *a,
                      struct history_name **out, size_t *n, bool *more, struct err *e)
{
    const struct history_name begin = {
        .workload = workload ? workload : "", .value = "", .lane = ""};
    const struct history_name *last = &begin;
    struct history_name next;
    int rc = check_limit(limit, e);
    *n = 0;
    *more = false;
    if (rc != 0)
        return rc;
    *out = arena_array(a, (size_t)limit, sizeof **out);
    while ((rc = next_name(s, last, a, &next, e)) == 0) {
        if (workload && strcmp(next.workload, workload) != 0)
            return 0;
        *more = *n == (size_t)limit;
        if (*more)
            return 0;
        rc = read_latest(s, a, &next, e);
        if (rc == 0)
            rc = read_against(s, a, &next, e);
        if (rc < 0)
            return rc;
        (*out)[*n] = next;
        last = &(*out)[(*n)++];
    }
    return rc < 0 ? rc : 0;
}
