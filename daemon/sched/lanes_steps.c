/* Lanes of measure "build": outside of the clock, what comes before and after their steps.
 *
 * All of them run in one folder, at the same path on every side, which is emptied before the first
 * step of each observation and is their HOME too: nothing is left of an earlier one, not even
 * a cache. Then the lane's prepare commands run, by the runner and not timed. Before a step what it
 * promises to write is removed, so that what is found behind it is its own. */
#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "run/run_env.h"
#include "run/run_text.h"
#include "sched/sched_internal.h"
#include "source/inside.h"

#define LOG_LIMIT_BYTES (1 << 20)

static const struct workload *workload_of(const struct attempt *a, const struct plan_step *step)
{
    return &a->suite->workloads[step->workload];
}

static const struct lane *lane_of(const struct attempt *a, const struct plan_step *step)
{
    return &workload_of(a, step)->lanes[step->lane];
}

static bool is_first_step(const struct attempt *a, const struct plan_step *step)
{
    const struct workload *w = workload_of(a, step);

    return step->workload == 0 || !plan_is_one_build(w[-1].steps_of, w->steps_of);
}

/* ---- before a step */

static int prepare_request(struct attempt *a, const struct plan_step *step, struct run_exec *req)
{
    const struct lane *lane = lane_of(a, step);
    const struct attempt_side *side = &a->sides[step->side];
    struct args argv;
    int rc = run_expand_args(&a->arena, &lane->prepare[a->preparing.next],
                             lane->control ? NULL : side->source_dir, a->suite_dir,
                             lane->control ? a->suite_build_dir : side->build_dir, &argv);

    if (rc < 0)
        return err_set(&a->e, rc, "suite.needs_sources", lane->name,
                       "lane %s of %s uses {source} to prepare, but the job has no sources; submit "
                       "it with a revision to measure",
                       lane->name, workload_of(a, step)->name);
    *req = (struct run_exec){
        .argv = argv.v,
        .env = run_environment(&a->arena, a->policy->path, a->bench_dir, a->suite->env,
                               a->suite->n_env, lane->env, lane->n_env),
        .cwd = a->bench_dir,
        .log_path = arena_printf(&a->arena, "%s/prepare.txt", a->log_dir),
        .log_limit_bytes = LOG_LIMIT_BYTES,
        .timeout_ms = a->policy->build_timeout_ms,
    };
    return 0;
}

static int begin_prepare(struct attempt *a, const struct plan_step *step)
{
    struct run_exec *req = arena_alloc(&a->arena, sizeof *req);
    int rc = prepare_request(a, step, req);

    if (rc == 0)
        rc = run_exec_begin(a->run, req, &a->e);
    if (rc == 0)
        a->preparing.req = req;
    return rc < 0 ? rc : LANE_PREPARING;
}

/* What is told of the step that could not begin. */
static int spoilt(struct attempt *a, const struct run_exec_result *result,
                  struct run_observation *out)
{
    const struct run_exec *req = a->preparing.req;
    struct err why = {0};

    struct run_exec told = *req;

    attempt_log_file(a, "prepare", req->log_path);
    told.log_path = attempt_log_path(a); /* its own log goes with the work folder */
    (void)run_exec_text(req->argv[0], "prepare", &told, result, &why);
    *out = (struct run_observation){
        .raw = {.outcome = "lane.prepare_failed", RAW_OBSERVATION_NOT_RUN},
        .got = arena_strdup(&a->arena, why.text),
        .unremoved = result->unremoved[0] ? arena_strdup(&a->arena, result->unremoved) : NULL,
        .stdout_tail = "",
        .stderr_tail = "",
        .output = "",
    };
    return LANE_SPOILT;
}

/* A command that failed: is it to blame? */
static int judge_failed(struct attempt *a, const struct run_exec_result *result,
                        struct run_observation *out)
{
    if (a->stop_asked)
        return attempt_end_as(a, a->stop_as);
    int rc = untimed_blame_disk(a, result, a->preparing.req->log_path);
    return rc < 0 ? rc : spoilt(a, result, out);
}

static int finish_prepare(struct attempt *a, struct run_observation *out)
{
    struct run_exec_result *result = arena_alloc(&a->arena, sizeof *result);
    int rc = run_exec_finish(a->run, result, &a->e);

    if (rc == 0 && strcmp(result->outcome, "ok") != 0)
        rc = judge_failed(a, result, out);
    a->preparing.req = NULL;
    a->preparing.next = rc < 0 ? 0 : a->preparing.next + 1;
    return rc;
}

static void remove_outputs(struct attempt *a, const struct lane *lane)
{
    for (size_t i = 0; i < lane->outputs.n; i++)
        source_remove_inside(a->bench_dir, lane->outputs.v[i]);
}

int attempt_prepare_lane(struct attempt *a, const struct plan_step *step,
                         struct run_observation *out)
{
    const struct lane *lane = lane_of(a, step);
    struct preparing *p = &a->preparing;
    bool is_first = is_first_step(a, step);
    int rc = 0;

    if (workload_of(a, step)->measure != MEASURE_BUILD)
        return LANE_READY;
    if (p->req)
        rc = finish_prepare(a, out);
    else if (is_first && p->next == 0)
        rc = file_empty(a->bench_dir, &a->e);
    if (rc != 0)
        return rc;
    if (a->stop_asked)
        return attempt_end_as(a, a->stop_as);
    if (is_first && p->next < lane->n_prepare)
        return begin_prepare(a, step);
    p->next = 0;
    remove_outputs(a, lane);
    return LANE_READY;
}

/* ---- behind a step */

/* The words of files in general, for those that a step has promised. */
static const char *output_fault(const char *fault)
{
    return strcmp(fault, "lane.file_link") == 0      ? "lane.output_link"
           : strcmp(fault, "lane.file_special") == 0 ? "lane.output_special"
           : strcmp(fault, "lane.output_large") == 0 ? fault
                                                     : "lane.output_missing";
}

/* Those of the first observation of this step, lane and side; kept while it is measured. */
static const struct raw_output **first_outputs(struct attempt *a, const struct plan_step *step)
{
    size_t lane = a->lane_base[step->workload] + (size_t)step->lane;

    return &a->first_outputs[lane * a->n_sides + (size_t)step->side];
}

static const char *take_outputs(struct attempt *a, const struct lane *lane,
                                struct raw_output *outputs, struct run_observation *o)
{
    for (size_t i = 0; i < lane->outputs.n; i++) {
        char hex[DIGEST_HEX];
        outputs[i].name = lane->outputs.v[i];
        const char *fault =
            source_digest_inside(a->bench_dir, outputs[i].name, &outputs[i].bytes, hex);
        o->got = fault ? outputs[i].name : o->got;
        if (fault)
            return output_fault(fault);
        outputs[i].sha256 = arena_strdup(&a->arena, hex);
    }
    return NULL;
}

static const char *hold_against(const struct raw_output *outputs, const struct raw_output *first,
                                size_t n, struct run_observation *o)
{
    for (size_t i = 0; first && i < n; i++)
        if (strcmp(outputs[i].sha256, first[i].sha256) != 0) {
            o->got = outputs[i].name;
            return "lane.output_differs";
        }
    return NULL;
}

/* fault NULL: they are good. */
static void keep_first(struct run_observation *o, const struct raw_output **first,
                       const char *fault)
{
    if (!fault) {
        *first = *first ? *first : o->raw.outputs;
        return;
    }
    o->raw.outcome = fault;
    o->raw.outputs = NULL;
    o->raw.values = NULL;
    o->raw.n_outputs = o->raw.n_values = 0;
}

void attempt_take_outputs(struct attempt *a, const struct plan_step *step,
                          struct run_observation *o)
{
    const struct workload *w = workload_of(a, step);
    const struct lane *lane = lane_of(a, step);
    const struct raw_output **first = first_outputs(a, step);

    if (w->measure == MEASURE_KERNEL && strcmp(o->raw.outcome, "ok") == 0)
        keep_first(o, first, hold_against(o->raw.outputs, *first, o->raw.n_outputs, o));
    if (w->measure != MEASURE_BUILD || strcmp(o->raw.outcome, "ok") != 0)
        return;
    struct raw_output *outputs = arena_array(&a->arena, lane->outputs.n, sizeof *outputs);
    const char *fault = take_outputs(a, lane, outputs, o);
    if (!fault && w->reproducible)
        fault = hold_against(outputs, *first, lane->outputs.n, o);
    o->raw.outputs = outputs;
    o->raw.n_outputs = lane->outputs.n;
    keep_first(o, first, fault);
}
