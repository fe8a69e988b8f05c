/* Waiting for the ends of several jobs, or of the first of them, without a word.
 *
 * The daemon is asked once for each job and tells of what happens from then on; nothing is asked
 * again but a job that has just ended, whose report events do not carry. When the connection breaks
 * it is made again (reconnect.h) and all that are not over are asked for anew: an end that came in
 * between is in the answer.
 */
#pragma once

#include "client/cli.h"
#include "client/view/job_view.h"

#define AWAIT_MAX 64 /* jobs that one connection can watch */

struct awaited {
    const char *word;     /* as it was named; its whole id once that is known */
    bool over;            /* it has ended, or come as far as was asked */
    struct answer answer; /* of job.watch, once over */
    struct job_view job;  /* from answer */
};

/* any: the first one over is enough; else all. until: as in follow_how. 0 or an error of
 * connection.h. The caller deinits the jobs in any case. */
int await_jobs(struct cli *cli, struct awaited *jobs, size_t n, bool any, enum job_state until,
               struct err *e);
void awaited_deinit(struct awaited *jobs, size_t n);
