/* The steps up to the inventory before timing, but the builds: folders, checkouts, hashes,
 * settling. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "host/cpus.h"
#include "sched/orphans.h"
#include "sched/sched_internal.h"
#include "source/correction.h"
#include "store/calibrations.h"

/* ---- setup */

/* The names have one length, so that both sides' paths do: stack and argv start at the same place.
 */
static void name_folders(struct attempt *a)
{
    a->work_dir = arena_printf(&a->arena, "%s/%s", a->sched->work_root, a->id);
    a->suite_dir = arena_printf(&a->arena, "%s/suite", a->work_dir);
    a->home = arena_printf(&a->arena, "%s/home", a->work_dir);
    a->bench_dir = arena_printf(&a->arena, "%s/bench", a->work_dir);
    a->log_dir = arena_printf(&a->arena, "%s/logs", a->work_dir);
    a->callgrind_dir = arena_printf(&a->arena, "%s/callgrind", a->work_dir);
    a->profile_dir = arena_printf(&a->arena, "%s/profile", a->work_dir);
    a->tally_dir = arena_printf(&a->arena, "%s/" ATTRIBUTION_TALLIES, a->work_dir);
    for (size_t k = 0; k < a->n_sides; k++) {
        struct attempt_side *side = &a->sides[k];
        side->source_dir =
            a->job->n_sources ? arena_printf(&a->arena, "%s/s%zu", a->work_dir, k) : NULL;
        side->build_dir = arena_printf(&a->arena, "%s/b%zu", a->work_dir, k);
    }
    /* Without sources there is one side, the suite itself. */
    a->suite_build_dir =
        a->job->n_sources ? arena_printf(&a->arena, "%s/bs", a->work_dir) : a->sides[0].build_dir;
}

static int make_folders(struct attempt *a)
{
    const char *const dirs[] = {a->work_dir,      a->suite_build_dir, a->home,        a->log_dir,
                                a->callgrind_dir, a->bench_dir,       a->profile_dir, a->tally_dir};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(dirs); i++)
        rc = file_mkdirs(dirs[i], 0755, &a->e);
    for (size_t k = 0; rc == 0 && k < a->n_sides; k++)
        rc = file_mkdirs(a->sides[k].build_dir, 0755, &a->e);
    return rc;
}

static void name_sides(struct attempt *a)
{
    a->n_sides = a->job->n_sources ? a->job->n_sources : 1;
    for (size_t k = 0; k < a->n_sides; k++)
        a->sides[k].name = a->job->n_sources ? a->job->sources[k].side : JOB_SIDE_SUITE;
    a->raw.n_sides = a->n_sides;
    a->raw.sides = arena_array(&a->arena, a->n_sides, sizeof *a->raw.sides);
    for (size_t k = 0; k < a->n_sides; k++)
        a->raw.sides[k] = a->sides[k].name;
}

/* "0-1", "0-3,8": runs of neighbours shortened. */
static const char *cpu_list_text(struct attempt *a)
{
    struct buf text = {0};

    for (size_t i = 0, end; i < a->n_cpus; i = end) {
        for (end = i + 1; end < a->n_cpus && a->cpus[end] == a->cpus[end - 1] + 1;)
            end++;
        buf_printf(&text, "%s%d", i ? "," : "", a->cpus[i]);
        if (end > i + 1)
            buf_printf(&text, "-%d", a->cpus[end - 1]);
    }
    const char *out = arena_strdup(&a->arena, buf_str(&text));
    buf_deinit(&text);
    return out;
}

/* The policy's CPUs, else all that the system lets us use; pinned lanes get the last of them, the
 * farthest from where interrupts usually land. */
static int choose_cpus(struct attempt *a)
{
    const struct args *wanted = &a->policy->cpu_set;
    int *usable;
    size_t n_usable;

    host_usable_cpus(&a->arena, &usable, &n_usable);
    a->cpus = usable;
    a->n_cpus = n_usable;
    if (wanted->n) {
        a->n_cpus = wanted->n;
        a->cpus = arena_array(&a->arena, a->n_cpus, sizeof *a->cpus);
    }
    for (size_t i = 0; i < wanted->n; i++) {
        size_t k = 0;
        a->cpus[i] = atoi(wanted->v[i]);
        while (k < n_usable && usable[k] != a->cpus[i])
            k++;
        if (k == n_usable)
            return err_set(
                &a->e, -EINVAL, "policy.cpu_set", "cpu_set",
                "the policy names CPU %d, which aurabenchd may not use here; name others",
                a->cpus[i]);
    }
    a->pin_cpu = a->cpus[a->n_cpus - 1];
    host_cpus_with_siblings(&a->arena, a->cpus, a->n_cpus, &a->near_cpus, &a->n_near);
    host_cpus_with_siblings(&a->arena, &a->pin_cpu, 1, &a->pin_near, &a->n_pin_near);
    a->raw.cpu_set = cpu_list_text(a);
    return 0;
}

static int start_runner(struct attempt *a)
{
    if (a->run)
        return 0;
    a->raw.observer = LEDGER_NO_SOURCES;
    int rc = run_new(a->sched->config.runner_path, &a->run, &a->e);
    if (rc == 0) {
        a->raw.observer = *run_sources(a->run);
        host_probe_sources(a->sched->config.probe, &a->raw.observer);
        orphans_mark(a->sched, a->run, a->boot.id);
        attempt_say(a, "the runner is process %d", run_pid(a->run));
    }
    return rc;
}

/* What a retry takes over is stored under its own attempt too, so that each is whole. */
static int take_over(struct attempt *a)
{
    struct store *store = a->sched->config.store;

    attempt_say(a, "continuing attempt %s: its checkouts, builds and inventory before build hold",
                a->reused_from);
    int rc = store_attempt_reuse(store, a->id, a->work_dir, a->reused_from, &a->e);
    if (rc == 0)
        rc = store_put_phase(store, a->id, PHASE_BEFORE_BUILD, &a->phases[PHASE_BEFORE_BUILD],
                             &a->e);
    if (rc == 0)
        rc = store_put_sources(store, a->id, a->raw.sources, a->raw.n_sources, &a->e);
    for (size_t i = 0; rc == 0 && i < a->n_builds; i++)
        rc = store_put_build(store, a->id, &a->builds[i], &a->e);
    if (rc == 0)
        rc = store_put_artifacts(store, a->id, a->raw.artifacts, a->raw.n_artifacts, &a->e);
    if (rc == 0)
        rc = store_put_tools(store, a->id, a->raw.tools, a->raw.n_tools, &a->e);
    return rc;
}

static int set_up_fresh(struct attempt *a)
{
    name_sides(a);
    name_folders(a);
    a->raw.fresh_worktrees = true;
    a->raw.clock = clock_name();
    a->raw.suspend_before_ms = host_probe_suspend_ms(a->sched->config.probe);
    int rc = attempt_expand_builds(a);
    if (rc == 0)
        rc = attempt_resolve_lanes(a);
    if (rc == 0)
        rc = choose_cpus(a);
    if (rc == 0)
        rc = make_folders(a);
    FAULT_POINT("setup.folders");
    if (rc == 0)
        rc = store_attempt_reuse(a->sched->config.store, a->id, a->work_dir, NULL, &a->e);
    return rc;
}

int step_setup(struct attempt *a)
{
    int rc = attempt_log_open(a);

    FAULT_POINT("step.setup");
    if (rc == 0)
        rc = a->reused_from ? take_over(a) : set_up_fresh(a);
    if (rc == 0)
        rc = store_attempt_calibrate(a->sched->config.store, a->id, a->boot.id, &a->e);
    if (rc == 0)
        rc = start_runner(a);
    if (rc == 0)
        rc = attempt_choose_counters(a);
    if (rc == 0)
        attempt_step_done(a, 0);
    return rc;
}

/* ---- inventories */

static int judge_before_build(struct attempt *a)
{
    return attempt_judge_phase(a, PHASE_BEFORE_BUILD);
}

int step_inventory_before_build(struct attempt *a)
{
    FAULT_POINT("step.inventory_before_build");
    return attempt_take_phase(a, PHASE_BEFORE_BUILD, judge_before_build);
}

static int judge_before_timing(struct attempt *a)
{
    return attempt_judge_phase(a, PHASE_BEFORE_TIMING);
}

int step_inventory_before_timing(struct attempt *a)
{
    FAULT_POINT("step.inventory_before_timing");
    return attempt_take_phase(a, PHASE_BEFORE_TIMING, judge_before_timing);
}

/* ---- checkout */

/* "CFLAGS=-O3": what build_request adds for this side. */
static struct args variant_of(struct attempt *a, const struct job_source *from)
{
    const char **v = arena_array(&a->arena, from->n_variant + 1, sizeof *v);

    for (size_t i = 0; i < from->n_variant; i++)
        v[i] = arena_printf(&a->arena, "%s=%s", from->variant[i].name, from->variant[i].value);
    return (struct args){.v = v, .n = from->n_variant};
}

/* Once more, in the attempt itself: its report rests on what was found now. */
static int prove_correction(struct attempt *a, const struct job_source *from,
                            struct raw_source *out)
{
    struct raw_correction *proof;

    out->correction = NULL;
    if (!from->correction)
        return 0;
    proof = arena_alloc(&a->arena, sizeof *proof);
    out->correction = proof;
    return source_prove_correction(a->sched->config.sources, &a->arena, from, proof, &a->e);
}

static int check_out(struct attempt *a)
{
    struct source_store *sources = a->sched->config.sources;
    int rc = source_copy_suite(sources, a->job->suite_sha256, a->suite_dir, &a->e);

    for (size_t k = 0; rc == 0 && k < a->job->n_sources; k++) {
        const struct job_source *from = &a->job->sources[k];
        struct raw_source *out = &a->sides[k].source;
        FAULT_POINT("checkout.side");
        rc = source_checkout(sources, &a->arena, from->commit, a->sides[k].source_dir, out, &a->e);
        out->side = from->side;
        out->repo = from->repo;
        out->rev = from->rev;
        out->variant = variant_of(a, from);
        if (rc == 0)
            rc = prove_correction(a, from, out);
    }
    return rc;
}

static void say_checked_out(struct attempt *a, const struct raw_source *s)
{
    const struct raw_correction *c = s->correction;

    attempt_say(a, "side %s: %s at commit %s, %lld files", s->side, s->rev, s->commit,
                (long long)s->files);
    if (c)
        attempt_say(a, "side %s: proven to be %s and exactly the diff that %s allowed", s->side,
                    c->base_commit, c->approved_by);
}

static int checked_out(struct attempt *a)
{
    a->raw.n_sources = a->job->n_sources;
    a->raw.sources = arena_array(&a->arena, a->raw.n_sources, sizeof *a->raw.sources);
    for (size_t k = 0; k < a->raw.n_sources; k++) {
        a->raw.sources[k] = a->sides[k].source;
        say_checked_out(a, &a->raw.sources[k]);
    }
    return store_put_sources(a->sched->config.store, a->id, a->raw.sources, a->raw.n_sources,
                             &a->e);
}

int step_checkout(struct attempt *a)
{
    FAULT_POINT("step.checkout");
    return attempt_on_worker(a, check_out, checked_out);
}

/* ---- hashes */

static void add_tool(struct attempt *a, const char *name, size_t *cap)
{
    struct raw_tool tool = {0};

    for (size_t i = 0; i < a->raw.n_tools; i++)
        if (strcmp(a->raw.tools[i].name, name) == 0)
            return;
    if (a->raw.n_tools == *cap ||
        host_tool_identity(&a->arena, name, a->policy->path, &tool, NULL) < 0)
        return;
    a->raw.tools[a->raw.n_tools++] = tool;
}

static void add_host_tool(struct attempt *a, const char *name, size_t *cap)
{
    if (!strchr(name, '{'))
        add_tool(a, name, cap);
}

/* A lane's program, and what it names of the host beside it: what a build made it with. */
static void add_lane_tools(struct attempt *a, const struct lane *lane, size_t *cap)
{
    if (lane->command.n > 0)
        add_host_tool(a, lane->command.v[0], cap);
    for (size_t i = 0; i < lane->needs.n; i++)
        add_host_tool(a, lane->needs.v[i], cap);
    for (size_t i = 0; i < lane->n_prepare; i++)
        add_host_tool(a, lane->prepare[i].v[0], cap);
}

static size_t count_tools(const struct suite *s)
{
    size_t n = s->n_build + s->n_suite_build + 2; /* cc, valgrind */

    for (size_t w = 0; w < s->n_workloads; w++)
        for (size_t l = 0; l < s->workloads[w].n_lanes; l++)
            n += 1 + s->workloads[w].lanes[l].needs.n + s->workloads[w].lanes[l].n_prepare;
    return n;
}

/* Programs of the host that take part: the builds' and the lanes', and the compiler that `make`
 * calls by its usual name. */
static void identify_tools(struct attempt *a)
{
    const struct suite *s = a->suite;
    size_t cap = count_tools(s);

    a->raw.n_tools = 0;
    a->raw.tools = arena_array(&a->arena, cap, sizeof *a->raw.tools);
    for (size_t i = 0; i < s->n_build; i++)
        add_host_tool(a, s->build[i].v[0], &cap);
    for (size_t i = 0; i < s->n_suite_build; i++)
        add_host_tool(a, s->suite_build[i].v[0], &cap);
    for (size_t w = 0; w < s->n_workloads; w++)
        for (size_t l = 0; l < s->workloads[w].n_lanes; l++)
            if (!a->raw.workloads[w].lanes[l].absent)
                add_lane_tools(a, &s->workloads[w].lanes[l], &cap);
    if (s->n_build + s->n_suite_build)
        add_tool(a, "cc", &cap);
    if (a->valgrind)
        add_tool(a, "valgrind", &cap);
}

static int hash_products(struct attempt *a)
{
    struct raw_artifact *found[JOB_SIDES_MAX + 1] = {0};
    size_t n[JOB_SIDES_MAX + 1] = {0}, total = 0;
    size_t folders = a->n_sides + (a->job->n_sources ? 1 : 0);

    for (size_t k = 0; k < folders; k++) {
        bool own = k == a->n_sides;
        int rc =
            source_hash_folder(&a->arena, own ? a->suite_build_dir : a->sides[k].build_dir,
                               own ? JOB_SIDE_SUITE : a->sides[k].name, &found[k], &n[k], &a->e);
        if (rc < 0)
            return rc;
        total += n[k];
    }
    a->raw.n_artifacts = 0;
    a->raw.artifacts = arena_array(&a->arena, total, sizeof *a->raw.artifacts);
    for (size_t k = 0; k < folders; k++)
        for (size_t i = 0; i < n[k]; i++)
            a->raw.artifacts[a->raw.n_artifacts++] = found[k][i];
    return 0;
}

static int hash_all(struct attempt *a)
{
    identify_tools(a);
    return hash_products(a);
}

static int hashed(struct attempt *a)
{
    struct store *store = a->sched->config.store;

    attempt_say(a, "hashed %zu products and %zu tools", a->raw.n_artifacts, a->raw.n_tools);
    int rc = store_put_artifacts(store, a->id, a->raw.artifacts, a->raw.n_artifacts, &a->e);
    if (rc == 0)
        rc = store_put_tools(store, a->id, a->raw.tools, a->raw.n_tools, &a->e);
    return rc;
}

int step_hash(struct attempt *a)
{
    FAULT_POINT("step.hash");
    attempt_resolve_built(a);
    return attempt_on_worker(a, hash_all, hashed);
}

/* ---- settle */

static void on_settled(uv_timer_t *timer)
{
    struct attempt *a = timer->data;

    a->settling = false;
    attempt_step_done(a, 0);
}

int step_settle(struct attempt *a)
{
    FAULT_POINT("step.settle");
    a->settling = true;
    return uv_timer_start(&a->timer, on_settled, (uint64_t)a->policy->settle_ms, 0);
}
