/* Tallies of profiles between their observation and the evidence: files of the work folder, as the
 * logs of the builds are. An attempt whose daemon goes down before it sealed is lost with all of
 * it, so that nothing longer-lived is needed; their hashes stand with the observations in the
 * store, and a file that does not have its hash any more is not sealed. */
#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "sched/sched_internal.h"

void attempt_take_tally(struct attempt *a, const struct plan_step *step, struct run_observation *o)
{
    char name[ATTRIBUTION_TALLY_MAX], hex[DIGEST_HEX];

    if (o->tally.len == 0)
        return;
    attribution_tally_name(step->seq, name);
    digest_bytes(o->tally.data, o->tally.len, hex);
    o->raw.outputs = arena_alloc(&a->arena, sizeof *o->raw.outputs);
    o->raw.n_outputs = 1;
    o->raw.outputs[0] = (struct raw_output){.name = arena_strdup(&a->arena, name),
                                            .bytes = (int64_t)o->tally.len,
                                            .sha256 = arena_strdup(&a->arena, hex)};
    MEM_GROW(a->tallies, a->n_tallies, a->tallies_cap);
    a->tallies[a->n_tallies++] = (struct tally_text){o->raw.outputs[0].name, o->tally};
    o->tally = (struct buf){0};
}

static void drop(struct attempt *a)
{
    for (size_t i = 0; i < a->n_tallies; i++)
        buf_deinit(&a->tallies[i].text);
    a->n_tallies = 0;
}

void attempt_tallies_deinit(struct attempt *a)
{
    drop(a);
    free(a->tallies);
}

/* Whole or not at all: it may be called again after a disk was full. */
int attempt_write_tallies(struct attempt *a)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < a->n_tallies; i++) {
        const struct tally_text *t = &a->tallies[i];
        CLEANUP(mem_freep) char *path = file_join(a->work_dir, t->name);
        rc = file_write_atomic(path, t->text.data, t->text.len, 0644, &a->e);
        FAULT_POINT("tally.written");
    }
    if (rc == 0)
        drop(a);
    return rc;
}
