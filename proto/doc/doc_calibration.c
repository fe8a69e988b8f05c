#include "proto/doc/doc_calibration.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static const char *form_text(int value)
{
    return calibration_form_name((enum calibration_form)value);
}
static const struct doc_enum form_words = {form_text, calibration_form_parse};

static const struct doc_field calibration_fields[] = {
    DOC_FIELD(struct calibration, id, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD(struct calibration, boot, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD_ENUM(struct calibration, form, &form_words),
    DOC_FIELD(struct calibration, wall_ms, DOC_I64, JSON_INT_MAX),
    DOC_FIELD(struct calibration, version, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD(struct calibration, clock, DOC_STR, FIELD_NAME_MAX),
    DOC_FIELD(struct calibration, clock_step_ns, DOC_I64, CALIBRATION_VALUE_MAX),
    DOC_FIELD(struct calibration, cpu, DOC_INT_OR_NULL, 65535),
    DOC_FIELD(struct calibration, fifo, DOC_BOOL, 0),
};
const struct doc_table calibration_table = DOC_TABLE(calibration_fields, struct calibration);

/* ---- writing */

static void values_encode(struct json_out *o, const char *key,
                          const struct calibration_values *values)
{
    json_begin_array(o, key);
    for (size_t i = 0; i < values->n; i++)
        json_put_int_or_null(o, NULL, values->v[i]);
    json_end_array(o);
}

void calibration_encode(struct json_out *o, const char *key, const struct calibration *c)
{
    if (!c) {
        json_put_null(o, key);
        return;
    }
    json_begin(o, key);
    doc_fields_encode(o, &calibration_table, c);
    json_begin(o, "measures");
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        json_begin(o, measure_name((enum measure)m));
        values_encode(o, "floor_ns", &c->measures[m].floor_ns);
        values_encode(o, "pairs_ns", &c->measures[m].pairs_ns);
        values_encode(o, "pairs_cpu_ns", &c->measures[m].pairs_cpu_ns);
        json_end(o);
    }
    json_end(o);
    json_end(o);
}

void calibration_figures_encode(struct json_out *o, const struct calibration_figures *f)
{
    json_put_num(o, "noise_floor", f->noise_floor);
    json_put_num(o, "cpu_noise_floor", f->cpu_noise_floor);
    json_put_int(o, "groups", (int64_t)f->groups);
    json_put_int_or_null(o, "pairs_total_ns", f->pairs_total_ns);
    json_put_int_or_null(o, "pairs_cpu_total_ns", f->pairs_cpu_total_ns);
    json_put_num(o, "floor_median_ns", f->floor_median_ns);
    json_put_num(o, "floor_mad_ns", f->floor_mad_ns);
    json_put_int(o, "floor_n", (int64_t)f->floor_n);
    json_put_int_or_null(o, "floor_total_ns", f->floor_total_ns);
    json_put_num(o, "resolution_ns", f->resolution_ns);
}

/* ---- reading */

static bool value_take(const cJSON *item, int64_t *out)
{
    *out = -1;
    if (cJSON_IsNull(item))
        return true;
    double v = item->valuedouble;
    if (!cJSON_IsNumber(item) || v < 0 || v > (double)CALIBRATION_VALUE_MAX || v != floor(v))
        return false;
    *out = (int64_t)v;
    return true;
}

static void values_decode(struct json_in *in, const cJSON *obj, const char *key,
                          struct calibration_values *out)
{
    const cJSON *array = json_arr(in, obj, key, CALIBRATION_VALUES_MAX, &out->n), *item;
    size_t i = 0;

    if (in->rc)
        return;
    out->v = arena_array(in->a, out->n, sizeof *out->v);
    cJSON_ArrayForEach (item, array)
        if (!value_take(item, &out->v[i++])) {
            json_fail(in, key, "json.type",
                      "%s must hold whole numbers of nanoseconds from 0 on, or null.", key);
            return;
        }
}

static void measure_decode(struct json_in *in, const cJSON *measures, enum measure measure,
                           struct calibration_measure *out)
{
    static const char *const keys[] = {"floor_ns", "pairs_ns", "pairs_cpu_ns", NULL};
    const char *name = measure_name(measure);
    const cJSON *obj = json_obj(in, measures, name);
    size_t mark = json_enter(in, name);

    json_closed(in, obj, keys);
    out->measure = measure;
    values_decode(in, obj, "floor_ns", &out->floor_ns);
    values_decode(in, obj, "pairs_ns", &out->pairs_ns);
    values_decode(in, obj, "pairs_cpu_ns", &out->pairs_cpu_ns);
    if (in->rc == 0 && (out->pairs_ns.n % 2 != 0 || out->pairs_cpu_ns.n != out->pairs_ns.n))
        json_fail(in, "pairs_ns", "raw.calibration",
                  "pairs_ns and pairs_cpu_ns must hold as many values, two for each pair.");
    json_leave(in, mark);
}

static void read_members(struct json_in *in, const cJSON *obj, struct calibration *c)
{
    static const char *const more[] = {"measures", NULL};
    static const char *const keys[] = {"protocol", "process", NULL};

    doc_fields_decode(in, obj, &calibration_table, more, c);
    const cJSON *measures = json_obj(in, obj, "measures");
    size_t mark = json_enter(in, "measures");
    json_closed(in, measures, keys);
    for (int m = 0; m < CALIBRATION_MEASURES; m++)
        measure_decode(in, measures, (enum measure)m, &c->measures[m]);
    json_leave(in, mark);
}

const struct calibration *calibration_decode(struct json_in *in, const cJSON *obj, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);

    if (in->rc == 0 && !item)
        json_fail(in, key, "json.missing", "%s is missing; the report is not complete.", key);
    if (in->rc != 0 || cJSON_IsNull(item))
        return NULL;
    struct calibration *c = arena_alloc(in->a, sizeof *c);
    const cJSON *node = json_obj(in, obj, key);
    size_t mark = json_enter(in, key);
    read_members(in, node, c);
    json_leave(in, mark);
    return in->rc == 0 ? c : NULL;
}

int calibration_decode_text(struct arena *a, const char *text, const struct calibration **out,
                            struct err *e)
{
    struct calibration *c = arena_alloc(a, sizeof *c);
    cJSON *doc = NULL;
    struct json_in in;
    int rc = json_parse(text, strlen(text), &doc, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, a, e);
    read_members(&in, doc, c);
    cJSON_Delete(doc);
    *out = in.rc == 0 ? c : NULL;
    return in.rc;
}
