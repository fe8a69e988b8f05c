/* The scheduler's own fields, for the files of this folder. */
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
    char *work_root, *evidence_root, *log_root, *trash_root;
    sched_listener listener;
    void *listener_ctx;
    uv_timer_t retry_timer; /* the next waiting job is due */
    uv_idle_t kick;         /* claim on the next turn of the loop, never inside a request */
    int open_handles;       /* of the loop, and work on threads, that hold this struct */
    bool freed;             /* by its holder; goes with the last handle */
    struct attempt *active;
    struct attempt *parked[SCHED_PARKED_MAX]; /* refused before timing, builds kept; oldest first */
    size_t n_parked;
    bool quiet; /* an inventory or a timed stretch is under way */
    int holds;  /* calls of sched_between that are not done yet */
    struct between *waiting;
    size_t n_waiting, waiting_cap;
    uv_work_t trash_work;
    bool emptying, trash_waits; /* the trash is being removed; more came in meanwhile */
    struct hooks *hooks;
    struct calibrating *calibrating;
    int64_t drained_ms, drained_by; /* as sched_state has them */
    void (*state_listener)(void *ctx);
    void *state_listener_ctx;
    char boot_id[64];       /* of the latest claim */
    char blocked[256];      /* empty: not blocked */
    char stuck[512];        /* what the active attempt waits for to be stored; empty: nothing */
    bool claim_failed;      /* the last one, and it was said */
    bool clock_known;       /* the next one holds */
    int64_t clock_ahead_ms; /* of the wall clock before one that goes evenly */
    bool stopping;
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

void sched_tell(struct sched *s, const struct sched_event *event);
/* Tells who wants to know what runs. */
void sched_tell_state(const struct sched *s);
/* Begins or ends a stretch in which nothing else may work; ending it serves who waited. */
void sched_set_quiet(struct sched *s, bool quiet);
/* Removes what waits for the next try of a job that will have none. */
void sched_drop_parked(struct sched *s, const char *job);
/* Nothing more is begun: these processes, which the text names, could not be ended. */
void sched_block(struct sched *s, const char *who);
/* The program of this name that lies beside the runner. */
const char *sched_beside_runner(const struct sched *s, struct arena *a, const char *name);
/* The attempt has run all its steps. */
void sched_attempt_over(struct sched *s, struct attempt *a);

/* The hook that ran has ended. */
void sched_hook_over(struct sched *s);
/* So has the calibration. */
void sched_calibration_over(struct sched *s);
/* Who the host is and which boot it is in, put into the store. */
int sched_identify(struct sched *s, struct host_identity *host, struct boot_identity *boot,
                   struct arena *arena, struct err *e);

/* drain.c */
int drain_load(struct sched *s, struct err *e);
/* Instead of a claim. When it is to be done again, wall clock; -1: no time is known. */
int64_t drain_turn(struct sched *s);

/* clock_back.c */
/* Looks whether the wall clock was set back since the last call. */
int clock_back_follow(struct sched *s, struct err *e);

/* Lets go of one hold on the struct; the last one frees it. */
void sched_release(struct sched *s);

/* held.c */
/* How long until what the disk refused is tried again. */
uint64_t sched_again_ms(const struct sched *s);

/* trash.c */
/* Removes the folder, later and elsewhere; at once it is only out of the way. */
void trash_put(struct sched *s, const char *path);
/* Removes what is in the trash. */
void trash_empty(struct sched *s);

/* orders.c */
/* Tells the jobs that come after ended ones, 512 at most; where there are more, or jobs that may
 * run now, a kick follows. */
int sched_settle(struct sched *s, struct err *e);

/* outcome.c */
struct attempt_lost {
    const char *job, *attempt;
    bool had_begun_timing;
    const char *code, *why; /* "daemon.lost", "the daemon went down during the attempt" */
};
/* Stores how the attempt ended, in one transaction with its job. text lives as long as a. */
int outcome_store(struct sched *s, struct attempt *a, enum job_state *state, const char **text,
                  int64_t *next_try_ms, struct err *e);
/* Stores only that the attempt failed, because the store refused how it ended. */
int outcome_fail(struct sched *s, struct attempt *a, const struct err *refused,
                 enum job_state *state, const char **text, struct err *e);
/* Stores that the attempt was lost, and by the retry rule what follows. why: one clause. */
int outcome_lose(struct sched *s, const struct attempt_lost *lost, enum job_state *state,
                 struct err *e);

/* recovery.c */
/* Puts an end to what an earlier daemon left unfinished: its processes, its attempts. */
int recovery_run(struct sched *s, struct err *e);

/* parked.c */
/* The parked attempt of the job, taken out; NULL: none. */
struct attempt *parked_take(struct sched *s, const char *job);
/* The same for this boot: what was built in an earlier one is thrown away. */
struct attempt *parked_take_this_boot(struct sched *s, const char *job);
/* Keeps it; the oldest goes where there are too many. */
void parked_put(struct sched *s, struct attempt *a);
/* Puts its folder into the trash and frees it; NULL is fine. */
void parked_discard(struct attempt *a);

/* documents.c */
/* Decodes what the store has of the job into the attempt. 0, or -errno with a->e filled. */
int attempt_load(struct sched *s, struct attempt *a);
