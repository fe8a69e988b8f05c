/* Optional lanes of programs that a build makes or leaves out: present or absent after the builds,
 * with the reason that the build gave. */
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "host/proc_parse.h"
#include "run/run_env.h"
#include "sched/sched_internal.h"

#define REASON_MAX_BYTES 4096

/* What the build left beside the file's place, in one line. */
static const char *reason_of(struct attempt *a, const char *path, const char *named)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    CLEANUP(mem_freep) char *beside = mem_printf("%s.absent", path);
    const char *reason = NULL;

    if (file_read(beside, REASON_MAX_BYTES, &text, NULL) == 0)
        reason = proc_clean(&a->arena, buf_str(&text), strcspn(buf_str(&text), "\r\n"));
    return reason ? reason : arena_printf(&a->arena, "the build made no %s", named);
}

/* Of these, those with a placeholder are files. NULL: none is missing. */
static const char *missing_of(struct attempt *a, const struct args *named, const struct lane *lane,
                              const struct attempt_side *side)
{
    struct args paths;
    int rc =
        run_expand_args(&a->arena, named, lane->control ? NULL : side->source_dir, a->suite_dir,
                        lane->control ? a->suite_build_dir : side->build_dir, &paths);

    for (size_t i = 0; rc == 0 && i < named->n; i++)
        if (strchr(named->v[i], '{') && access(paths.v[i], F_OK) < 0)
            return reason_of(a, paths.v[i], named->v[i]);
    return NULL;
}

/* Why the lane cannot run on some side; NULL: it can on all. */
static const char *why_absent(struct attempt *a, const struct lane *lane)
{
    const struct args program = {lane->command.v, 1};
    const char *why = NULL;

    for (size_t k = 0; !why && k < a->n_sides; k++) {
        why = missing_of(a, &program, lane, &a->sides[k]);
        if (!why && lane->needs.n > 0)
            why = missing_of(a, &lane->needs, lane, &a->sides[k]);
    }
    return why;
}

void attempt_resolve_built(struct attempt *a)
{
    for (size_t w = 0; w < a->suite->n_workloads; w++)
        for (size_t l = 0; l < a->suite->workloads[w].n_lanes; l++) {
            const struct lane *lane = &a->suite->workloads[w].lanes[l];
            struct raw_lane *out = &a->raw.workloads[w].lanes[l];
            if (!lane->optional || out->excluded || out->absent)
                continue;
            out->absent = why_absent(a, lane);
            if (out->absent)
                attempt_say(a, "lane %s of %s is absent: %s", lane->name,
                            a->suite->workloads[w].name, out->absent);
        }
    attempt_share_absence(a);
}
