/* aurabench attribute: profiles that are here already, without a daemon. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/tally.h"
#include "client/cmd/commands.h"
#include "client/view/table.h"
#include "proto/doc/doc_attribution.h"
#include "proto/profile/profile_tally.h"

#define RULES_BYTES_MAX ((size_t)1 << 20)
#define UNMATCHED_MAX 1000

struct values {
    const char *categories;
    int64_t unmatched;
};

static const struct opt opts[] = {
    {'c', "categories", OPT_TEXT, "FILE", offsetof(struct values, categories), 0, 0,
     "format and categories, a document aurabench.attribution.v1"},
    {'u', "unmatched", OPT_INT, "N", offsetof(struct values, unmatched), 1, UNMATCHED_MAX,
     "list the N functions with the most samples that no category matches"},
};

struct attributing {
    const struct attribution *rules;
    int64_t *counts;
    struct tally unmatched; /* functions of "other" */
};

static void attributing_deinit(struct attributing *x)
{
    tally_deinit(&x->unmatched);
}

/* ---- reading */

static int read_rules(struct cli *cli, const char *path, const struct attribution **out,
                      struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err why = {0};

    if (!path)
        return err_set(e, -EINVAL, "usage", "--categories",
                       "no categories are named; give their file with --categories FILE");
    int rc = file_read(path, RULES_BYTES_MAX, &text, e);
    if (rc < 0)
        return rc;
    rc = attribution_decode(&cli->a, buf_str(&text), text.len, out, &why);
    return rc < 0 ? cli_fail_in_file(path, rc, &why, e) : 0;
}

static bool add(void *of, const struct profile_sample *s)
{
    struct attributing *x = of;

    if (attribution_place(x->rules, s) == x->rules->n_categories + ATTRIBUTION_OTHER)
        tally_add(&x->unmatched, s->symbol.at, s->symbol.len, s->count);
    return attribution_add(x->rules, s, x->counts);
}

static int read_profile(struct attributing *x, const char *path, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const struct profile_seen seen = {add, x};
    struct err why = {0}, large = {0};

    int rc = file_read(path, PROFILE_BYTES_MAX, &text, &large);
    if (rc == -EFBIG)
        return err_set(e, rc, "profile.too_large", path,
                       "%.300s has more than %d MiB; record less, or sample more rarely", path,
                       (int)(PROFILE_BYTES_MAX >> 20));
    if (rc < 0) {
        *e = large;
        return rc;
    }
    rc = profile_is_tally(buf_str(&text), text.len)
             ? profile_read_tally(buf_str(&text), text.len, &seen, &why)
             : profile_read(x->rules->format, buf_str(&text), text.len, &seen, &why);
    return rc < 0 ? cli_fail_in_file(path, rc, &why, e) : 0;
}

/* ---- what is printed */

static int64_t value_of(const struct attributing *x, enum attribution_value v)
{
    return x->counts[x->rules->n_categories + (size_t)v];
}

static void put_categories(const struct cli *cli, const struct attributing *x, int64_t recovered,
                           struct buf *out)
{
    static const struct table_column columns[] = {
        {"category", false, true}, {"samples", true, false}, {"share", true, false}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (size_t i = 0; i <= x->rules->n_categories + ATTRIBUTION_OTHER; i++) {
        double share = attribution_share_pct(x->counts[i], recovered);
        table_cell(t, TERM_PLAIN, "%s", attribution_name(x->rules, i));
        table_cell(t, TERM_PLAIN, "%" PRId64, x->counts[i]);
        if (isnan(share))
            table_cell(t, TERM_PLAIN, "undefined");
        else
            table_cell(t, TERM_PLAIN, "%.2f%%", share);
    }
    table_print(t, &cli->out, 0, out);
    table_free(t);
}

static void put_exclusions(const struct attributing *x, int64_t recovered, struct buf *out)
{
    const char *before = "; excluded: ";

    buf_printf(out, "%" PRId64 " of %" PRId64 " samples were recovered", recovered,
               value_of(x, ATTRIBUTION_SAMPLES));
    for (int v = 0; v < ATTRIBUTION_VALUES; v++) {
        const char *reason = attribution_reason((enum attribution_value)v);
        if (!reason || value_of(x, (enum attribution_value)v) == 0)
            continue;
        buf_printf(out, "%s%" PRId64 " %s", before, value_of(x, (enum attribution_value)v), reason);
        before = ", ";
    }
    buf_puts(out, "\n");
    if (x->rules->format == PROFILE_CALLGRIND)
        buf_puts(out, "samples of callgrind are instructions\n");
    buf_puts(out, "diagnostic: a profiler's samples are never contractual\n");
}

static size_t unmatched_shown(const struct attributing *x, int64_t asked)
{
    return x->unmatched.n < (size_t)asked ? x->unmatched.n : (size_t)asked;
}

static void put_unmatched(const struct cli *cli, const struct attributing *x, int64_t asked,
                          struct buf *out)
{
    static const struct table_column columns[] = {{"matched by none", false, true},
                                                  {"samples", true, false}};
    if (unmatched_shown(x, asked) == 0)
        return;
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < unmatched_shown(x, asked); i++) {
        table_cell(t, TERM_PLAIN, "%s", x->unmatched.entries[i].text);
        table_cell(t, TERM_PLAIN, "%" PRId64, x->unmatched.entries[i].count);
    }
    table_print(t, &cli->out, 0, out);
    table_free(t);
}

static void print_text(const struct cli *cli, const struct attributing *x, int64_t asked)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int64_t recovered = attribution_recovered(x->rules, x->counts);

    put_categories(cli, x, recovered, &out);
    put_exclusions(x, recovered, &out);
    put_unmatched(cli, x, asked, &out);
    cli_put(&out);
}

static void print_json(const struct cli *cli, const struct attributing *x, int64_t asked)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;
    int64_t recovered = attribution_recovered(x->rules, x->counts);

    cli_json_begin(cli, &o, &b);
    json_put_str(&o, "format", profile_format_name(x->rules->format));
    json_put_str(&o, "grade", grade_name(GRADE_DIAGNOSTIC));
    json_put_int(&o, "samples", value_of(x, ATTRIBUTION_SAMPLES));
    json_put_int(&o, "recovered", recovered);
    json_begin_array(&o, "categories");
    for (size_t i = 0; i <= x->rules->n_categories + ATTRIBUTION_OTHER; i++) {
        json_begin(&o, NULL);
        json_put_str(&o, "name", attribution_name(x->rules, i));
        json_put_int(&o, "samples", x->counts[i]);
        json_put_num(&o, "share_pct", attribution_share_pct(x->counts[i], recovered));
        json_end(&o);
    }
    json_end_array(&o);
    json_begin(&o, "excluded");
    for (int v = 0; v < ATTRIBUTION_VALUES; v++)
        if (attribution_reason((enum attribution_value)v))
            json_put_int(&o, attribution_value_name((enum attribution_value)v),
                         value_of(x, (enum attribution_value)v));
    json_end(&o);
    json_begin_array(&o, "unmatched");
    for (size_t i = 0; i < unmatched_shown(x, asked); i++) {
        json_begin(&o, NULL);
        json_put_str(&o, "symbol", x->unmatched.entries[i].text);
        json_put_int(&o, "samples", x->unmatched.entries[i].count);
        json_end(&o);
    }
    json_end_array(&o);
    cli_json_end(&o);
}

/* ---- the run */

static int attribute(struct cli *cli, const struct values *v, const struct args *paths,
                     struct attributing *x, struct err *e)
{
    int rc = read_rules(cli, v->categories, &x->rules, e);

    if (rc < 0)
        return rc;
    x->counts = arena_array(&cli->a, attribution_count(x->rules), sizeof *x->counts);
    for (size_t i = 0; rc == 0 && i < paths->n; i++)
        rc = read_profile(x, paths->v[i], e);
    tally_sort(&x->unmatched, TALLY_BY_COUNT);
    return rc;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    CLEANUP(attributing_deinit) struct attributing x = {0};
    struct err e = {0};

    if (attribute(cli, v, &words->words, &x, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json)
        print_json(cli, &x, v->unmatched);
    else
        print_text(cli, &x, v->unmatched);
    return EXIT_GOOD;
}

const struct command command_attribute = {
    .name = "attribute",
    .usage = "--categories FILE PROFILE...",
    .summary = "attribute a profiler's samples to categories",
    .more = "Profiles are files of callgrind, the text of perf script, the table time-profile that "
            "xctrace exports as XML, or what a report's evidence keeps of them in profiles/; "
            "several are added up.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1000,
    .run = run,
};
