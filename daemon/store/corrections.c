/* Authorized corrections, each a row beside that of its source. */
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

/* In the report it hangs from its source; in a row the side says whose it is. */
struct correction_row {
    const char *side;
    struct raw_correction c;
};

static const struct field fields[] = {
    F(struct correction_row, side),
    F_AS(struct correction_row, c.base_commit, "base_commit"),
    F_AS(struct correction_row, c.corrected, "corrected"),
    F_AS(struct correction_row, c.diff_sha256, "diff_sha256"),
    F_OPT_AS(struct correction_row, c.files, "files"),
    F_OPT_AS(struct correction_row, c.lines_added, "lines_added"),
    F_OPT_AS(struct correction_row, c.lines_removed, "lines_removed"),
    F_AS(struct correction_row, c.approved_by, "approved_by"),
    F_AS(struct correction_row, c.reason, "reason"),
    F_AS(struct correction_row, c.proven, "proven"),
};

static const struct list_table corrections = {
    .insert = "INSERT INTO corrections (attempt, side, base_commit, corrected, diff_sha256, files,"
              " lines_added, lines_removed, approved_by, reason, proven) VALUES (:attempt, :side,"
              " :base_commit, :corrected, :diff_sha256, :files, :lines_added, :lines_removed,"
              " :approved_by, :reason, :proven)",
    .select = "SELECT side, base_commit, corrected, diff_sha256, files, lines_added,"
              " lines_removed, approved_by, reason, proven FROM corrections"
              " WHERE attempt = :attempt ORDER BY side",
    .fields = fields,
    .n_fields = ARRAY_LEN(fields),
    .item_bytes = sizeof(struct correction_row),
};

int rows_add_corrections(struct store *s, const char *attempt, const struct raw_source *sources,
                         size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        if (!sources[i].correction)
            continue;
        const struct correction_row row = {.side = sources[i].side, .c = *sources[i].correction};
        rc = rows_add_list(s, &corrections, attempt, &row, 1, e);
    }
    return rc;
}

int rows_load_corrections(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                          struct err *e)
{
    size_t n = 0;
    int rc;
    struct correction_row *rows = rows_load_list(s, &corrections, attempt, a, &n, &rc, e);
    for (size_t i = 0; i < n && rc == 0; i++)
        for (size_t k = 0; k < raw->n_sources; k++)
            if (strcmp(rows[i].side, raw->sources[k].side) == 0)
                raw->sources[k].correction = &rows[i].c;
    return rc;
}
