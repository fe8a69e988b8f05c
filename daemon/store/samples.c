/* Samples that lanes printed: a row for each series of an observation, its numbers as one text. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/suite.h"
#include "store/rows.h"

int rows_add_samples(struct store *s, const char *attempt, const struct raw_observation *o,
                     struct err *e)
{
    static const char SQL[] =
        "INSERT INTO observation_samples (attempt, seq, number, name, samples)"
        " VALUES (:attempt, :seq, :number, :name, :samples)";
    int rc = 0;

    for (size_t i = 0; i < o->n_samples && rc == 0; i++) {
        const struct raw_samples *series = &o->samples[i];
        CLEANUP(buf_deinit) struct buf text = {0};
        struct query q;
        for (size_t k = 0; k < series->n; k++)
            buf_printf(&text, "%s%" PRId64, k ? " " : "", series->v[k]);
        query_begin(&q, s, SQL);
        query_text(&q, ":attempt", attempt);
        query_int(&q, ":seq", o->seq);
        query_int(&q, ":number", (int64_t)i);
        query_text(&q, ":name", series->name);
        query_text(&q, ":samples", buf_str(&text));
        rc = query_run(&q, e);
    }
    return rc;
}

struct stored_samples {
    int seq;
    const char *name, *samples;
};

static const struct field sample_fields[] = {
    F(struct stored_samples, seq),
    F(struct stored_samples, name),
    F(struct stored_samples, samples),
};

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

static int parse(struct arena *a, const struct stored_samples *stored, struct raw_samples *out,
                 struct err *e)
{
    const char *at = stored->samples;

    *out = (struct raw_samples){.name = stored->name};
    out->v = arena_array(a, strlen(at) / 2 + 1, sizeof *out->v);
    while (*at)
        if (!take_number(&at, &out->v[out->n++]))
            return err_set(e, -EBADMSG, "store.corrupt", "samples",
                           "the samples \"%s\" of observation %d are no numbers; restore a backup",
                           stored->name, stored->seq);
    return 0;
}

/* Both lists ascend by seq: each observation takes those that are its own. */
int rows_load_samples(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e)
{
    static const char SQL[] = "SELECT seq, name, samples FROM observation_samples"
                              " WHERE attempt = :attempt ORDER BY seq, number";
    struct query q;
    size_t n, at = 0;

    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    struct stored_samples *stored =
        query_all(&q, sample_fields, ARRAY_LEN(sample_fields), sizeof *stored, a, &n);
    int rc = query_end(&q, e);
    struct raw_samples *series = arena_array(a, rc == 0 ? n : 0, sizeof *series);
    for (size_t i = 0; i < raw->n_observations && rc == 0; i++) {
        struct raw_observation *o = &raw->observations[i];
        size_t from = at;
        for (; at < n && stored[at].seq == o->seq && rc == 0; at++)
            rc = parse(a, &stored[at], &series[at], e);
        o->n_samples = at - from;
        o->samples = at > from ? series + from : NULL;
    }
    return rc;
}
