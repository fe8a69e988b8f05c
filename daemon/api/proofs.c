/* Corrections are proven before a job is stored: the attempt proves them again, but a person should
 * hear of a wrong one now. Git works for that, so it waits for a pause in the timing. */

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
        if (!job->sources[i].correction)
            continue;
        *end = arena_alloc(&c->arena, sizeof **end);
        **end = (struct api_proof){.source = &job->sources[i], .in = in};
        end = &(*end)->next;
    }
}

static int prove(struct api_call *c, const struct api_proof *proof)
{
    struct raw_correction found;
    struct err why = {0};
    int rc =
        source_prove_correction(c->api->config.sources, &c->arena, proof->source, &found, &why);

    if (rc == 0)
        return 0;
    return err_set(&c->e, rc, why.code,
                   arena_printf(&c->arena, "%s%s%s", proof->in ? proof->in : "",
                                proof->in ? "." : "", why.field),
                   "%s", why.text);
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
