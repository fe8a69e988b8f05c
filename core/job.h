/* A job: what a user submits, decoded and checked. Owned by the arena it was decoded into. */
#pragma once

#include "core/calendar/window.h"
#include "core/notify.h"
#include "core/types.h"

#define JOB_SIDES_MAX 8
#define JOB_PAIRS_MAX (JOB_SIDES_MAX * (JOB_SIDES_MAX - 1)) /* each side against each other one */
#define JOB_VARIANT_MAX 32                                  /* variables of one side's builds */
#define JOB_PRIORITY_MIN (-100)
#define JOB_PRIORITY_MAX 100
/* The one side of a job without sources: it measures the suite as it stands. */
#define JOB_SIDE_SUITE "suite"

/* An authorized correction: the side's commit is this base and exactly the allowed diff on top. */
struct job_correction {
    const char *base;        /* as the user named it */
    const char *base_commit; /* full id, resolved by the client */
    const char *diff;        /* text of the allowed diff; in a user's file: the path of that text */
    const char *diff_sha256; /* of the text */
    const char *approved_by;
    const char *reason;
};
#define JOB_DIFF_MAX 65536 /* bytes: what is larger is a change, not a correction */

struct job_source {
    const char *side;        /* "before", "after", or another name */
    const char *repo;        /* as the user named it; a label, never opened by the daemon */
    const char *rev;         /* as the user named it */
    const char *commit;      /* full id, resolved by the client */
    struct env_var *variant; /* environment of this side's build steps, never of its lanes */
    size_t n_variant;
    struct job_correction *correction; /* NULL: the commit is measured as it is */
};

/* One comparison of sides: subject / reference. */
struct job_pair {
    const char *subject, *reference;
};

struct lane_ref {
    const char *workload; /* NULL: every workload */
    const char *lane;
};

/* How another job has to end before this one may run. */
enum job_need { NEED_OK, NEED_ANY };
const char *job_need_name(enum job_need n); /* "ok": done; "any": over */
int job_need_parse(const char *s);

#define JOB_AFTER_MAX 32 /* jobs that one job comes after */
struct job_after {
    const char *job; /* ULID; in a user's words any part of it */
    enum job_need need;
};

struct job {
    const char *id; /* ULID, made by the client: the same one twice is one job */
    const char *label;
    const char *suite_name;   /* for people */
    const char *suite_sha256; /* names the suite in the daemon's store */
    struct job_source *sources;
    size_t n_sources;       /* 0: the suite as it stands */
    struct job_pair *pairs; /* of sides, to be compared */
    size_t n_pairs;         /* 0: each later side against the first */
    int repetitions;        /* 11 */
    int warmups;            /* 1 */
    enum order order;
    const char *policy; /* name of a shipped policy, or the name inside the given document */
    bool allow_competing;
    bool is_run; /* two commands without sources (`run`) */
    struct lane_ref *exclude;
    size_t n_exclude;
    int64_t retry_every_ms; /* -1: the policy's */
    int retry_limit;        /* -1: the policy's */
    int priority;           /* -100 to 100, higher first */
    struct window *window;  /* NULL: at any time */
    int64_t not_before_ms;  /* wall clock; 0: none */
    int64_t deadline_ms;    /* timing begins before it or never; 0: none */
    const char *session;    /* id, or in a user's words its label; NULL: none */
    struct job_after *after;
    size_t n_after;
    struct notify *notify; /* who is told of its end */
    size_t n_notify;
};
