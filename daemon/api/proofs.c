/* What git has to say before a job is stored: that its commits are here, and that its corrections
 * are what was allowed. The attempt asks all of it again, but a person should hear of a wrong one
 * now. Git is a program that works, so it waits for a pause in the timing. */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "source/correction.h"

struct api_proof {
    const struct job_source *source;
    const char *in; /* where its job stands in the parameters: "jobs[2]"; NULL: it is the one */
    struct api_proof *next;
};

void api_add_proofs(struct api_call *c, const struct job *job, const char *in)
{
    struct api_proof **end = &c->proofs;

    while (*end)
        end = &(*end)->next;
    for (size_t i = 0; i < job->n_sources; i++) {
        *end = arena_alloc(&c->arena, sizeof **end);
        **end = (struct api_proof){.source = &job->sources[i], .in = in};
        end = &(*end)->next;
    }
}

static const char *field_of(struct api_call *c, const struct api_proof *proof, const char *field)
{
    return proof->in ? arena_printf(&c->arena, "%s.%s", proof->in, field) : field;
}

/* Many jobs of one message are of one commit: git is asked once. */
static bool was_asked(const struct api_call *c, const struct api_proof *until, const char *id)
{
    for (const struct api_proof *p = c->proofs; p != until; p = p->next) {
        const struct job_correction *correction = p->source->correction;
        if (strcmp(p->source->commit, id) == 0 ||
            (correction && strcmp(correction->base_commit, id) == 0))
            return true;
    }
    return false;
}

static int prove_commit(struct api_call *c, const struct api_proof *proof, const char *member,
                        const char *id)
{
    if (was_asked(c, proof, id) || source_has_commit(c->api->config.sources, id))
        return 0;
    return err_set(
        &c->e, -ENOENT, "source.missing_commit",
        field_of(c, proof, arena_printf(&c->arena, "sources.%s.%s", proof->source->side, member)),
        "commit %s has not been sent; send it with upload.begin first", id);
}

static int prove_correction(struct api_call *c, const struct api_proof *proof)
{
    struct raw_correction found;
    struct err why = {0};
    int rc =
        source_prove_correction(c->api->config.sources, &c->arena, proof->source, &found, &why);

    if (rc == 0)
        return 0;
    return err_set(&c->e, rc, why.code, field_of(c, proof, why.field), "%s", why.text);
}

static int prove(struct api_call *c, const struct api_proof *proof)
{
    const struct job_correction *correction = proof->source->correction;
    int rc = prove_commit(c, proof, "commit", proof->source->commit);

    if (rc == 0 && correction)
        rc = prove_commit(c, proof, "correction.base_commit", correction->base_commit);
    if (rc == 0 && correction)
        rc = prove_correction(c, proof);
    return rc;
}

static int prove_all(struct api_call *c)
{
    int rc = 0;

    for (const struct api_proof *p = c->proofs; rc == 0 && p; p = p->next)
        rc = prove(c, p);
    return rc;
}

int api_after_proofs(struct api_call *c, int (*answer)(struct api_call *))
{
    return c->proofs ? api_defer(c, true, prove_all, answer) : answer(c);
}
