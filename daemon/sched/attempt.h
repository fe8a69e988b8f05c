/* One attempt: the way from a claimed job to its report, as a table of steps.
 *
 * A step begins on the loop and ends by attempt_step_done(), at once or later: from a worker thread
 * (blocking work of host and source), from the runner (builds), from a timer (settle) or
 * observation by observation (measuring). Between steps stand the checks that belong to every step:
 * cancel, stop, and waiting for a pause. Whatever ends the attempt early is kept in `end`; the last
 * step, cleanup, always runs.
 *
 * Internal to sched/. The worker thread touches only what the step's work function names; the loop
 * does not look at those fields until the step is done.
 */
#pragma once

#include <uv.h>

#include "base/arena.h"
#include "base/ids.h"
#include "core/calendar/schedule.h"
#include "core/ledger/ledger_judge.h"
#include "core/ledger/replacement.h"
#include "core/session.h"
#include "evidence/evidence.h"
#include "run/run.h"
#include "sched/sched.h"

#define ATTEMPT_LOG_LIMIT_BYTES (4 << 20)

enum attempt_end {
    END_NONE,      /* still under way, or it went to its end */
    END_REFUSED,   /* host not quiet or not qualified: wait for the next try */
    END_FAILED,    /* the job's own fault, before any observation */
    END_VOID,      /* observations are worthless: seal what there is, and fail */
    END_DEFERRED,  /* its window closed before timing could begin: wait for the next one */
    END_EXPIRED,   /* its deadline passed before timing could begin */
    END_FULL,      /* the disk had no space before timing began: wait, and begin anew */
    END_CANCELLED, /* by a person */
    END_LOST       /* the daemon stops, or the runner went down */
};

struct attempt;

struct attempt_step {
    const char *name;  /* for watchers and the log */
    const char *title; /* for people: "building" */
    bool alone; /* nothing else of ours may work meanwhile: it times, looks around, or uses git */
    bool after_void;                 /* runs for a void attempt too */
    bool holds;                      /* after timing: waits for a disk that is full */
    int (*begin)(struct attempt *a); /* nonzero: failed at once, a->e is filled */
};

struct attempt_side {
    const char *name;
    const char *source_dir; /* NULL for a job without sources */
    const char *build_dir;
    struct args *build; /* expanded */
    struct raw_source source;
};

/* Of the observation under way, and of all those of the attempt that were not waited for in one. */
struct observer {
    int64_t from_ns; /* the daemon's CPU time when the runner was asked */
    int turns;       /* of the loop since then */
    int64_t all_turns, all_ns;
};

/* A file of the work folder that is to be written. */
struct tally_text {
    const char *name; /* as in the evidence: "profiles/12.tsv" */
    struct buf text;
};

/* Before the step of a build may begin. */
struct preparing {
    size_t next;          /* command of its lane */
    struct run_exec *req; /* that the runner is at; NULL: none */
};

struct attempt {
    struct sched *sched;
    struct arena arena;
    char id[ULID_LEN + 1];
    char job_id[ULID_LEN + 1];
    const char *reused_from; /* attempt whose checkouts and builds these are; NULL: its own */
    const char *built_in;    /* attempt in which the builds were made */
    struct arena_mark built; /* where each retry begins to fill the arena anew */
    struct job *job;
    struct session *session; /* NULL: the job belongs to none */
    struct raw_session *in_session;
    struct schedule_result schedule; /* as it was just before timing */
    struct policy *policy;
    struct suite *suite;
    struct host_identity host;
    struct boot_identity boot;
    int64_t start_ns;          /* timing clock */
    const char *valgrind;      /* where it counts instructions; NULL: it does not */
    const char *callgrind_dir; /* where it leaves what it counted */
    const char *profile_dir;   /* where lanes of measure attribution run and leave their profiles */
    const char *work_dir, *suite_dir, *suite_build_dir, *home, *log_dir;
    const char *bench_dir; /* where the steps of builds are timed */
    const char *tally_dir; /* what was counted of profiles, until it is sealed */
    struct attempt_side sides[JOB_SIDES_MAX];
    size_t n_sides;
    struct args *suite_build; /* expanded */
    struct raw_lane **lanes;  /* per workload, one per lane: absent and excluded ones are marked */
    struct raw raw;           /* what has been gathered so far, in the shape of the report */
    struct phase_record phases[PHASE_COUNT];
    struct host_facts since; /* of a retry: what its conditions are judged against */
    struct raw_build *builds;
    size_t n_builds, build_next; /* build_next counts over sides and the suite */
    struct plan *plan;
    size_t plan_next, plan_stored;
    struct raw_observation *batch; /* of the repetition under way */
    size_t n_batch, batch_cap;
    struct tally_text *tallies; /* of its profiles, not written yet */
    size_t n_tallies, tallies_cap;
    struct replacement *replacements; /* per workload */
    int64_t *lane_last_ns; /* per (workload, lane): the last whole duration, for the time left */
    size_t *lane_base;     /* index of each workload's first lane in lane_last_ns */
    const struct raw_output **first_outputs; /* per (workload, lane, side): of a build's step */
    struct preparing preparing;
    int pin_cpu;
    int *cpus;
    size_t n_cpus;
    int *near_cpus, *pin_near; /* with their siblings: of cpus, of pin_cpu */
    size_t n_near, n_pin_near;
    struct warmups warmups;
    struct run *run;
    struct run_observe *observing; /* the request under way; NULL: none */
    struct observer observer;

    size_t step;
    enum attempt_end end;
    struct err e;        /* what ended it */
    const char *refusal; /* END_REFUSED: one sentence */
    enum phase refused_in;
    bool stop_asked; /* cancel or stop: stop_as says which */
    enum attempt_end stop_as;
    bool requeue;                 /* a competitor came in after timing: one more attempt */
    bool drifted;                 /* a control drifted: the pair is to be repeated */
    struct store_report *earlier; /* of the pair that this one repeats; NULL: none */

    bool building;                     /* the runner is at a build step */
    bool settling;                     /* the timer of the settle step runs */
    bool unstored;                     /* all is over, but the store could not take it yet */
    enum job_state state;              /* as stored */
    void (*paused)(struct attempt *a); /* goes on with this when the pause is over */
    void (*held)(struct attempt *a);   /* tries this again when the timer says so; see held.c */
    int held_tries;
    struct arena_mark begun;  /* where the step began to fill the arena */
    bool after_stored;        /* the inventory after timing */
    bool unsaved;             /* a repetition is complete and the store did not take it */
    const char *initial_sums; /* of the evidence, as it was when timing ended; NULL: not reached */
    struct raw *report;       /* assembled from the store, for the evidence */
    struct store_report sealed; /* valid once is_sealed */
    bool is_sealed;
    char left[256]; /* processes that could not be ended after the runner; "": none */

    uv_work_t work;
    int (*work_fn)(struct attempt *a);   /* on the worker thread */
    int (*work_done)(struct attempt *a); /* on the loop, only after success; may be NULL */
    int work_rc;
    uv_timer_t timer;
    uv_poll_t *poll; /* watches the runner, see untimed.c; frees itself when closed */
    void (*answered)(struct attempt *a);
    int log_fd;
    bool log_gap; /* lines are missing at its end */
    int64_t log_bytes;
};

/* Prepares an attempt of a claimed job. parked: an attempt of the same job that was refused before
 * timing in this boot, which is consumed; or NULL. */
struct attempt *attempt_new(struct sched *s, const char *id, const char *job_id,
                            struct attempt *parked);
void attempt_begin(struct attempt *a);
/* Asks it to end as `how` as soon as it can. */
void attempt_stop(struct attempt *a, enum attempt_end how);
/* Ends its handles and frees it once the loop has closed them. */
void attempt_free(struct attempt *a);

/* ---- for the steps */
void attempt_step_done(struct attempt *a, int rc);
int attempt_on_worker(struct attempt *a, int (*work)(struct attempt *),
                      int (*done)(struct attempt *));
/* Between two timed stretches: lets waiting work of others happen, then goes on, at once or when
 * the scheduler resumes it. */
void attempt_pause_point(struct attempt *a, void (*go_on)(struct attempt *a));
void attempt_resume(struct attempt *a);
/* held.c: after a failure rc to store something, calls again() later; false: it is not to be waited
 * for, and the caller fails. */
bool attempt_hold(struct attempt *a, int rc, void (*again)(struct attempt *a));
/* It is over, because it worked or not. */
void attempt_held_over(struct attempt *a, bool stored);
/* Tries again at once: somebody asked the attempt to stop. */
void attempt_held_wake(struct attempt *a);
/* Marks the end; the first one stays. Returns -ECANCELED for use as a step's result. */
int attempt_end_as(struct attempt *a, enum attempt_end how);

/* One line into the job's log, and to the watchers. */
void attempt_say(struct attempt *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends text, or the file's, to the job's log alone, under a heading. */
void attempt_log_text(struct attempt *a, const char *title, const char *text);
void attempt_log_file(struct attempt *a, const char *title, const char *path);
void attempt_progress(struct attempt *a, const char *text);
void attempt_event(const struct attempt *a, const char *text, struct sched_event *out);
const char *attempt_step_name(const struct attempt *a);
/* Estimate from the last duration of each lane; -1 while the warmups are not through. */
int64_t attempt_left_ms(const struct attempt *a);
const char *attempt_log_path(struct attempt *a);
int attempt_log_open(struct attempt *a);
void attempt_log_close(struct attempt *a);

/* The steps, each in the file named before it. */
/* steps_prepare.c */
int step_setup(struct attempt *a);
int step_inventory_before_build(struct attempt *a);
int step_checkout(struct attempt *a);
int step_hash(struct attempt *a);
int step_settle(struct attempt *a);
int step_inventory_before_timing(struct attempt *a);
/* steps_build.c */
int step_build(struct attempt *a);
/* steps_measure.c */
int step_plan(struct attempt *a);
int step_measure(struct attempt *a);
int step_inventory_after_timing(struct attempt *a);
/* As plan_make asks for it: lanes by sides. */
const bool *const *attempt_present_lanes(struct attempt *a);

/* replacements.c */
void replacements_begin(struct attempt *a);
/* Judges a complete observation of the plan by its ledger, and takes it in. */
void replacements_note(struct attempt *a, const struct plan_step *step, struct raw_observation *o);
/* When the plan is through: appends the next round, if one is due. */
void replacements_plan(struct attempt *a);
/* steps_finish.c */
int step_rehash(struct attempt *a);
int step_seal(struct attempt *a);
int step_cleanup(struct attempt *a);
/* Fills a->sealed and a->drifted from a report that has been sealed. */
void attempt_report(struct attempt *a, const struct raw *raw, const struct summary *summary,
                    const struct evidence_sealed *sealed);
/* Refused before timing: what was built waits for the next try. */
bool attempt_keeps_builds(const struct attempt *a);

/* inventories.c: the worker part of the three inventories */
int attempt_take_phase(struct attempt *a, enum phase phase, int (*done)(struct attempt *a));
int attempt_judge_phase(struct attempt *a, enum phase phase);

/* observer.c: how long the runner is waited for in one, and what the daemon itself uses meanwhile
 */
int64_t observer_deaf_ms(const struct attempt *a, int64_t last_ns);
void observer_begins(struct attempt *a);
void observer_turns(struct attempt *a);
void observer_ends(struct attempt *a);
/* Into the job's log, if there is anything to say. */
void observer_say(struct attempt *a);

/* lanes.c: what each lane is on this host for this job */
int attempt_resolve_lanes(struct attempt *a);
/* lanes_built.c: the same for what only a build can tell, after it. */
void attempt_resolve_built(struct attempt *a);
/* A build's lane that is absent for one of its steps is so for all. */
void attempt_share_absence(struct attempt *a);
/* What counts instructions, once the runner is there. */
int attempt_choose_counters(struct attempt *a);
int attempt_expand_builds(struct attempt *a);
int attempt_lane_request(struct attempt *a, const struct plan_step *step, struct run_observe *out);

/* untimed.c: programs that are run and not timed */
/* Calls answered() when the request that was begun is to be finished. The timer is its own until
 * then. 0, or negative, and then it will not be called. */
int untimed_await(struct attempt *a, void (*answered)(struct attempt *a));
/* A program is not to blame for what the disk did to it: 0, or negative, and e says what did it. */
int untimed_blame_disk(struct attempt *a, const struct run_exec_result *result,
                       const char *log_path);

/* lanes_steps.c: a step of measure "build" before and behind its observation */
enum { LANE_READY, LANE_PREPARING, LANE_SPOILT };
/* LANE_READY: it may begin. LANE_PREPARING: a command of its lane runs, call again when the runner
 * has answered. LANE_SPOILT: one failed, and out is the observation of a step that never began.
 * Negative: over; or the disk was in the way, and a further call prepares from the beginning. Lanes
 * of other measures are ready. */
int attempt_prepare_lane(struct attempt *a, const struct plan_step *step,
                         struct run_observation *out);
/* Fills the outputs of a good observation, or makes it one that is not. */
void attempt_take_outputs(struct attempt *a, const struct plan_step *step,
                          struct run_observation *o);

/* tallies.c: takes what was counted out of an observation, and makes it its output */
void attempt_take_tally(struct attempt *a, const struct plan_step *step, struct run_observation *o);
int attempt_write_tallies(struct attempt *a); /* those that were taken; again after a failure */
void attempt_tallies_deinit(struct attempt *a);

/* sizes.c: one observation of a lane of measure "size", at once and without the runner */
void attempt_weigh(struct attempt *a, const struct plan_step *step, struct run_observation *out);
