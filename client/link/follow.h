/* Following a job to its end: what is happening to it, as it happens.
 *
 * Nothing is drawn between the daemon's events: a client that woke up by itself, to count down say,
 * would disturb a host that is being measured. When the connection breaks it is made again
 * (reconnect.h), so that a restart of the daemon does not end the watching.
 */
#pragma once

#include "client/cli.h"
#include "client/view/job_view.h"

enum follow_style {
    FOLLOW_SILENT,
    FOLLOW_TEXT, /* on a terminal one line, drawn again and again; else lines as things change */
    FOLLOW_JSON  /* one document a line, on stdout */
};

struct follow_how {
    enum follow_style style;
    enum job_state
        until; /* ends there already, or where a job comes after it; JOB_NEW: at the end */
    const struct term *term; /* where text goes: of stdout or stderr */
};

/* What --until says; NULL: JOB_NEW. -EINVAL with e filled for no state. */
int follow_until(const char *word, enum job_state *until, struct err *e);
/* Whether a job in that state has come so far; false for JOB_NEW. */
bool follow_has_reached(enum job_state until, enum job_state state);

/* Follows the job over *c, which is replaced when it has to be made again (NULL when that failed).
 * *end is the job as it ended; its strings live in cli->a. Errors as in connection.h. */
int follow_job(struct cli *cli, struct connection **c, const char *id, const struct follow_how *how,
               struct job_view *end, struct err *e);

/* Fetches the job once: by job.watch, which is the cheapest way to one. */
int follow_look(struct cli *cli, struct connection *c, const char *id, struct job_view *job,
                struct err *e);

/* Appends "job K3F8QW2M done: contractual, ..." and what to do next. */
void follow_end_line(const struct term *term, const struct job_view *job, struct buf *out);
