/* Lanes of measure "size": nothing runs, the bytes of each file are taken where the plan says. */
#include <string.h>

#include "run/run_env.h"
#include "sched/sched_internal.h"
#include "source/weigh.h"

/* "{build}/bin/x" as a folder and what lies below it. */
static void locate(struct attempt *a, const struct lane *lane, const struct attempt_side *side,
                   const char *path, struct weigh *out)
{
    const char *rest = strchr(path, '/') + 1; /* the suite's rule: a placeholder and a slash */
    bool is_suite = strncmp(path, "{suite}/", strlen("{suite}/")) == 0;

    out->root = is_suite ? a->suite_dir : lane->control ? a->suite_build_dir : side->build_dir;
    out->path = rest;
    out->must_link = &lane->must_link;
    out->must_not_link = &lane->must_not_link;
}

/* What stands in a sentence: "program ({build}/x)", or with a rule's name in front of it. */
static const char *shown(struct attempt *a, const struct lane_file *file, const char *name)
{
    if (name)
        return arena_printf(&a->arena, "%s in %s (%s)", name, file->name, file->path);
    return arena_printf(&a->arena, "%s (%s)", file->name, file->path);
}

void attempt_weigh(struct attempt *a, const struct plan_step *step, struct run_observation *out)
{
    const struct lane *lane = &a->suite->workloads[step->workload].lanes[step->lane];
    struct raw_value *values = arena_array(&a->arena, lane->n_files, sizeof *values);
    const char *fault = NULL, *name = NULL;

    *out = (struct run_observation){
        .raw = {.outcome = "ok", RAW_OBSERVATION_NOT_RUN},
        .stdout_tail = "",
        .stderr_tail = "",
        .output = "",
    };
    for (size_t i = 0; i < lane->n_files && !fault; i++) {
        struct weigh w;
        locate(a, lane, &a->sides[step->side], lane->files[i].path, &w);
        values[i].name = lane->files[i].name;
        fault = source_weigh(&w, &values[i].value, &name);
        if (fault)
            out->got = shown(a, &lane->files[i], name);
    }
    out->raw.outcome = fault ? fault : "ok";
    out->raw.values = fault ? NULL : values;
    out->raw.n_values = fault ? 0 : lane->n_files;
}
