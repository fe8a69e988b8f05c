/* A history as CSV (RFC 4180, but with one newline character) and as JSON: the same members. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "proto/form/instant.h"
#include "proto/json/json.h"
#include "report/history_parts.h"

/* Where a row goes: each member by its name, in the same order for all rows. */
struct sink {
    struct json_out *json; /* NULL: CSV */
    struct buf *csv;
    bool heading; /* CSV: names in place of what they are */
    size_t n;     /* members of this row so far */
};

/* Spreadsheets run what begins so: they are shown it as a text. */
static bool is_formula(const char *s)
{
    return *s && strchr("=+-@\t\r", *s);
}

static void put_quoted(struct buf *out, const char *s)
{
    const char *front = is_formula(s) ? "'" : "";

    if (!strpbrk(s, ",\"\r\n")) {
        buf_puts(out, front);
        buf_puts(out, s);
        return;
    }
    buf_putc(out, '"');
    buf_puts(out, front);
    for (; *s; s++) {
        if (*s == '"')
            buf_putc(out, '"');
        buf_putc(out, *s);
    }
    buf_putc(out, '"');
}

/* True: the member has been dealt with, or there is nothing to say. */
static bool begin_cell(struct sink *to, const char *name, bool is_null)
{
    if (to->json)
        return false;
    if (to->n++)
        buf_putc(to->csv, ',');
    if (to->heading)
        buf_puts(to->csv, name);
    return to->heading || is_null;
}

static void put_text(struct sink *to, const char *name, const char *v)
{
    if (begin_cell(to, name, !v))
        return;
    if (to->json)
        json_put_str(to->json, name, v);
    else
        put_quoted(to->csv, v);
}

static void put_whole(struct sink *to, const char *name, int64_t v)
{
    if (begin_cell(to, name, v < 0))
        return;
    if (to->json)
        json_put_int_or_null(to->json, name, v);
    else
        buf_printf(to->csv, "%" PRId64, v);
}

static void put_real(struct sink *to, const char *name, double v)
{
    struct json_out number;

    if (begin_cell(to, name, isnan(v)))
        return;
    if (to->json) {
        json_put_num(to->json, name, v);
        return;
    }
    json_out_init(&number, to->csv);
    json_put_num(&number, NULL, v);
}

static void put_flag(struct sink *to, const char *name, bool v)
{
    if (begin_cell(to, name, false))
        return;
    if (to->json)
        json_put_bool(to->json, name, v);
    else
        buf_puts(to->csv, v ? "true" : "false");
}

static void put_instant(struct sink *to, const char *name, int64_t ms)
{
    char text[INSTANT_TEXT];
    put_text(to, name, instant_text(ms, text));
}

static void put_origin(struct sink *to, const struct history_origin *of)
{
    put_instant(to, "started", of->started_ms);
    put_text(to, "job", of->job);
    put_text(to, "attempt", of->attempt);
    put_text(to, "label", of->label);
    put_text(to, "host", of->host);
    put_text(to, "boot", of->boot);
    put_text(to, "suite", of->suite);
    put_text(to, "suite_sha256", of->suite_sha256);
}

static void put_value(struct sink *to, const char *value)
{
    put_text(to, "value", value[0] ? value : NULL);
}

static void put_figure(struct sink *to, const struct history_figure *f)
{
    put_origin(to, &f->of);
    put_text(to, "workload", f->workload);
    put_value(to, f->value);
    put_text(to, "lane", f->lane);
    put_text(to, "side", f->side);
    put_text(to, "commit", f->commit);
    put_text(to, "measure", measure_name(f->measure));
    put_text(to, "unit", f->unit);
    put_whole(to, "operations", f->operations);
    put_flag(to, "control", f->control);
    put_whole(to, "n", f->n);
    put_real(to, "median", f->median);
    put_real(to, "mad", f->mad);
    put_whole(to, "low", f->low);
    put_whole(to, "high", f->high);
    put_real(to, "cpu_median", f->cpu_median);
    put_text(to, "grade", grade_name(f->grade));
}

static void put_ratio(struct sink *to, const struct history_ratio *r)
{
    put_origin(to, &r->of);
    put_text(to, "workload", r->workload);
    put_value(to, r->value);
    put_text(to, "lane", r->subject_lane);
    put_text(to, "against", r->reference_lane);
    put_text(to, "side", r->subject_side);
    put_text(to, "against_side", r->reference_side);
    put_text(to, "commit", r->subject_commit);
    put_text(to, "against_commit", r->reference_commit);
    put_text(to, "measure", measure_name(r->measure));
    put_text(to, "unit", r->unit);
    put_whole(to, "operations", r->operations);
    put_real(to, "median", r->subject);
    put_real(to, "against_median", r->reference);
    put_real(to, "ratio_of_medians", r->ratio_of_medians);
    put_real(to, "ratio", r->ratio);
    put_real(to, "low", r->low);
    put_real(to, "high", r->high);
    put_real(to, "coverage", r->coverage);
    put_text(to, "verdict", r->verdict);
    put_text(to, "grade", grade_name(r->grade));
}

static void put_name(struct sink *to, const struct history_name *name)
{
    put_text(to, "workload", name->workload);
    put_value(to, name->value);
    put_text(to, "lane", name->lane);
    put_text(to, "measure", measure_name(name->measure));
    put_text(to, "unit", name->unit);
    put_flag(to, "control", name->control);
    put_instant(to, "first", name->first_ms);
    put_instant(to, "latest", name->latest_ms);
}

/* ---- CSV */

/* What the heading is made of: a row that has nothing but what its names depend on. */
static const struct history_figure no_figure = {.value = ""};
static const struct history_ratio no_ratio = {.value = "", .verdict = ""};
static const struct history_name no_name = {.value = ""};

void history_csv(struct buf *out, const struct ordered *o)
{
    const struct history *h = o->v->h;
    const bool ratios = o->v->against || o->v->changes;
    const size_t n = !o->v->workload ? h->n_names : ratios ? h->n_ratios : h->n_figures;

    for (size_t i = 0; i <= n; i++) {
        struct sink to = {.csv = out, .heading = i == 0};
        if (!o->v->workload)
            put_name(&to, i ? &h->names[i - 1] : &no_name);
        else if (ratios)
            put_ratio(&to, i ? o->ratios[i - 1] : &no_ratio);
        else
            put_figure(&to, i ? o->figures[i - 1] : &no_figure);
        buf_putc(out, '\n');
    }
}

/* ---- JSON */

void history_json(struct buf *out, const struct ordered *o)
{
    const struct history *h = o->v->h;
    struct json_out json;
    struct sink to = {.json = &json};

    json_out_init(&json, out);
    json_begin(&json, NULL);
    json_begin_array(&json, o->v->workload ? o->v->against || o->v->changes ? "ratios" : "figures"
                                           : "names");
    for (size_t i = 0; i < h->n_names && !o->v->workload; i++) {
        const struct args against = {h->names[i].against, h->names[i].n_against};
        json_begin(&json, NULL);
        put_name(&to, &h->names[i]);
        json_put_args(&json, "against", &against);
        json_end(&json);
    }
    for (size_t i = 0; i < h->n_figures; i++) {
        json_begin(&json, NULL);
        put_figure(&to, o->figures[i]);
        json_end(&json);
    }
    for (size_t i = 0; i < h->n_ratios; i++) {
        json_begin(&json, NULL);
        put_ratio(&to, o->ratios[i]);
        json_end(&json);
    }
    json_end_array(&json);
    json_put_bool(&json, "more", o->v->cut_rows || o->v->cut_series);
    json_end(&json);
}
