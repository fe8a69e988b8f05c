#include "sched/stored.h"

#include "proto/doc/doc_session.h"
#include "proto/doc/documents.h"

int stored_job(struct store *s, struct arena *a, const char *id, struct store_job **row,
               struct job **job, struct err *e)
{
    int rc = store_job_get(s, id, a, row, e);

    return rc < 0 ? rc : job_decode_text(a, (*row)->document, job, e);
}

int stored_session(struct store *s, struct arena *a, const char *id, struct store_session **row,
                   struct session **session, struct err *e)
{
    int rc = store_session_get(s, id, a, row, e);

    return rc < 0 ? rc : session_decode_text(a, (*row)->document, session, e);
}

const char *stored_document(struct arena *a, const struct job *job)
{
    struct buf text = {0};
    struct json_out o;

    json_out_init(&o, &text);
    job_encode(&o, NULL, job);
    const char *document = arena_strdup(a, buf_str(&text));
    buf_deinit(&text);
    return document;
}

bool stored_is_timed(const struct job *job)
{
    return job->window || job->not_before_ms > 0 || job->deadline_ms > 0 || job->session;
}
