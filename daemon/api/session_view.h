/* A session as it stands: its jobs with how they went, the boots they were measured in, who
 * disturbed them. Read from the store alone, so that it costs little however large the reports are.
 * Lives in the call's arena.
 */
#pragma once

#include "api/internal.h"
#include "core/session.h"
#include "evidence/session.h"

struct session_job_view {
    const struct store_job *job;
    const struct store_report *report; /* NULL: none */
    const char *boot;                  /* in which its report was made; NULL: none */
    int64_t started_ms, ended_ms;      /* of that attempt */
    bool post_reboot;
    int refused, disturbed, drifted, deferred, lost; /* attempts that ended so */
    const struct store_report **sealed;              /* of all its attempts, the oldest first */
    size_t n_sealed;
    bool counted; /* counts are known */
    struct store_report_count counts;
};

struct session_view {
    struct store_session *row;
    struct session *session;
    const struct store_job *stored; /* the jobs as the store has them */
    struct session_job_view *jobs;  /* beside stored */
    size_t n_jobs;
    struct store_noise *noise;
    size_t n_noise;
    const char **boots; /* in which reports were made, in that order */
    size_t n_boots;
    bool split; /* boot rule "same", and more than one boot */
};

/* 0, or -errno with c->e filled. */
int session_view_read(struct api_call *c, const char *id, struct session_view *out);
/* What is said of it, with all its jobs: the record that is sealed. */
void session_view_encode(struct json_out *o, const struct session_view *v);
/* What is to be sealed of it, without its page. */
struct evidence_session *session_view_evidence(struct api_call *c, const struct session_view *v);

/* "open" (some jobs are still to be measured), "over" (none is) or "closed". */
const char *session_view_state(const struct store_session *row, int64_t jobs, int64_t over);
