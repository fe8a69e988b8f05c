/* Bringing a job to the daemon: the commits that it lacks, the suite, the job itself.
 *
 * All of it is done over one connection; when that breaks it is done again over a new one with the
 * same job id, which makes it one job however often it arrives.
 */
#pragma once

#include "client/cli.h"
#include "client/git/suite_dir.h"
#include "client/job/policy_arg.h"
#include "core/job.h"

struct submission {
    /* Without id, suite and commits: those are filled in here. A correction names the file of its
     * diff, which is read here. */
    struct job *job;
    const char *const *repo_paths; /* per source: the folder on this machine */
    struct suite_pack pack;        /* made by the caller; owned */
    struct policy_arg policy;
    bool hold; /* it is to be on hold */
    char id[27];
    bool duplicate;
    char state[32];
};

void submission_deinit(struct submission *s);

/* Resolves the sources' revisions to commits and checks that they can be measured; a revision that
 * names the checkout needs a clean one. Errors of client/git/git.h, the field as
 * "sources.before.rev".
 */
int submission_resolve(struct cli *cli, struct submission *s, struct err *e);
/* Finds and packs the suite that arg names, and checks its suite.json. */
int submission_suite(struct cli *cli, struct submission *s, const char *arg, struct err *e);

/* Sends what the job needs over c, all but the job itself; the jobs that it comes after get their
 * whole ids. */
int submission_send_parts(struct cli *cli, const struct submission *s, struct connection *c,
                          struct err *e);
/* Sends it. *c is the connection that it went over, the caller's to close (NULL after an error). */
int submission_send(struct cli *cli, struct submission *s, struct connection **c, struct err *e);

/* What goes on after a submit: says it; with wait, follows the job, prints the report in the format
 * (text, markdown, or none) and returns the job's status. Takes the connection. */
struct submission_after {
    bool wait;
    const char *report; /* NULL: text */
};
int submission_finish(struct cli *cli, const struct submission *s, struct connection *c,
                      const struct submission_after *after);
/* Checks after->report before anything is sent. */
int submission_check_after(const struct submission_after *after, struct err *e);
