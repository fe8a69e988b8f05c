/* suite.json: what is accepted keeps the rules that the runner and the reports rely on, and says
 * the same in its canonical form. */
#include <string.h>

#include "base/files.h"
#include "core/plan.h"
#include "fuzz/fuzz.h"
#include "proto/doc/doc_command.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_env.h"
#include "proto/doc/documents.h"
#include "proto/wire/runner_wire.h"

static void check_command(const struct args *command, bool is_control)
{
    MUST(command->n >= 1 && command->n <= COMMAND_ARGS_MAX && command->v[0][0]);
    MUST(!command->v[command->n]);
    for (size_t i = 0; i < command->n; i++) {
        const char *bad = NULL;
        unsigned used = doc_placeholders(command->v[i], &bad);
        MUST(!bad, "%s", command->v[i]);
        MUST(!is_control || !(used & PLACE_SOURCE), "%s", command->v[i]);
    }
}

static void check_env(const struct env_var *env, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        MUST(env[i].name[0] && !strchr(env[i].name, '=') && env[i].value);
        MUST(!doc_env_is_reserved(env[i].name), "%s", env[i].name);
        for (size_t k = 0; k < i; k++)
            MUST(strcmp(env[i].name, env[k].name) != 0, "%s", env[i].name);
    }
}

static void check_record(const char *line)
{
    MUST(line && line[0] && strlen(line) < WIRE_LINE_MAX);
    fuzz_must_be_text(line);
}

static const struct lane *find_lane(const struct workload *w, const char *name)
{
    for (size_t i = 0; i < w->n_lanes; i++)
        if (strcmp(w->lanes[i].name, name) == 0)
            return &w->lanes[i];
    return NULL;
}

static void check_files(const struct lane *lane)
{
    MUST(lane->n_files > 0 && lane->command.n == 0 && !lane->startup && lane->cpus == 0);
    for (size_t i = 0; i < lane->n_files; i++) {
        const struct lane_file *f = &lane->files[i];
        MUST(doc_is_name(f->name) && f->baseline_bytes != 0 && f->baseline_bytes >= -1);
        MUST(f->path[0] == '{' && file_path_is_inside(strchr(f->path, '/') + 1), "%s", f->path);
    }
}

static void check_step(const struct lane *lane)
{
    MUST(!lane->startup && !lane->cwd);
    for (size_t i = 0; i < lane->n_prepare; i++)
        check_command(&lane->prepare[i], lane->control);
    for (size_t i = 0; i < lane->outputs.n; i++)
        MUST(file_path_is_inside(lane->outputs.v[i]), "%s", lane->outputs.v[i]);
}

static void check_lane(const struct workload *w, const struct lane *lane)
{
    MUST(doc_is_name(lane->name) && find_lane(w, lane->name) == lane);
    MUST(lane->cpus == 0 || lane->cpus == 1);
    MUST(!lane->cwd || lane->cwd[0] == '/');
    if (w->measure == MEASURE_SIZE)
        check_files(lane);
    else
        check_command(&lane->command, lane->control);
    if (w->measure == MEASURE_BUILD)
        check_step(lane);
    else
        MUST(lane->n_prepare == 0 && lane->outputs.n == (w->measure == MEASURE_KERNEL ? 2U : 0U));
    check_env(lane->env, lane->n_env);
    if (!lane->startup)
        return;
    const struct lane *startup = find_lane(w, lane->startup);
    MUST(w->measure == MEASURE_PROCESS && startup && startup != lane && !startup->startup);
}

/* "hello.check" of "hello", with the lanes of the step before it, which stands beside it. */
static void check_names(const struct suite *s, const struct workload *w)
{
    size_t len = w->steps_of ? strlen(w->steps_of) : 0;

    MUST((w->measure == MEASURE_BUILD) == (w->steps_of != NULL));
    MUST(strlen(w->name) <= DOC_NAME_MAX);
    MUST(doc_is_name(w->steps_of ? w->steps_of : w->name), "%s", w->name);
    if (!w->steps_of)
        return;
    MUST(strncmp(w->name, w->steps_of, len) == 0 && w->name[len] == '.', "%s", w->name);
    MUST(doc_is_name(w->name + len + 1), "%s", w->name);
    for (const struct workload *other = s->workloads; other < w; other++)
        if (plan_is_one_build(other->steps_of, w->steps_of))
            MUST(other->n_lanes == w->n_lanes && plan_is_one_build(w[-1].steps_of, w->steps_of));
}

static void check_workload(const struct suite *s, const struct workload *w)
{
    MUST(w->n_lanes > 0);
    check_names(s, w);
    for (const struct workload *other = s->workloads; other < w; other++)
        MUST(strcmp(other->name, w->name) != 0, "%s", w->name);
    if (measure_has_records(w->measure)) {
        check_record(w->ready);
        check_record(w->go);
        check_record(w->done);
    }
    MUST(w->declared_wait_ns >= 0 && w->resolution_ns >= 0);
    MUST((w->counters.n > 0) == (w->measure == MEASURE_COUNTERS));
    MUST((w->profile != NULL) == (w->measure == MEASURE_ATTRIBUTION));
    MUST(!w->profile ||
         (w->profile->n_categories > 0 && attribution_equal(w->profile, w->profile)));
    MUST(!measure_has_values(w->measure) || w->declared_wait_ns == 0);
    MUST((w->operations > 0) == (w->measure == MEASURE_OPERATION));
    for (size_t i = 0; i < w->n_lanes; i++)
        check_lane(w, &w->lanes[i]);
}

static void check_suite(const struct suite *s)
{
    MUST(doc_is_name(s->name) && s->n_workloads > 0);
    fuzz_must_be_text(s->description);
    for (size_t i = 0; i < s->n_build; i++)
        check_command(&s->build[i], false);
    for (size_t i = 0; i < s->n_suite_build; i++)
        check_command(&s->suite_build[i], true);
    check_env(s->env, s->n_env);
    for (size_t i = 0; i < s->n_workloads; i++)
        check_workload(s, &s->workloads[i]);
}

/* Only the order of members may differ: lanes come in another one, errors may be others. */
static void must_be_judged_the_same(const char *text, size_t len, bool accepted)
{
    struct arena a = {0};
    struct buf canonical = {0};
    struct suite *suite = NULL;
    struct err e = {0};

    if (json_canonical(text, len, &canonical, NULL) == 0)
        MUST((suite_decode(&a, canonical.data, canonical.len, &suite, &e) == 0) == accepted, "%s",
             e.text);
    buf_deinit(&canonical);
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct suite *suite = NULL;
    struct err e = {0};
    bool accepted = fuzz_accepted(suite_decode(&a, (const char *)data, size, &suite, &e), &e);

    MUST(accepted == (suite != NULL));
    if (accepted)
        check_suite(suite);
    must_be_judged_the_same((const char *)data, size, accepted);
    arena_deinit(&a);
    return 0;
}
