/* Builds: one step after the other, run by the runner, watched by the loop. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/mem.h"
#include "run/run_env.h"
#include "run/run_text.h"
#include "sched/sched_internal.h"

#define BUILD_LOG_LIMIT_BYTES (1 << 20)

struct build_step {
    const char *side;
    const struct job_source *source; /* NULL: the suite's own, or a job without sources */
    const struct args *argv;
    const char *cwd;
    int index; /* within its side */
};

/* The n-th of all build steps: the suite's first, then each side's. False past the end. */
static bool build_step_at(const struct attempt *a, size_t n, struct build_step *out)
{
    size_t n_suite = a->suite->n_suite_build, n_side = a->suite->n_build;

    if (n < n_suite) {
        *out = (struct build_step){JOB_SIDE_SUITE, NULL, &a->suite_build[n], a->suite_dir, (int)n};
        return true;
    }
    n -= n_suite;
    if (n_side == 0 || n / n_side >= a->n_sides)
        return false;
    const struct attempt_side *side = &a->sides[n / n_side];
    *out = (struct build_step){side->name, side->source_dir ? &a->job->sources[n / n_side] : NULL,
                               &side->build[n % n_side],
                               side->source_dir ? side->source_dir : a->suite_dir,
                               (int)(n % n_side + (side->source_dir ? 0 : n_suite))};
    return true;
}

/* Where the n-th of all build steps stands in suite.json. */
static const char *build_field(struct attempt *a, size_t n)
{
    size_t n_suite = a->suite->n_suite_build;

    if (n < n_suite)
        return arena_printf(&a->arena, "suite_build[%zu]", n);
    return arena_printf(&a->arena, "build[%zu]", (n - n_suite) % a->suite->n_build);
}

static const char *build_log_name(struct attempt *a, const struct build_step *step)
{
    return arena_printf(&a->arena, "build-%s-%d.txt", step->side, step->index);
}

/* The variant is for builds alone: lanes have the same environment on every side. */
static void build_request(struct attempt *a, const struct build_step *step, struct run_exec *req)
{
    const struct job_source *source = step->source;

    *req = (struct run_exec){
        .argv = step->argv->v,
        .env = run_environment(&a->arena, a->policy->path, a->home, a->suite->env, a->suite->n_env,
                               source ? source->variant : NULL, source ? source->n_variant : 0),
        .cwd = step->cwd,
        .log_path = arena_printf(&a->arena, "%s/%s", a->log_dir, build_log_name(a, step)),
        .log_limit_bytes = BUILD_LOG_LIMIT_BYTES,
        .timeout_ms = a->policy->build_timeout_ms,
    };
}

static int begin_next_build(struct attempt *a);

static int build_finished(struct attempt *a)
{
    struct run_exec_result *result = arena_alloc(&a->arena, sizeof *result);
    struct build_step step;
    struct run_exec req;

    (void)build_step_at(a, a->build_next, &step);
    build_request(a, &step, &req);
    FAULT_POINT("build.finished");
    int rc = run_exec_finish(a->run, result, &a->e);
    if (rc < 0)
        return rc;
    struct raw_build *b = &a->builds[a->n_builds++];
    *b = (struct raw_build){.side = step.side,
                            .step = step.index,
                            .argv = *step.argv,
                            .exit_status = result->exit_status,
                            .wall_ns = result->wall_ns,
                            .log = arena_printf(&a->arena, "logs/%s", build_log_name(a, &step)),
                            .attempt = a->built_in};
    const char *field = build_field(a, a->build_next++);
    const char *what = arena_printf(&a->arena, "build step %d of side %s (%s)", step.index + 1,
                                    step.side, step.argv->v[0]);
    attempt_log_file(a, what, req.log_path);
    attempt_say(a, "%s took %.2f s: %s", what, (double)result->wall_ns / 1e9, result->outcome);
    rc = store_put_build(a->sched->config.store, a->id, b, &a->e);
    if (rc == 0 && strcmp(result->outcome, "exec.cancelled") == 0 && a->stop_asked)
        return attempt_end_as(a, a->stop_as);
    if (rc == 0)
        rc = untimed_blame_disk(a, result, req.log_path);
    /* The step's own log goes with the work folder; its text is in the job's. */
    req.log_path = attempt_log_path(a);
    return rc == 0 ? run_exec_text(what, field, &req, result, &a->e) : rc;
}

static void on_answered(struct attempt *a)
{
    a->building = false;
    int rc = build_finished(a);
    if (rc == 0)
        rc = begin_next_build(a);
    if (rc <= 0)
        attempt_step_done(a, rc);
}

/* 1: a step is running; 0: all are done; negative: failed. */
static int begin_next_build(struct attempt *a)
{
    struct build_step step;
    struct run_exec req;

    if (!build_step_at(a, a->build_next, &step))
        return 0;
    build_request(a, &step, &req);
    attempt_progress(a,
                     arena_printf(&a->arena, "building side %s: %s", step.side, step.argv->v[0]));
    int rc = run_exec_begin(a->run, &req, &a->e);
    if (rc < 0)
        return rc;
    a->building = true;
    FAULT_POINT("build.begun");
    rc = untimed_await(a, on_answered);
    return rc < 0 ? rc : 1;
}

int step_build(struct attempt *a)
{
    size_t total = a->suite->n_suite_build + a->suite->n_build * a->n_sides;

    FAULT_POINT("step.build");
    a->builds = arena_array(&a->arena, total, sizeof *a->builds);
    int rc = begin_next_build(a);
    if (rc == 0)
        attempt_step_done(a, 0);
    return rc;
}
