/* The options that say when a job may run, after which others, how early, and what it is called:
 * those that may still change after the submit. compare, run and submit apply them to a job of
 * their own, edit and rerun send them as changes.
 */
#pragma once

#include "client/cli.h"
#include "proto/doc/doc_edit.h"

#define WHEN_NOT_GIVEN (-1000) /* of the priority */

struct when_opts {
    int priority, retry_limit;
    int64_t retry_every_ms;
    const char *label, *not_before, *deadline, *window;
    struct args after_ok, after_any;
    bool after_none;
};

#define WHEN_OPTS_INIT                                                                             \
    {                                                                                              \
        .priority = WHEN_NOT_GIVEN, .retry_limit = -1, .retry_every_ms = -1                        \
    }

/* clang-format off */
/* The rows of an option table, for a struct type with a struct when_opts called member. */
#define WHEN_OPTS(type, member)                                                                    \
    {'l', "label", OPT_TEXT, "TEXT", offsetof(type, member.label), 0, 0,                           \
     "what the job is called in lists"},                                                           \
    {0, "priority", OPT_INT, "N", offsetof(type, member.priority), JOB_PRIORITY_MIN,               \
     JOB_PRIORITY_MAX, "higher goes first (0)"},                                                   \
    {0, "not-before", OPT_TEXT, "TIME", offsetof(type, member.not_before), 0, 0,                   \
     "do not begin before: 2026-12-01T01:00Z, +2h from now, or none"},                             \
    {0, "deadline", OPT_TEXT, "TIME", offsetof(type, member.deadline), 0, 0,                       \
     "timing begins before it, or the job expires; or none"},                                      \
    {0, "window", OPT_TEXT, "WINDOW", offsetof(type, member.window), 0, 0,                         \
     "begin only then: \"mon-fri 01:00-05:00 Europe/London\", or none"},                           \
    {0, "retry-every", OPT_DURATION_MS, "DURATION", offsetof(type, member.retry_every_ms), 0, 0,   \
     "how long to wait after a refusal (the policy's: 10m)"},                                      \
    {0, "retry-limit", OPT_INT, "N", offsetof(type, member.retry_limit), 0, 1000000,               \
     "refusals before giving up; 0: none (the policy's: 144)"},                                    \
    {0, "after-ok", OPT_LIST, "ID", offsetof(type, member.after_ok), 0, 0,                         \
     "begin once this job is done; if it ends otherwise, never; several times"},                   \
    {0, "after-any", OPT_LIST, "ID", offsetof(type, member.after_any), 0, 0,                       \
     "begin once this job is over, however it ends; several times"},                               \
    {0, "after-none", OPT_FLAG, NULL, offsetof(type, member.after_none), 0, 0,                     \
     "come after no other job"}
/* clang-format on */

/* What the options change; ids in it may be parts of ids (when_resolve). -EINVAL with e filled. */
int when_opts_read(struct cli *cli, const struct when_opts *o, struct job_edit *out, struct err *e);

/* The same for a job that is still to be submitted: changes it. */
int when_opts_apply(struct cli *cli, const struct when_opts *o, struct job *job, struct err *e);

/* Replaces parts of ids by whole ones, as the daemon knows them. */
int when_resolve(struct cli *cli, struct connection *c, struct job_after *after, size_t n,
                 struct err *e);
