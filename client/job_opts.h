/* The options that make a job out of a command line; compare and run share them. */
#pragma once

#include "client/cli.h"
#include "client/submission.h"

struct job_opts {
    int repetitions, warmups, retry_limit, priority;
    int64_t retry_every_ms;
    const char *policy, *label, *order, *report;
    bool allow_competing, wait, no_wait;
    struct args exclude;
};

#define JOB_OPTS_INIT                                                                              \
    {                                                                                              \
        .repetitions = 11, .warmups = 1, .retry_limit = -1, .retry_every_ms = -1                   \
    }

/* The rows of an option table, for a struct type with a struct job_opts called member. */
#define JOB_OPTS(type, member)                                                                     \
    {'r',                                                                                          \
     "repetitions",                                                                                \
     OPT_INT,                                                                                      \
     "N",                                                                                          \
     offsetof(type, member.repetitions),                                                           \
     1,                                                                                            \
     1000,                                                                                         \
     "timed passes over all lanes (11)"},                                                          \
        {0,                                                                                        \
         "warmups",                                                                                \
         OPT_INT,                                                                                  \
         "N",                                                                                      \
         offsetof(type, member.warmups),                                                           \
         0,                                                                                        \
         100,                                                                                      \
         "passes before, which never count (1)"},                                                  \
        {'p',                                                                                      \
         "policy",                                                                                 \
         OPT_TEXT,                                                                                 \
         "NAME|FILE",                                                                              \
         offsetof(type, member.policy),                                                            \
         0,                                                                                        \
         0,                                                                                        \
         "what the host must fulfil: standard, virtual, strict, or your own file"},                \
        {'l',                                                                                      \
         "label",                                                                                  \
         OPT_TEXT,                                                                                 \
         "TEXT",                                                                                   \
         offsetof(type, member.label),                                                             \
         0,                                                                                        \
         0,                                                                                        \
         "what the job is called in lists"},                                                       \
        {0,                                                                                        \
         "allow-competing",                                                                        \
         OPT_FLAG,                                                                                 \
         NULL,                                                                                     \
         offsetof(type, member.allow_competing),                                                   \
         0,                                                                                        \
         0,                                                                                        \
         "measure although others use the host; never contractual"},                               \
        {0,                                                                                        \
         "retry-every",                                                                            \
         OPT_DURATION_MS,                                                                          \
         "DURATION",                                                                               \
         offsetof(type, member.retry_every_ms),                                                    \
         0,                                                                                        \
         0,                                                                                        \
         "how long to wait after a refusal (the policy's: 10m)"},                                  \
        {0,                                                                                        \
         "retry-limit",                                                                            \
         OPT_INT,                                                                                  \
         "N",                                                                                      \
         offsetof(type, member.retry_limit),                                                       \
         0,                                                                                        \
         1000000,                                                                                  \
         "refusals before giving up; 0: none (the policy's: 144)"},                                \
        {0,                                                                                        \
         "priority",                                                                               \
         OPT_INT,                                                                                  \
         "N",                                                                                      \
         offsetof(type, member.priority),                                                          \
         -100,                                                                                     \
         100,                                                                                      \
         "higher goes first (0)"},                                                                 \
    {                                                                                              \
        0, "report", OPT_TEXT, "FORMAT", offsetof(type, member.report), 0, 0,                      \
            "what to print at the end of waiting: text, markdown or none"                          \
    }

/* Fills the job's plan, and the submission's policy. -EINVAL with e filled. */
int job_opts_apply(struct cli *cli, const struct job_opts *o, struct submission *s, struct err *e);
