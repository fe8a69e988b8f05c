/* What each lane and build is on this host for this job: present or absent, its arguments with the
 * folders in place of the placeholders, its environment, its core. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
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
    const char *program = lane->command.n > 0 ? lane->command.v[0] : NULL;

    return !program || strchr(program, '{') || program[0] == '.' ? NULL : program;
}

/* The first of these programs of the host that is not there; NULL: none is missing. */
static const char *missing_tool(struct attempt *a, const struct args *tools)
{
    const char *path;

    for (size_t i = 0; i < tools->n; i++)
        if (!strchr(tools->v[i], '{') &&
            host_tool_find(&a->arena, tools->v[i], a->policy->path, &path) < 0)
            return tools->v[i];
    return NULL;
}

static int resolve_lane(struct attempt *a, const struct workload *w, const struct lane *lane,
                        struct raw_lane *out)
{
    const char *tool = host_tool(lane);
    const char *path, *missing = missing_tool(a, &lane->needs);

    *out = (struct raw_lane){.name = lane->name,
                             .command = lane->command,
                             .control = lane->control,
                             .cpus = lane->cpus,
                             .startup = lane->startup,
                             .files = lane->files,
                             .n_files = lane->n_files,
                             .scaling = lane->scaling,
                             .outputs = lane->outputs,
                             .excluded = is_excluded(a->job, workload_written_name(w), lane->name)};
    if (!out->excluded && missing)
        out->absent = arena_printf(&a->arena, "%s is not on this host", missing);
    if (out->excluded || missing || !tool || a->job->is_run)
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
                                 .steps_of = w->steps_of,
                                 .reproducible = w->reproducible,
                                 .declared_wait_ns = w->declared_wait_ns,
                                 .operations = w->operations,
                                 .resolution_ns = w->resolution_ns,
                                 .absent_sides = w->absent,
                                 .counters = w->counters,
                                 .growth_pct = w->growth_pct,
                                 .profile = w->profile,
                                 .baseline = w->baseline != NULL,
                                 .window_ms = w->window_ms,
                                 .ack = w->ack != NULL,
                                 .samples = w->samples,
                                 .n_samples = w->n_samples,
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

static const char *absent_with(const struct attempt *a, size_t w, size_t lane)
{
    const char *steps_of = a->raw.workloads[w].steps_of;

    for (size_t k = 0; k < a->raw.n_workloads; k++)
        if (plan_is_one_build(a->raw.workloads[k].steps_of, steps_of) &&
            a->raw.workloads[k].lanes[lane].absent)
            return a->raw.workloads[k].lanes[lane].absent;
    return NULL;
}

void attempt_share_absence(struct attempt *a)
{
    for (size_t w = 0; w < a->raw.n_workloads; w++)
        for (size_t l = 0; a->raw.workloads[w].steps_of && l < a->raw.workloads[w].n_lanes; l++)
            a->raw.workloads[w].lanes[l].absent = absent_with(a, w, l);
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
    attempt_share_absence(a);
    return 0;
}

/* What counts the instructions of a workload, the same on all sides: the CPU where it can, else
 * callgrind. */
static int choose_counter(struct attempt *a, struct raw_workload *w)
{
    const char *path;

    w->tool = run_counts_instructions(a->run) ? TOOL_PERF : TOOL_CALLGRIND;
    if (strcmp(w->tool, TOOL_PERF) == 0)
        return 0;
    if (host_tool_find(&a->arena, "valgrind", a->policy->path, &path) == 0) {
        a->valgrind = path;
        return 0;
    }
    return err_set(&a->e, -ENOENT, "lane.tool_missing",
                   arena_printf(&a->arena, "workloads.%s.measure", w->name),
                   "the CPU's counter of instructions cannot be used here and valgrind is not in "
                   "the policy's PATH; install valgrind, or measure this workload elsewhere");
}

int attempt_choose_counters(struct attempt *a)
{
    const char *lane = run_sources(a->run)->lane; /* NULL: the runner has no counter of lanes */
    bool is_grouped = lane && strcmp(lane, "cgroup") == 0;
    int rc = 0;

    for (size_t w = 0; rc == 0 && w < a->raw.n_workloads; w++) {
        struct raw_workload *workload = &a->raw.workloads[w];
        if (workload->measure == MEASURE_MEMORY)
            workload->tool = run_reads_rollups(a->run) ? TOOL_ROLLUP : TOOL_STATUS;
        if (workload->measure == MEASURE_CPU)
            workload->tool = is_grouped ? TOOL_GROUP : TOOL_CLOCKS;
        if (a->raw.workloads[w].measure == MEASURE_INSTRUCTIONS && !a->raw.workloads[w].tool)
            rc = choose_counter(a, &a->raw.workloads[w]);
    }
    return rc;
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

static struct args args_behind(struct attempt *a, const char *const *before, size_t n,
                               const struct args *command)
{
    const char **v = arena_array(&a->arena, n + command->n + 1, sizeof *v);

    memcpy(v, before, n * sizeof *v);
    for (size_t i = 0; i < command->n; i++)
        v[n + i] = command->v[i];
    return (struct args){v, n + command->n};
}

/* The command under callgrind, one file for each process; its own words go nowhere. */
static struct args under_callgrind(struct attempt *a, const struct args *command)
{
    const char *const before[] = {
        a->valgrind, "--tool=callgrind", "--trace-children=yes", "--log-file=/dev/null",
        arena_printf(&a->arena, "--callgrind-out-file=%s/%%p", a->callgrind_dir)};

    return args_behind(a, before, ARRAY_LEN(before), command);
}

/* The lane's command is a driver, which the client speaks with: what belongs to that is there. */
static int under_client(struct attempt *a, const struct kernel_work *k, struct args *command)
{
    const char *kind = kernel_entry_name(k->kind);
    const struct args files = {(const char *[]){k->program, k->input}, 2};
    struct args paths;

    int rc = run_expand_args(&a->arena, &files, NULL, a->suite_dir, NULL, &paths);
    if (rc < 0)
        return rc;
    const char *const before[] = {sched_beside_runner(a->sched, &a->arena, "aurabench"),
                                  "kernel",
                                  paths.v[0],
                                  "--json",
                                  "--entry",
                                  k->entry,
                                  "--entry-kind",
                                  kind,
                                  "--input",
                                  paths.v[1],
                                  "--compile-iterations",
                                  arena_printf(&a->arena, "%" PRId64, k->compiles),
                                  "--iterations",
                                  arena_printf(&a->arena, "%" PRId64, k->dispatches),
                                  "--threads",
                                  arena_printf(&a->arena, "%" PRId64, k->workers),
                                  "--"};
    *command = args_behind(a, before, ARRAY_LEN(before), command);
    return 0;
}

int attempt_lane_request(struct attempt *a, const struct plan_step *step, struct run_observe *out)
{
    const struct workload *w = &a->suite->workloads[step->workload];
    const struct lane *lane = &w->lanes[step->lane];
    const struct attempt_side *side = &a->sides[step->side];
    const char *home = w->measure == MEASURE_BUILD ? a->bench_dir : a->home;
    struct args argv;

    int rc =
        run_expand_args(&a->arena, &lane->command, lane->control ? NULL : side->source_dir,
                        a->suite_dir, lane->control ? a->suite_build_dir : side->build_dir, &argv);
    if (rc < 0)
        return err_set(&a->e, rc, "suite.needs_sources", lane->name,
                       "lane %s of %s uses {source}, but the job has no sources; submit it with a "
                       "revision to measure",
                       lane->name, w->name);
    const char *tool = a->raw.workloads[step->workload].tool;
    bool is_callgrind = tool && strcmp(tool, TOOL_CALLGRIND) == 0;
    if (is_callgrind)
        argv = under_callgrind(a, &argv);
    if (w->measure == MEASURE_KERNEL && under_client(a, &w->kernel, &argv) < 0)
        return err_set(&a->e, -EINVAL, "suite.bad", w->name,
                       "workload %s names no files of its suite", w->name);
    *out = (struct run_observe){
        .measure = w->measure,
        .callgrind_dir = is_callgrind ? a->callgrind_dir : NULL,
        .argv = argv.v,
        .env = run_environment(&a->arena, a->policy->path, home, a->suite->env, a->suite->n_env,
                               lane->env, lane->n_env),
        .profile = w->profile,
        .profile_dir = w->profile ? a->profile_dir : NULL,
        .cwd = w->profile  ? a->profile_dir
               : lane->cwd ? lane->cwd
                           : home,
        .ready = w->ready,
        .go = w->go,
        .done = w->done,
        .baseline = w->baseline,
        .load = w->load,
        .ack = w->ack,
        .samples = w->samples,
        .n_samples = w->n_samples,
        .window_ms = w->window_ms,
        .stdout_text = lane->stdout_text ? lane->stdout_text : w->stdout_text,
        .counters = w->counters,
        .stderr_allowed = a->job->is_run,
        .ready_timeout_ms = a->policy->ready_timeout_ms,
        .done_timeout_ms = a->policy->done_timeout_ms,
        .cpus = a->cpus,
        .n_cpus = a->n_cpus,
        .pin_cpu = lane->cpus == 1 ? a->pin_cpu : -1,
        .near_cpus = lane->cpus == 1 ? a->pin_near : a->near_cpus,
        .n_near = lane->cpus == 1 ? a->n_pin_near : a->n_near,
    };
    return 0;
}
