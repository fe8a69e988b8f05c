/* The tables of a history, the same in all forms. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "proto/form/instant.h"
#include "report/history_parts.h"
#include "report/number.h"
#include "report/sections.h"

#define ID_SHOWN 8 /* the end of it, by which the daemon finds a job */
#define COMMIT_SHOWN 10
#define BOOT_SHOWN 8
#define SUITE_SHOWN 12

/* ---- cells */

static void put_when(struct table *t, int64_t ms)
{
    char text[INSTANT_TEXT];
    table_put(t, instant_short(ms / 60000 * 60000, text));
}

static void put_job(struct table *t, const char *job)
{
    size_t len = strlen(job);
    table_put(t, len > ID_SHOWN ? job + len - ID_SHOWN : job);
}

static void put_commit(struct table *t, const char *commit)
{
    table_cell(t, STYLE_PLAIN, "%.*s", COMMIT_SHOWN, commit ? commit : "-");
}

static void put_family(const struct ordered *o, const struct history_origin *of, struct table *t)
{
    table_cell(t, STYLE_DIM, "%zu", history_family(o, of));
}

static void put_grade(struct table *t, enum grade grade)
{
    table_cell(t, grade == GRADE_CONTRACTUAL ? STYLE_GOOD : STYLE_WARN, "%s", grade_name(grade));
}

/* In the unit of the table: what stands together has one. */
struct shown {
    enum measure measure;
    bool is_time;
    double smallest_ns; /* of one operation; NaN: they are not counted */
};

static char *shown_text(char *out, const struct shown *s, double v, int64_t operations)
{
    if (!s->is_time)
        return values_text(out, s->measure, v);
    return operations > 0 ? number_per_operation(out, v / (double)operations, s->smallest_ns)
                          : number_ms(out, v);
}

static void see_operations(struct shown *s, double v, int64_t operations)
{
    if (operations > 0 && !(v / (double)operations >= s->smallest_ns))
        s->smallest_ns = v / (double)operations;
}

static const char *unit_of(const struct shown *s, const char *unit)
{
    return !s->is_time ? unit : isnan(s->smallest_ns) ? "in ms" : "of one operation";
}

/* ---- figures */

static void put_figure(const struct ordered *o, const struct shown *s,
                       const struct history_figure *f, struct table *t)
{
    char n[NUMBER_MAX];
    put_when(t, f->of.started_ms);
    put_job(t, f->of.job);
    table_put(t, f->lane);
    table_put(t, f->side);
    put_family(o, &f->of, t);
    put_commit(t, f->commit);
    table_put(t, number_count(n, f->n));
    table_cell(t, STYLE_STRONG, "%s", shown_text(n, s, f->median, f->operations));
    if (s->is_time)
        table_put(t, shown_text(n, s, f->mad, f->operations));
    table_put(t, shown_text(n, s, (double)f->low, f->operations));
    table_put(t, shown_text(n, s, (double)f->high, f->operations));
    put_grade(t, f->grade);
}

const char *history_figures_table(const struct ordered *o, size_t from, size_t n, struct table *t)
{
    const struct history_figure *first = o->figures[from];
    struct shown s = {first->measure, !first->value[0], NAN};

    for (size_t i = from; i < from + n && s.is_time; i++)
        see_operations(&s, o->figures[i]->median, o->figures[i]->operations);
    table_column(t, "started", ALIGN_LEFT, 0);
    table_column(t, "job", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "side", ALIGN_LEFT, 0);
    table_column(t, "family", ALIGN_RIGHT, 0);
    table_column(t, "commit", ALIGN_LEFT, 1);
    table_column(t, "n", ALIGN_RIGHT, 1);
    table_column(t, "median", ALIGN_RIGHT, 1);
    if (s.is_time)
        table_column(t, "MAD", ALIGN_RIGHT, 1);
    table_column(t, s.is_time ? "best" : "min", ALIGN_RIGHT, 1);
    table_column(t, s.is_time ? "p95" : "max", ALIGN_RIGHT, 1);
    table_column(t, "grade", ALIGN_LEFT, 1);
    for (size_t i = from; i < from + n; i++)
        put_figure(o, &s, o->figures[i], t);
    return unit_of(&s, first->unit);
}

/* ---- ratios */

static enum text_style style_of(const char *verdict)
{
    static const struct {
        const char *verdict;
        enum text_style style;
    } styles[] = {
        {"FASTER", STYLE_GOOD}, {"LESS", STYLE_GOOD},  {"SLOWER", STYLE_BAD},
        {"MORE", STYLE_BAD},    {"SAME", STYLE_PLAIN}, {"EQUAL", STYLE_PLAIN},
    };
    for (size_t i = 0; i < ARRAY_LEN(styles); i++)
        if (strcmp(styles[i].verdict, verdict) == 0)
            return styles[i].style;
    return STYLE_WARN;
}

/* Of times always; of values where one of them varies. */
static bool has_pairs(const struct ordered *o, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        if (!o->ratios[i]->value[0] || !isnan(o->ratios[i]->ratio))
            return true;
    return false;
}

static void put_pairs(const struct shown *s, const struct history_ratio *r, struct table *t)
{
    char n[NUMBER_MAX], high[NUMBER_MAX];
    table_put(t, isnan(r->ratio) && !s->is_time ? "-" : number_ratio(n, r->ratio));
    if (isnan(r->low))
        table_put(t, "-");
    else
        table_cell(t, STYLE_PLAIN, "%s to %s", number_ratio(n, r->low),
                   number_ratio(high, r->high));
}

static void put_ratio(const struct ordered *o, const struct shown *s, const struct history_ratio *r,
                      bool pairs, struct table *t)
{
    char n[NUMBER_MAX];
    put_when(t, r->of.started_ms);
    put_job(t, r->of.job);
    if (o->v->changes) {
        table_put(t, r->subject_lane);
        table_cell(t, STYLE_PLAIN, "%s / %s", r->subject_side, r->reference_side);
    } else {
        table_cell(t, STYLE_PLAIN, "%s / %s", r->subject_lane, r->reference_lane);
        table_put(t, r->subject_side);
    }
    put_family(o, &r->of, t);
    put_commit(t, r->subject_commit);
    table_put(t, shown_text(n, s, r->subject, r->operations));
    table_put(t, shown_text(n, s, r->reference, r->operations));
    table_put(t, number_ratio(n, r->ratio_of_medians));
    if (pairs)
        put_pairs(s, r, t);
    table_cell(t, style_of(r->verdict), "%s", r->verdict);
    put_grade(t, r->grade);
}

const char *history_ratios_table(const struct ordered *o, size_t from, size_t n, struct table *t)
{
    const struct history_ratio *first = o->ratios[from];
    struct shown s = {first->measure, !first->value[0], NAN};
    bool pairs = has_pairs(o, from, n);

    for (size_t i = from; i < from + n && s.is_time; i++) {
        see_operations(&s, o->ratios[i]->subject, o->ratios[i]->operations);
        see_operations(&s, o->ratios[i]->reference, o->ratios[i]->operations);
    }
    table_column(t, "started", ALIGN_LEFT, 0);
    table_column(t, "job", ALIGN_LEFT, 0);
    table_column(t, o->v->changes ? "lane" : "lanes", ALIGN_LEFT, 0);
    table_column(t, o->v->changes ? "sides" : "side", ALIGN_LEFT, 0);
    table_column(t, "family", ALIGN_RIGHT, 0);
    table_column(t, "commit", ALIGN_LEFT, 1);
    table_column(t, "median", ALIGN_RIGHT, 1);
    table_column(t, "against", ALIGN_RIGHT, 1);
    table_column(t, "ratio of medians", ALIGN_RIGHT, 1);
    if (pairs) {
        table_column(t, "paired ratio", ALIGN_RIGHT, 1);
        table_column(t, "interval", ALIGN_RIGHT, 1);
    }
    table_column(t, "verdict", ALIGN_LEFT, 1);
    table_column(t, "grade", ALIGN_LEFT, 1);
    for (size_t i = from; i < from + n; i++)
        put_ratio(o, &s, o->ratios[i], pairs, t);
    return unit_of(&s, first->unit);
}

/* ---- names */

void history_names_table(const struct history *h, struct table *t)
{
    table_column(t, "workload", ALIGN_LEFT, 0);
    table_column(t, "value", ALIGN_LEFT, 0);
    table_column(t, "lane", ALIGN_LEFT, 0);
    table_column(t, "measure", ALIGN_LEFT, 1);
    table_column(t, "first", ALIGN_LEFT, 1);
    table_column(t, "latest", ALIGN_LEFT, 1);
    table_column(t, "compared with", ALIGN_WRAP, 1);
    for (size_t i = 0; i < h->n_names; i++) {
        const struct history_name *name = &h->names[i];
        struct buf against = {0};
        table_put(t, name->workload);
        table_put(t, history_value(name->value));
        table_cell(t, STYLE_PLAIN, "%s%s", name->lane, name->control ? " (control)" : "");
        table_put(t, measure_name(name->measure));
        put_when(t, name->first_ms);
        put_when(t, name->latest_ms);
        for (size_t k = 0; k < name->n_against; k++)
            buf_printf(&against, "%s%s", k ? ", " : "",
                       strcmp(name->against[k], name->lane) == 0 ? "its other sides"
                                                                 : name->against[k]);
        buf_puts(&against, name->n_against && name->more_against ? ", ..." : "");
        table_put(t, against.len ? buf_str(&against) : "-");
        buf_deinit(&against);
    }
}
