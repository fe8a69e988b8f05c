/* A suite: what suite.json says, decoded and checked. Owned by the arena it was decoded into. */
#pragma once

#include "core/types.h"

struct lane {
    const char *name;
    struct args command;     /* with placeholders {source} {suite} {build} not yet replaced */
    bool control;            /* does not change between the sides */
    bool optional;           /* absent, by name, where its tool is not on the host */
    int cpus;                /* 1: pinned to one core; 0: the policy's CPU set */
    const char *startup;     /* lane whose observation is subtracted; NULL: none */
    const char *stdout_text; /* process: expected stdout; NULL: the workload's */
    const char *cwd;         /* absolute; NULL: the attempt's empty home */
    struct env_var *env;
    size_t n_env;
};

struct workload {
    const char *name;
    enum measure measure;
    const char *ready, *go, *done; /* protocol: exact lines without newline */
    const char *stdout_text;       /* process: exact expected stdout; NULL: not checked */
    int64_t declared_wait_ns;      /* 0: none */
    struct args absent;            /* sides on which it does not exist */
    struct lane *lanes;
    size_t n_lanes;
};

struct suite {
    const char *name;
    const char *description;
    struct args *build; /* once per side; cwd is {source} */
    size_t n_build;
    struct args *suite_build; /* once per attempt; cwd is {suite} */
    size_t n_suite_build;
    struct env_var *env;
    size_t n_env;
    struct args forbidden; /* programs that may not run beside it */
    struct workload *workloads;
    size_t n_workloads;
};
