#include "store/figures.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

#define AGAINST_MAX 32       /* of one series */
#define AGAINST_ALL_MAX 4096 /* of all that one question is answered with */
#define NAMES_READ_MAX 20000

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
#define FIGURE_SIDE 5 /* its place among them */
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
#define RATIO_SIDE 6
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
    " ORDER BY f.started_ms DESC, f.number DESC LIMIT :may_read"

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

/* One of the two tables. */
struct rows_of {
    struct table_of t; /* selects */
    size_t of;         /* where in a row its origin stands */
    int side, grade;   /* columns */
};
#define SUITE_COLUMN(k) ((int)(k)->t.n_fields + 4)

static bool is_column(struct query *q, int column, const char *wanted)
{
    const char *text = (const char *)sqlite3_column_text(q->st, column);
    return !wanted || (text && strcmp(text, wanted) == 0);
}

/* Asked of each row here and not of SQLite, so that who asks for what is rare cannot have all rows
 * of a long series read. */
static bool is_wanted(struct query *q, const struct rows_of *k, const struct store_series *of)
{
    return is_column(q, k->side, of->side) && is_column(q, SUITE_COLUMN(k), of->suite) &&
           is_column(q, k->grade, of->contractual ? grade_name(GRADE_CONTRACTUAL) : NULL);
}

static void bind_series(struct query *q, const struct store_series *of, int may_read)
{
    query_text(q, ":workload", of->workload);
    query_text(q, ":value", of->value);
    query_text(q, ":lane", of->lane);
    query_text(q, ":against", of->against);
    query_int(q, ":since_ms", of->since_ms);
    query_int(q, ":until_ms", of->until_ms);
    query_int(q, ":may_read", may_read);
}

/* Room for one more row in an array of the arena. */
static char *make_room(struct arena *a, char *rows, size_t n, size_t *cap, size_t bytes)
{
    if (n < *cap)
        return rows;
    *cap = *cap ? *cap * 2 : 16;
    char *larger = arena_array(a, *cap, bytes);
    if (n)
        memcpy(larger, rows, n * bytes);
    return larger;
}

static int list(struct store *s, const struct rows_of *k, const struct store_series *of,
                int *may_read, struct arena *a, void **out, size_t *n, bool *more, struct err *e)
{
    struct query q;
    char *rows = NULL;
    size_t cap = 0;
    int read = 0, rc = check_limit(of->limit, e);
    *n = 0;
    *more = false;
    if (rc != 0)
        return rc;
    query_begin(&q, s, k->t.sql);
    bind_series(&q, of, *may_read);
    while (!*more && query_row(&q)) {
        read++;
        if (!is_wanted(&q, k, of))
            continue;
        *more = *n == (size_t)of->limit;
        if (*more)
            break;
        rows = make_room(a, rows, *n, &cap, k->t.bytes);
        char *row = rows + (*n)++ * k->t.bytes;
        query_read(&q, k->t.fields, k->t.n_fields, a, row);
        read_origin(&q, (int)k->t.n_fields, a, (struct history_origin *)(void *)(row + k->of));
    }
    *out = rows;
    *more = *more || read == *may_read;
    *may_read -= read;
    return query_end(&q, e);
}

int store_figure_list(struct store *s, const struct store_series *of, int *may_read,
                      struct arena *a, struct history_figure **out, size_t *n, bool *more,
                      struct err *e)
{
    static const struct rows_of figures = {
        {"SELECT " FIGURE_COLUMNS ORIGIN_COLUMNS " FROM figures f" ORIGIN_JOIN
         " WHERE f.workload = :workload AND f.value = :value AND f.lane = :lane"
         " AND :against IS NULL" SERIES_PAGE,
         figure_fields, ARRAY_LEN(figure_fields), sizeof(struct history_figure)},
        offsetof(struct history_figure, of),
        FIGURE_SIDE,
        ARRAY_LEN(figure_fields) - 1};
    void *rows = NULL;
    int rc = list(s, &figures, of, may_read, a, &rows, n, more, e);
    *out = rows;
    return rc;
}

int store_ratio_list(struct store *s, const struct store_series *of, int *may_read, struct arena *a,
                     struct history_ratio **out, size_t *n, bool *more, struct err *e)
{
    static const struct rows_of ratios = {
        {"SELECT " RATIO_COLUMNS ORIGIN_COLUMNS " FROM figure_ratios f" ORIGIN_JOIN
         " WHERE f.workload = :workload AND f.value = :value AND f.subject_lane = :lane"
         " AND f.reference_lane = :against" SERIES_PAGE,
         ratio_fields, ARRAY_LEN(ratio_fields), sizeof(struct history_ratio)},
        offsetof(struct history_ratio, of),
        RATIO_SIDE,
        ARRAY_LEN(ratio_fields) - 1};
    void *rows = NULL;
    int rc = list(s, &ratios, of, may_read, a, &rows, n, more, e);
    *out = rows;
    return rc;
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

static int read_against(struct store *s, struct arena *a, struct history_name *name, int *left,
                        struct err *e)
{
    const char *after = "", *lanes[AGAINST_MAX];
    int rc = 0;
    while (rc == 0 && name->n_against<AGAINST_MAX && * left> 0) {
        rc = next_against(s, name, after, a, &lanes[name->n_against], e);
        if (rc == 0)
            after = lanes[name->n_against++];
        (*left)--;
    }
    name->more_against = rc == 0;
    name->against = arena_array(a, name->n_against, sizeof *name->against);
    for (size_t i = 0; i < name->n_against; i++)
        name->against[i] = lanes[i];
    return rc < 0 ? rc : 0;
}

static bool is_series(const struct store_series *of, const struct history_name *name)
{
    bool is_value = !of->value || strcmp(of->value, name->value) == 0 ||
                    (!name->value[0] && strcmp(of->value, HISTORY_TIME) == 0);
    return is_value && (!of->lane || strcmp(of->lane, name->lane) == 0);
}

static int fill_name(struct store *s, struct arena *a, struct history_name *name, int *left,
                     struct err *e)
{
    int rc = read_latest(s, a, name, e);
    return rc < 0 ? rc : read_against(s, a, name, left, e);
}

int store_series_list(struct store *s, const struct store_series *of, struct arena *a,
                      struct history_name **out, size_t *n, bool *more, struct err *e)
{
    struct history_name next = {
        .workload = of->workload ? of->workload : "", .value = "", .lane = ""};
    int read = 0, left = AGAINST_ALL_MAX, rc = check_limit(of->limit, e);
    *n = 0;
    *more = false;
    if (rc != 0)
        return rc;
    *out = arena_array(a, (size_t)of->limit, sizeof **out);
    while ((rc = next_name(s, &next, a, &next, e)) == 0) {
        if (of->workload && strcmp(next.workload, of->workload) != 0)
            return 0;
        *more = *n == (size_t)of->limit || read++ == NAMES_READ_MAX;
        if (*more)
            return 0;
        if (!is_series(of, &next))
            continue;
        (*out)[*n] = next;
        rc = fill_name(s, a, &(*out)[(*n)++], &left, e);
        if (rc < 0)
            return rc;
    }
    return rc < 0 ? rc : 0;
}
