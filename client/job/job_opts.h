/* The options that make a job out of a command line; compare and run share them. */
#pragma once

#include "client/cli.h"
#include "client/job/submission.h"
#include "client/job/when_opts.h"

struct job_opts {
    int repetitions, warmups;
    const char *policy, *order, *report;
    bool allow_competing, wait, no_wait, hold;
    struct args exclude, notify;
    struct when_opts when;
};

#define JOB_OPTS_INIT                                                                              \
    {                                                                                              \
        .repetitions = 11, .warmups = 1, .when = WHEN_OPTS_INIT                                    \
    }

/* clang-format off */
/* The rows of an option table, for a struct type with a struct job_opts called member. */
#define JOB_OPTS(type, member)                                                                     \
    {'r', "repetitions", OPT_INT, "N", offsetof(type, member.repetitions), 1, 1000,                \
     "timed passes over all lanes (11)"},                                                          \
    {0, "warmups", OPT_INT, "N", offsetof(type, member.warmups), 0, 100,                           \
     "passes before, which never count (1)"},                                                      \
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(type, member.policy), 0, 0,                    \
     "what the host must fulfil: standard, virtual, strict, or your own file"},                    \
    {0, "allow-competing", OPT_FLAG, NULL, offsetof(type, member.allow_competing), 0, 0,           \
     "measure although others use the host; never contractual"},                                   \
    WHEN_OPTS(type, member.when),                                                                  \
    {0, "hold", OPT_FLAG, NULL, offsetof(type, member.hold), 0, 0,                                 \
     "submit it on hold: it begins after aurabench release"},                                      \
    {0, "notify", OPT_LIST, "PROGRAM|ARRAY", offsetof(type, member.notify), 0, 0,                  \
     "a program on the host that is told of the job's end, or [\"PROGRAM\", \"ARG\"]"},           \
    {0, "report", OPT_TEXT, "text|markdown|none", offsetof(type, member.report), 0, 0,             \
     "what to print at the end of waiting"}
/* clang-format on */

/* Adds programs to those that the job has told of its end. -EINVAL with e filled. */
int job_opts_notify(struct cli *cli, const struct args *notify, struct job *job, struct err *e);
/* Fills the job's plan, and the submission's policy. -EINVAL with e filled. */
int job_opts_apply(struct cli *cli, const struct job_opts *o, struct submission *s, struct err *e);
