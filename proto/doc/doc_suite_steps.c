#include "proto/doc/doc_suite_steps.h"

#include <string.h>

#include "base/files.h"
#include "proto/doc/doc_command.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

#define PREPARE_MAX 32
#define OUTPUTS_MAX 32
#define OUTPUT_MAX_BYTES 256

const char *const step_keys[] = {"command", "outputs", "stdout", NULL};

size_t doc_count_steps(const cJSON *obj)
{
    const cJSON *measure = cJSON_GetObjectItemCaseSensitive(obj, "measure");
    const cJSON *steps = cJSON_GetObjectItemCaseSensitive(obj, "steps");
    int n = cJSON_IsArray(steps) ? cJSON_GetArraySize(steps) : 0;
    bool is_build =
        cJSON_IsString(measure) && strcmp(measure->valuestring, measure_name(MEASURE_BUILD)) == 0;

    return is_build && n >= 1 && n <= STEPS_MAX ? (size_t)n : 1;
}

static void refuse_source(struct json_in *in, const char *key, const struct lane *lane,
                          unsigned used)
{
    if (lane->control && (used & PLACE_SOURCE))
        json_fail(in, key, "suite.control_source",
                  "a control lane must not use {source}: it would change between the sides");
}

void doc_lane_prepare(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    unsigned used = 0;

    lane->prepare = doc_opt_commands(in, obj, "prepare", PREPARE_MAX, &lane->n_prepare, &used);
    refuse_source(in, "prepare", lane, used);
}

/* Below the folder that the step runs in, each once. */
static struct args decode_outputs(struct json_in *in, const cJSON *obj)
{
    struct args paths = json_opt_args(in, obj, "outputs", OUTPUTS_MAX);
    size_t mark = json_enter(in, "outputs");

    for (size_t i = 0; i < paths.n && !in->rc; i++) {
        size_t at = json_enter_index(in, i);
        if (!file_path_is_inside(paths.v[i]) || strlen(paths.v[i]) > OUTPUT_MAX_BYTES ||
            strpbrk(paths.v[i], "{}"))
            json_fail(in, NULL, "suite.bad",
                      "an output is a path of at most %d bytes below the folder that the step runs "
                      "in: \"bin/hello\"",
                      OUTPUT_MAX_BYTES);
        for (size_t k = 0; k < i; k++)
            if (strcmp(paths.v[k], paths.v[i]) == 0)
                json_fail(in, NULL, "suite.bad", "the output \"%s\" is named twice; remove one",
                          paths.v[i]);
        json_leave(in, at);
    }
    json_leave(in, mark);
    return paths;
}

/* What one step is in one lane. */
static void decode_step(struct json_in *in, const cJSON *steps, const char *step, struct lane *lane)
{
    unsigned used = 0;
    const cJSON *obj = json_obj(in, steps, step);
    size_t mark = json_enter(in, step);

    json_closed(in, obj, step_keys);
    lane->command = doc_command(in, obj, "command", &used);
    refuse_source(in, "command", lane, used);
    lane->outputs = decode_outputs(in, obj);
    lane->stdout_text = json_opt_str(in, obj, "stdout", SUITE_STDOUT_MAX, NULL);
    json_leave(in, mark);
}

static bool is_named(const struct args *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->v[i], name) == 0)
            return true;
    return false;
}

/* The steps of a lane are those of its workload, each once. */
static const cJSON *lane_steps(struct json_in *in, const cJSON *lane, const struct args *steps)
{
    const cJSON *obj = json_obj(in, lane, "steps"), *m;
    size_t mark = json_enter(in, "steps");

    cJSON_ArrayForEach (m, obj)
        if (!in->rc && !is_named(steps, m->string))
            json_fail(in, m->string, "suite.bad",
                      "\"%s\" is no step of this workload; name it in the workload's \"steps\"",
                      m->string);
    json_leave(in, mark);
    return obj;
}

static void expand_lane(struct json_in *in, const cJSON *lanes, size_t l, const struct args *steps,
                        struct workload *out)
{
    const char *name = out[0].lanes[l].name;
    const cJSON *obj = json_obj(in, lanes, name);
    size_t mark = json_enter(in, name);
    const cJSON *of = lane_steps(in, obj, steps);
    size_t inner = json_enter(in, "steps");

    for (size_t k = 0; k < steps->n && !in->rc; k++)
        decode_step(in, of, steps->v[k], &out[k].lanes[l]);
    json_leave(in, inner);
    json_leave(in, mark);
}

static struct args decode_names(struct json_in *in, const cJSON *obj)
{
    struct args steps = json_opt_args(in, obj, "steps", STEPS_MAX);

    if (!in->rc && steps.n == 0)
        json_fail(in, "steps", "suite.bad",
                  "steps must name the 1 to %d steps that each lane takes, in their order",
                  STEPS_MAX);
    doc_check_names(in, "steps", "step", &steps);
    return steps;
}

void doc_expand_steps(struct json_in *in, const cJSON *obj, const struct workload *w,
                      struct workload *out)
{
    struct args steps = decode_names(in, obj);
    const cJSON *lanes = json_obj(in, obj, "lanes");

    for (size_t k = 0; k < steps.n && !in->rc; k++) {
        out[k] = *w;
        out[k].steps_of = w->name;
        out[k].name = arena_printf(in->a, "%s.%s", w->name, steps.v[k]);
        out[k].lanes = arena_array(in->a, w->n_lanes, sizeof *out[k].lanes);
        memcpy(out[k].lanes, w->lanes, w->n_lanes * sizeof *w->lanes);
        if (strlen(out[k].name) > DOC_NAME_MAX)
            json_fail(in, "steps", "suite.bad",
                      "\"%s\" is too long; a workload and its step have at most %d bytes together",
                      out[k].name, DOC_NAME_MAX);
    }
    size_t mark = json_enter(in, "lanes");
    for (size_t l = 0; l < w->n_lanes && !in->rc; l++)
        expand_lane(in, lanes, l, &steps, out);
    json_leave(in, mark);
}
