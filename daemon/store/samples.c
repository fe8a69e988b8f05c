/* Samples that lanes printed: a row for each series of an observation, its numbers as one text. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/suite.h"
#include "store/rows.h"

struct samples_item {
    struct row_place at;
    struct raw_samples series;
    const char *text; /* what its numbers are made of */
};

static const struct field sample_fields[] = {
    ROW_PLACE(struct samples_item),
    F_AS(struct samples_item, series.name, "name"),
    F_AS(struct samples_item, text, "samples"),
};

static const struct row_part sample_part = {
    .table = {.insert = "INSERT INTO observation_samples (attempt, seq, number, name, samples)"
                        " VALUES (:attempt, :seq, :number, :name, :samples)",
              .select = "SELECT seq, number, name, samples FROM observation_samples"
                        " WHERE attempt = :attempt ORDER BY seq, number",
              .fields = sample_fields,
              .n_fields = ARRAY_LEN(sample_fields),
              .item_bytes = sizeof(struct samples_item)},
    ROW_PART(struct samples_item, series, samples),
};

int rows_add_samples(struct store *s, const char *attempt, const struct raw_observation *o,
                     struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < o->n_samples && rc == 0; i++) {
        const struct raw_samples *series = &o->samples[i];
        CLEANUP(buf_deinit) struct buf text = {0};
        for (size_t k = 0; k < series->n; k++)
            buf_printf(&text, "%s%" PRId64, k ? " " : "", series->v[k]);
        const struct samples_item item = {{o->seq, (int)i}, *series, buf_str(&text)};
        rc = rows_add_list(s, &sample_part.table, attempt, &item, 1, e);
    }
    return rc;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One number and the blank before the next one; false: it is none, or nothing follows the blank. */
static bool take_number(const char **at, int64_t *out)
{
    const char *from = *at;
    int64_t v = 0;

    for (; is_digit(**at) && *at - from < 16; (*at)++)
        v = v * 10 + (**at - '0');
    *out = v;
    if (*at == from || (**at != '\0' && (**at != ' ' || !is_digit((*at)[1]))))
        return false;
    *at += **at == ' ';
    return true;
}

static int parse(struct arena *a, struct samples_item *stored, struct err *e)
{
    struct raw_samples *out = &stored->series;
    const char *at = stored->text;

    out->v = arena_array(a, strlen(at) / 2 + 1, sizeof *out->v);
    while (*at)
        if (!take_number(&at, &out->v[out->n++]))
            return err_set(e, -EBADMSG, "store.corrupt", "samples",
                           "the samples \"%s\" of observation %d are no numbers; restore a backup",
                           out->name, stored->at.seq);
    return 0;
}

int rows_load_samples(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e)
{
    size_t n;
    int rc;
    struct samples_item *stored = rows_load_list(s, &sample_part.table, attempt, a, &n, &rc, e);

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = parse(a, &stored[i], e);
    if (rc == 0)
        rows_attach_part(&sample_part, a, stored, n, raw);
    return rc;
}
