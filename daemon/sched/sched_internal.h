/* The scheduler's own fields, for sched.c, retry.c and the attempts. */
#pragma once

#include "sched/attempt.h"
#include "sched/sched.h"

#define SCHED_PARKED_MAX 8

struct between {
    sched_between_fn fn;
    void *ctx;
};

struct sched {
    uv_loop_t *loop;
    struct sched_config config;
    char *work_root, *evidence_root, *log_root;
    sched_listener listener;
    void *listener_ctx;
    uv_timer_t retry_timer; /* the next waiting job is due */
    uv_idle_t kick;         /* claim on the next turn of the loop, never inside a request */
    int open_handles;
    struct attempt *active;
    struct attempt *parked[SCHED_PARKED_MAX]; /* refused before timing, builds kept; oldest first */
    size_t n_parked;
    bool quiet; /* an inventory or a timed stretch is under way */
    int holds;  /* calls of sched_between that are not done yet */
    struct between *waiting;
    size_t n_waiting, waiting_cap;
    char boot_id[64];  /* of the latest claim */
    char blocked[256]; /* empty: not blocked */
    bool stopping;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

void sched_tell(struct sched *s, const struct sched_event *event);
/* Begins or ends a stretch in which nothing else may work; ending it serves who waited. */
void sched_set_quiet(struct sched *s, bool quiet);
/* Removes what waits for the next try of a job that will have none. */
void sched_drop_parked(struct sched *s, const char *job);
/* The attempt has run all its steps. */
void sched_attempt_over(struct sched *s, struct attempt *a);

/* outcome.c */
/* Stores how the attempt ended, in one transaction with its job. text lives as long as a. */
int outcome_store(struct sched *s, struct attempt *a, enum job_state *state, const char **text,
                  int64_t *next_try_ms, struct err *e);
/* Ends, as lost, the attempts that an earlier daemon left unfinished. */
int recovery_run(struct sched *s, struct err *e);

/* parked.c */
/* The parked attempt of the job, taken out; NULL: none. */
struct attempt *parked_take(struct sched *s, const char *job);
/* The same for this boot: what was built in an earlier one is thrown away. */
struct attempt *parked_take_this_boot(struct sched *s, const char *job);
/* Keeps it; the oldest goes where there are too many. */
void parked_put(struct sched *s, struct attempt *a);
/* Removes its folder and frees it; NULL is fine. */
void parked_discard(struct attempt *a);

/* documents.c */
/* Decodes what the store has of the job into the attempt. 0, or -errno with a->e filled. */
int attempt_load(struct sched *s, struct attempt *a);
