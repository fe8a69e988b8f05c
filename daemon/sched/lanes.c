/* What each lane and build is on this host for this job: present or absent, its arguments with the
 * folders in place of the placeholders, its environment, its core. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/run_env.h"
#include "sched/sched_internal.h"

static bool is_excluded(const struct job *job, const char *workload, const char *lane)
{
    for (size_t i = 0; i < job->n_exclude; i++) {
        const struct lane_ref *x = &job->exclude[i];
        if ((!x->workload || strcmp(x->workload, workload) == 0) && strcmp(x->lane, lane) == 0)
            return true;
    }
    return false;
}

/* The program of a lane that is neither built nor brought along: to be found on the host. */
static const char *host_tool(const struct lane *lane)
{
    const char *program = lane->command.v[0];

    return strchr(program, '{') || program[0] == '.' ? NULL : program;
}

static int resolve_lane(struct attempt *a, const struct workload *w, const struct lane *lane,
                        struct raw_lane *out)
{
    const char *tool = host_tool(lane);
    const char *path;

    *out = (struct raw_lane){.name = lane->name,
                             .command = lane->command,
                             .control = lane->control,
                             .cpus = lane->cpus,
                             .startup = lane->startup,
                             .excluded = is_excluded(a->job, w->name, lane->name)};
    if (out->excluded || !tool || a->job->is_run)
        return 0;
    if (host_tool_find(&a->arena, tool, a->policy->path, &path) == 0)
        return 0;
    out->absent = arena_printf(&a->arena, "%s is not on this host", tool);
    if (lane->optional)
        return 0;
    return err_set(&a->e, -ENOENT, "lane.tool_missing",
                   arena_printf(&a->arena, "workloads.%s.lanes.%s.command", w->name, lane->name),
                   "%s is not on this host; install it, or declare the lane optional", tool);
}

static int resolve_workload(struct attempt *a, const struct workload *w, struct raw_workload *out)
{
    *out = (struct raw_workload){.name = w->name,
                                 .measure = w->measure,
                                 .declared_wait_ns = w->declared_wait_ns,
                                 .absent_sides = w->absent,
                                 .n_lanes = w->n_lanes,
                                 .lanes = arena_array(&a->arena, w->n_lanes, sizeof *out->lanes)};
    for (size_t l = 0; l < w->n_lanes; l++) {
        int rc = resolve_lane(a, w, &w->lanes[l], &out->lanes[l]);
        if (rc < 0)
            return rc;
        if (out->lanes[l].absent)
            attempt_say(a, "lane %s of %s is absent: %s", w->lanes[l].name, w->name,
                        out->lanes[l].absent);
    }
    return 0;
}

int attempt_resolve_lanes(struct attempt *a)
{
    const struct suite *suite = a->suite;

    a->raw.n_workloads = suite->n_workloads;
    a->raw.workloads = arena_array(&a->arena, suite->n_workloads, sizeof *a->raw.workloads);
    for (size_t w = 0; w < suite->n_workloads; w++) {
        int rc = resolve_workload(a, &suite->workloads[w], &a->raw.workloads[w]);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int expand(struct attempt *a, const struct args *in, size_t n, const char *source_dir,
                  const char *build_dir, const char *field, struct args **out)
{
    *out = arena_array(&a->arena, n, sizeof **out);
    for (size_t i = 0; i < n; i++)
        if (run_expand_args(&a->arena, &in[i], source_dir, a->suite_dir, build_dir, &(*out)[i]) < 0)
            return err_set(&a->e, -EINVAL, "suite.needs_sources", field,
                           "%s uses {source}, but the job has no sources; submit it with a "
                           "revision to measure",
                           field);
    return 0;
}

int attempt_expand_builds(struct attempt *a)
{
    for (size_t k = 0; k < a->n_sides; k++) {
        struct attempt_side *side = &a->sides[k];
        int rc = expand(a, a->suite->build, a->suite->n_build, side->source_dir, side->build_dir,
                        "build", &side->build);
        if (rc < 0)
            return rc;
    }
    return expand(a, a->suite->suite_build, a->suite->n_suite_build, NULL, a->suite_build_dir,
                  "suite_build", &a->suite_build);
}

int attempt_lane_request(struct attempt *a, const struct plan_step *step, struct run_observe *out)
{
    const struct workload *w = &a->suite->workloads[step->workload];
    const struct lane *lane = &w->lanes[step->lane];
    const struct attempt_side *side = &a->sides[step->side];
    struct args argv;

    int rc =
        run_expand_args(&a->arena, &lane->command, lane->control ? NULL : side->source_dir,
                        a->suite_dir, lane->control ? a->suite_build_dir : side->build_dir, &argv);
    if (rc < 0)
        return err_set(&a->e, rc, "suite.needs_sources", lane->name,
                       "lane %s of %s uses {source}, but the job has no sources; submit it with a "
                       "revision to measure",
                       lane->name, w->name);
    *out = (struct run_observe){
        .measure = w->measure,
        .argv = argv.v,
        .env = run_environment(&a->arena, a->policy->path, a->home, a->suite->env, a->suite->n_env,
                               lane->env, lane->n_env),
        .cwd = lane->cwd ? lane->cwd : a->home,
        .ready = w->ready,
        .go = w->go,
        .done = w->done,
        .stdout_text = lane->stdout_text ? lane->stdout_text : w->stdout_text,
        .stderr_allowed = a->job->is_run,
        .ready_timeout_ms = a->policy->ready_timeout_ms,
        .done_timeout_ms = a->policy->done_timeout_ms,
        .cpus = a->cpus,
        .n_cpus = a->n_cpus,
        .pin_cpu = lane->cpus == 1 ? a->pin_cpu : -1,
    };
    return 0;
}
