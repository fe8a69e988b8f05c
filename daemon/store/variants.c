/* Build variants of the sides, a row for each variable. */
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

struct variant_row {
    const char *side;
    int seq;
    const char *variable;
};

static const struct field fields[] = {
    F(struct variant_row, side),
    F(struct variant_row, seq),
    F(struct variant_row, variable),
};

static const struct list_table variants = {
    .insert = "INSERT INTO variants (attempt, side, seq, variable) VALUES (:attempt, :side, :seq,"
              " :variable)",
    .select = "SELECT side, seq, variable FROM variants WHERE attempt = :attempt"
              " ORDER BY side, seq",
    .fields = fields,
    .n_fields = ARRAY_LEN(fields),
    .item_bytes = sizeof(struct variant_row),
};

int rows_add_variants(struct store *s, const char *attempt, const struct raw_source *sources,
                      size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < sources[i].variant.n && rc == 0; v++) {
            const struct variant_row row = {sources[i].side, (int)v, sources[i].variant.v[v]};
            rc = rows_add_list(s, &variants, attempt, &row, 1, e);
        }
    return rc;
}

static void attach(struct arena *a, const struct variant_row *rows, size_t n,
                   struct raw_source *source)
{
    const char **v = arena_array(a, n + 1, sizeof *v);
    source->variant = (struct args){.v = v};
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].side, source->side) == 0)
            v[source->variant.n++] = rows[i].variable;
}

int rows_load_variants(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                       struct err *e)
{
    size_t n = 0;
    int rc;
    const struct variant_row *rows = rows_load_list(s, &variants, attempt, a, &n, &rc, e);
    for (size_t i = 0; i < raw->n_sources && rc == 0; i++)
        attach(a, rows, n, &raw->sources[i]);
    return rc;
}
