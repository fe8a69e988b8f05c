#include "client/view/calibration_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "client/view/job_view.h"
#include "client/view/table.h"

#define LARGEST 1e15

/* ---- reading */

void calibration_state_view_read(struct json_in *in, const cJSON *obj,
                                 struct calibration_state_view *out)
{
    const cJSON *state = json_obj(in, obj, "calibration");

    *out = (struct calibration_state_view){
        .running = json_bool(in, state, "running"),
        .asked = json_bool(in, state, "asked"),
        .done = json_int(in, state, "done", 0, JSON_INT_MAX),
        .total = json_int(in, state, "total", 0, JSON_INT_MAX),
        .refused_ms = json_opt_int(in, state, "refused_ms", 0, JSON_INT_MAX, -1),
        .next_try_ms = json_opt_int(in, state, "next_try_ms", 0, JSON_INT_MAX, -1),
        .form = json_view_line(in, state, "form", 16),
        .latest = json_opt_str(in, state, "latest", 64, NULL),
        .refused = json_opt_str(in, state, "refused", 1024, NULL),
    };
}

static void read_measure(struct json_in *in, const cJSON *measures, enum measure measure,
                         struct calibration_measure_view *out)
{
    const cJSON *obj = json_obj(in, measures, measure_name(measure)), *item;
    const cJSON *array = json_arr(in, obj, "resolvable", CALIBRATION_RESOLVABLE_MAX, &(size_t){0});

    out->noise_floor = json_opt_num(in, obj, "noise_floor", 0, LARGEST, NAN);
    out->cpu_noise_floor = json_opt_num(in, obj, "cpu_noise_floor", 0, LARGEST, NAN);
    out->floor_median_ns = json_opt_num(in, obj, "floor_median_ns", 0, LARGEST, NAN);
    out->floor_mad_ns = json_opt_num(in, obj, "floor_mad_ns", 0, LARGEST, NAN);
    out->resolution_ns = json_opt_num(in, obj, "resolution_ns", 0, LARGEST, NAN);
    out->n_resolvable = 0;
    if (in->rc)
        return;
    cJSON_ArrayForEach (item, array)
        out->resolvable[out->n_resolvable++] = (struct calibration_resolvable_view){
            .repetitions = json_int(in, item, "repetitions", 1, JSON_INT_MAX),
            .change = json_opt_num(in, item, "change", 0, LARGEST, NAN),
        };
}

int calibration_view_read(struct answer *answer, struct calibration_view *out, struct err *e)
{
    const cJSON *result = answer->msg.result;
    struct json_in in;

    *out = (struct calibration_view){0};
    json_in_init(&in, &answer->a, e);
    calibration_state_view_read(&in, result, &out->state);
    out->margin = json_num(&in, result, "margin", 0, LARGEST);
    const cJSON *found = json_opt_obj(&in, result, "found");
    out->found = found != NULL;
    if (found) {
        out->form = json_view_line(&in, found, "form", 16);
        out->clock = json_view_line(&in, found, "clock", 256);
        out->wall_ms = json_int(&in, found, "wall_ms", 0, JSON_INT_MAX);
        out->clock_step_ns = json_int(&in, found, "clock_step_ns", 0, JSON_INT_MAX);
        out->cpu = json_opt_int(&in, found, "cpu", 0, 65535, -1);
        out->fifo = json_bool(&in, found, "fifo");
        for (int m = 0; m < CALIBRATION_MEASURES; m++)
            read_measure(&in, json_obj(&in, found, "measures"), (enum measure)m, &out->measures[m]);
    }
    return connection_check(&in, e);
}

/* ---- writing */

static void put_pct(struct buf *out, double fraction)
{
    if (isnan(fraction))
        buf_puts(out, "none");
    else
        buf_printf(out, "%.2f %%", 100 * fraction);
}

static void cell_pct(struct table *t, double fraction)
{
    CLEANUP(buf_deinit) struct buf text = {0};

    put_pct(&text, fraction);
    table_cell(t, TERM_PLAIN, "%s", buf_str(&text));
}

static void cell_time(struct table *t, double ns, double unit_ns)
{
    if (isnan(ns))
        table_cell(t, TERM_PLAIN, "none");
    else
        table_cell(t, TERM_PLAIN, "%.3f", ns / unit_ns);
}

static void put_figures(const struct calibration_view *v, const struct term *term, struct buf *out)
{
    static const struct table_column columns[] = {
        {"MEASURE", false, false}, {"NOISE FLOOR", true, false}, {"OF CPU TIME", true, false},
        {"FLOOR us", true, false}, {"MAD us", true, false},      {"RESOLVED FROM ms", true, false}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        const struct calibration_measure_view *f = &v->measures[m];
        table_cell(t, TERM_PLAIN, "%s", measure_name((enum measure)m));
        cell_pct(t, f->noise_floor);
        cell_pct(t, f->cpu_noise_floor);
        cell_time(t, f->floor_median_ns, 1e3);
        cell_time(t, f->floor_mad_ns, 1e3);
        cell_time(t, f->resolution_ns, 1e6);
    }
    table_print(t, term, 2, out);
    table_free(t);
}

static void put_resolvable(const struct calibration_measure_view *f, struct buf *out)
{
    for (size_t i = 0; i < f->n_resolvable; i++) {
        buf_printf(out, "%s%" PRId64 ": ", i ? ", " : "", f->resolvable[i].repetitions);
        put_pct(out, f->resolvable[i].change);
    }
}

static bool may_say_same(const struct calibration_view *v, enum measure measure)
{
    return v->measures[measure].noise_floor <= v->margin;
}

static void put_same(const struct calibration_view *v, struct buf *out)
{
    size_t able = 0;

    for (int m = 0; m < CALIBRATION_MEASURES; m++)
        able += may_say_same(v, (enum measure)m);
    if (able == CALIBRATION_MEASURES) {
        buf_printf(out, "SAME can be said: no noise floor is over the margin of %g %%.\n",
                   100 * v->margin);
        return;
    }
    for (int m = 0; m < CALIBRATION_MEASURES; m++)
        if (!may_say_same(v, (enum measure)m))
            buf_printf(out,
                       "SAME cannot be said by %s: its noise floor is over the margin of %g %%.\n",
                       measure_name((enum measure)m), 100 * v->margin);
    buf_puts(out, "  next: make the host quieter (aurabench doctor), then aurabench calibrate\n");
}

static void put_none(const struct calibration_view *v, struct buf *out)
{
    buf_puts(out, "not calibrated in this boot\n");
    if (v->state.refused) {
        buf_puts(out, "  the last try: ");
        term_clean(out, v->state.refused, strlen(v->state.refused), 0);
        buf_putc(out, '\n');
    }
    buf_puts(out, "  next: aurabench calibrate\n");
}

void calibration_view_put(const struct calibration_view *v, const struct term *term,
                          struct buf *out)
{
    char at[32];

    if (!v->found) {
        put_none(v, out);
        return;
    }
    buf_printf(out, "calibrated %s (%s): %s in steps of %" PRId64 " ns", cli_time(v->wall_ms, at),
               v->form, v->clock, v->clock_step_ns);
    if (v->cpu >= 0)
        buf_printf(out, ", core %" PRId64, v->cpu);
    buf_puts(out, v->fifo ? ", real-time\n" : "\n");
    put_figures(v, term, out);
    buf_puts(out, "Changes that so many repetitions can find:\n");
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        buf_printf(out, "  %-10s", measure_name((enum measure)m));
        put_resolvable(&v->measures[m], out);
        buf_putc(out, '\n');
    }
    put_same(v, out);
}

void calibration_view_line(const struct calibration_view *v, struct buf *out)
{
    char at[32];

    buf_printf(out, "%s (%s): noise floor ", cli_time(v->wall_ms, at), v->form);
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        buf_puts(out, m ? ", " : "");
        put_pct(out, v->measures[m].noise_floor);
        buf_printf(out, " by %s", measure_name((enum measure)m));
    }
    buf_puts(out, "; repetitions find ");
    put_resolvable(&v->measures[MEASURE_PROTOCOL], out);
}
