#include "store/calibrations.h"

#include "base/mem.h"
#include "store/rows.h"

WORDS(calibration_form, calibration_form);
WORDS(measure, measure);

static const struct field fields[] = {
    F(struct store_calibration, id),       F(struct store_calibration, boot),
    F(struct store_calibration, document), F_WORD(struct store_calibration, form, calibration_form),
    F(struct store_calibration, wall_ms),  F(struct store_calibration, clock_step_ns),
};

static const struct field figure_fields[] = {
    F_WORD(struct calibration_figures, measure, measure),
    F(struct calibration_figures, noise_floor),
    F(struct calibration_figures, cpu_noise_floor),
    F(struct calibration_figures, floor_median_ns),
    F(struct calibration_figures, floor_mad_ns),
};

static int add(struct store *s, const struct store_calibration *c, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO calibrations (id, boot, form, wall_ms, clock_step_ns, document)"
        " VALUES (:id, :boot, :form, :wall_ms, :clock_step_ns, :document)";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, fields, ARRAY_LEN(fields), c);
    return query_run(&q, e);
}

static int add_figures(struct store *s, const char *calibration,
                       const struct calibration_figures *figures, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO calibration_figures (calibration, measure, noise_floor, cpu_noise_floor,"
        " floor_median_ns, floor_mad_ns) VALUES (:calibration, :measure, :noise_floor,"
        " :cpu_noise_floor, :floor_median_ns, :floor_mad_ns)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":calibration", calibration);
    query_bind(&q, figure_fields, ARRAY_LEN(figure_fields), figures);
    return query_run(&q, e);
}

int store_calibration_put(struct store *s, const struct store_calibration *c, struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = add(s, c, e);
    for (size_t m = 0; rc == 0 && m < CALIBRATION_MEASURES; m++)
        rc = add_figures(s, c->id, &c->figures[m], e);
    return tx_end(s, rc, e);
}

/* The text of the one row, if there is one; q has its binds. */
static int take_document(struct query *q, struct arena *a, const char **document, struct err *e)
{
    *document = query_row(q) ? query_col_text(q, 0, a) : NULL;
    int rc = query_end(q, e);
    return rc == 0 && !*document ? STORE_NONE : rc;
}

int store_calibration_latest(struct store *s, const char *boot, struct arena *a,
                             const char **document, struct err *e)
{
    static const char SQL[] = "SELECT document FROM calibrations WHERE boot = :boot"
                              " ORDER BY number DESC LIMIT 1";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":boot", boot);
    return take_document(&q, a, document, e);
}

int store_attempt_calibrate(struct store *s, const char *attempt, const char *boot, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO attempt_calibrations (attempt, calibration)"
        " SELECT :attempt, id FROM calibrations WHERE boot = :boot ORDER BY number DESC LIMIT 1";
    struct query q;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_text(&q, ":boot", boot);
    return tx_end(s, query_run(&q, e), e);
}

int store_attempt_calibration(struct store *s, const char *attempt, struct arena *a,
                              const char **document, struct err *e)
{
    static const char SQL[] =
        "SELECT c.document FROM attempt_calibrations AS a"
        " JOIN calibrations AS c ON c.id = a.calibration WHERE a.attempt = :attempt";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    return take_document(&q, a, document, e);
}
