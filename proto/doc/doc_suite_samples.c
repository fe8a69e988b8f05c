#include "proto/doc/doc_suite_samples.h"

#include <string.h>

#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

const char *const sample_keys[] = {"name", "unit", "max", "min", "p99_max", NULL};
const char *const scaling_keys[] = {"of", "tasks", "max_ratio", NULL};

/* ---- samples */

static void decode_series(struct json_in *in, const cJSON *obj, struct sample_series *out)
{
    json_closed(in, obj, sample_keys);
    out->name = doc_name(in, obj, "name", "suite.bad");
    out->unit =
        (enum sample_unit)json_enum_of(in, obj, "unit", sample_unit_parse, "ns, count, bytes");
    out->max = json_int(in, obj, "max", 1, SAMPLES_MAX);
    out->min = json_opt_int(in, obj, "min", 0, SAMPLES_MAX, out->max);
    out->p99_max = json_opt_int(in, obj, "p99_max", 0, JSON_INT_MAX, -1);
    if (!in->rc && out->min > out->max)
        json_fail(in, "min", "suite.bad",
                  "min is how many samples there are at least; it must not be more than max");
}

static void check_series(struct json_in *in, const struct workload *w, size_t index)
{
    int64_t all = 0;
    for (size_t i = 0; i <= index; i++)
        all += w->samples[i].max;
    for (size_t i = 0; i < index && !in->rc; i++)
        if (!strcmp(w->samples[i].name, w->samples[index].name))
            json_fail(in, "name", "suite.bad", "the series \"%s\" is named twice; remove one",
                      w->samples[index].name);
    if (!in->rc && all > SAMPLES_MAX)
        json_fail(in, "max", "suite.bad",
                  "all series together have at most %d samples in one observation", SAMPLES_MAX);
}

static void decode_list(struct json_in *in, const cJSON *obj, struct workload *w)
{
    const cJSON *list = json_arr(in, obj, "samples", SAMPLE_SERIES_MAX, &w->n_samples), *item;
    size_t mark = json_enter(in, "samples"), i = 0;
    if (!in->rc && w->n_samples == 0)
        json_fail(in, NULL, "suite.bad", "samples has 1 to %d series", SAMPLE_SERIES_MAX);
    w->samples = arena_array(in->a, w->n_samples, sizeof *w->samples);
    cJSON_ArrayForEach (item, list) {
        if (in->rc)
            break;
        size_t one = json_enter_index(in, i);
        if (!cJSON_IsObject(item))
            json_fail(in, NULL, "json.type", "a series of samples is an object");
        else
            decode_series(in, item, &w->samples[i]);
        if (!in->rc)
            check_series(in, w, i++);
        json_leave(in, one);
    }
    json_leave(in, mark);
}

void doc_suite_samples(struct json_in *in, const cJSON *obj, struct workload *w)
{
    if (in->rc || !cJSON_GetObjectItemCaseSensitive(obj, "samples"))
        return;
    if (w->measure != MEASURE_PROTOCOL && w->measure != MEASURE_OPERATION)
        json_fail(in, "samples", "suite.bad",
                  "a workload of measure \"%s\" has no \"samples\"; remove it",
                  measure_name(w->measure));
    else if (!w->ack)
        json_fail(in, "samples", "suite.record",
                  "samples are printed after the lane was told that DONE is stamped; name the line "
                  "that tells it in \"ack\"");
    else
        decode_list(in, obj, w);
}

/* ---- scaling */

void doc_lane_scaling(struct json_in *in, const cJSON *obj, enum measure measure, struct lane *lane)
{
    const cJSON *scaling = json_opt_obj(in, obj, "scaling");
    if (in->rc || !scaling)
        return;
    if (measure_has_values(measure))
        json_fail(in, "scaling", "suite.bad",
                  "a lane of measure \"%s\" has no \"scaling\"; remove it", measure_name(measure));
    size_t mark = json_enter(in, "scaling");
    json_closed(in, scaling, scaling_keys);
    lane->scaling =
        (struct scaling){.of = doc_name(in, scaling, "of", "suite.bad"),
                         .tasks = json_int(in, scaling, "tasks", 2, SCALING_TASKS_MAX),
                         .max_ratio = json_num(in, scaling, "max_ratio", 0, SCALING_RATIO_MAX)};
    if (!in->rc && lane->scaling.max_ratio <= 0)
        json_fail(in, "max_ratio", "json.range", "max_ratio must be more than 0");
    json_leave(in, mark);
}

void doc_check_scaling(struct json_in *in, const struct lane *lane, const struct lane *one)
{
    if (in->rc || !lane->scaling.of)
        return;
    size_t mark = json_enter(in, "scaling");
    if (!one)
        json_fail(in, "of", "suite.scaling", "the lane \"%s\" is not in this workload",
                  lane->scaling.of);
    else if (one == lane || one->scaling.of)
        json_fail(in, "of", "suite.scaling",
                  "the lane \"%s\" must do the work as one task and have no scaling of its own",
                  one->name);
    else if (one->control != lane->control)
        json_fail(in, "of", "suite.scaling",
                  "the lane \"%s\" must be a control exactly if this lane is one", one->name);
    else if (one->cpus == 1 || lane->cpus == 1)
        json_fail(in, "of", "suite.scaling",
                  "a lane that is pinned to one core cannot be held against one on several; leave "
                  "\"cpus\" out of both");
    json_leave(in, mark);
}
