/* The store: everything the daemon must not forget, in one SQLite file. The only module that knows
 * SQLite.
 *
 * What is written is on disk when the function returns (WAL, synchronous=FULL), each writing
 * function is one transaction (BEGIN IMMEDIATE), and all it wrote is undone when it fails. Records
 * of what was observed are append-only, by trigger. A struct store is used by one thread at a time;
 * several processes may open the same file. Results live in the arena that the caller passes.
 *
 * Every function returns 0, a negative errno with e filled, or a positive code where it says so:
 *   -ENOENT  "job.not_found", "attempt.not_found": no such row
 *   -EINVAL  "store.constraint": a row that exists already, or that names an unknown one;
 *            "store.bad_limit"
 *   -ENOSPC  "store.full"; -EIO "store.io"; -EBUSY "store.busy": another process holds it
 *   -EBADMSG "store.corrupt"; -EACCES "store.denied"
 * Unknown numbers (-1) and missing strings (NULL) are stored as NULL and read back as they were.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/ids.h"
#include "core/job.h"
#include "core/job_state.h"
#include "core/raw.h"

#define STORE_NONE 1      /* there is none: nothing to claim, no refusal, no report */
#define STORE_AMBIGUOUS 2 /* several jobs match */
#define STORE_AGAIN 3     /* more is to be done: call again */

struct store;

/* Opens or creates the file (mode 0600) and migrates it. Beside the codes above:
 * "store.not_database", "store.foreign" (another program's), "store.newer" (made by a newer
 * version), "store.migration_changed", "store.migration_gap", "store.network" (WAL corrupts on
 * network file systems), "store.unsafe_mode" (others may write it). Nothing is ever overwritten. */
int store_open(const char *path, struct store **out, struct err *e);
void store_close(struct store *s); /* NULL is fine */

/* While quiet, no commit is followed by a checkpoint of the log: for the time of an attempt. The
 * first commit after it catches up. */
void store_set_quiet(struct store *s, bool quiet);

/* Between the two, writing functions are steps of one transaction: what one of them wrote is on
 * disk when the group has ended well, and nothing of any is when it has not. One that fails undoes
 * only itself, unless the disk failed it: then all are lost, and store_group_end says why. Ends
 * before anything else may use the store: what is read meanwhile may be lost. */
int store_group_begin(struct store *s, struct err *e);
int store_group_end(struct store *s, struct err *e);

/* ---- jobs -------------------------------------------------------------------------------- */

struct store_new_job {
    const char *id;           /* ULID, made by the client */
    const char *document;     /* the job's JSON text */
    const char *policy;       /* the policy's JSON text, whole */
    const char *label;        /* may be NULL */
    const char *suite_sha256; /* put before by store_suite_put; may be NULL */
    int priority;             /* higher first */
    int64_t peer_uid;         /* who submitted it, from the kernel; -1 unknown */
    int64_t wall_ms;
    bool held;                     /* submitted on hold */
    const char *session;           /* id of an open one; NULL: none */
    bool timed;                    /* whether it may run is asked of the gate of a claim */
    int64_t deadline_ms;           /* 0: none */
    const struct job_after *after; /* jobs by their whole ids: see below */
    size_t n_after;
};

/* The same id with the same document again is one job, also when it was edited since: *duplicate
 * (may be NULL) is then true.
 * -EEXIST "job.exists_differs": the id is taken by another document. -EINVAL "job.bad_id" (no
 * ULID), "session.closed", "session.full", "job.after_failed" (a job that had to end well did not).
 * -ENOENT "suite.unknown", "session.not_found", "job.not_found" (a job that this one is to come
 * after). */
int store_job_submit(struct store *s, const struct store_new_job *job, bool *duplicate,
                     struct err *e);

/* What goes with an event, in the same transaction. Starts as STORE_EVENT_INIT, which says nothing;
 * wall_ms is always given. */
struct store_report;
struct store_event {
    int64_t wall_ms;
    const int64_t *peer_uid; /* who asked for it, -1 unknown; NULL: nobody, the daemon itself */
    const char *text;        /* one sentence for the history; may be NULL */
    int64_t next_try_ms;     /* for events that lead to waiting; -1: none */
    const char *waits_for;   /* what the job waits for until then, beside a quiet host; NULL */
    const char *night;       /* of its window, in which timing begins; NULL: leaves it */
    const struct err *error; /* becomes the job's error; NULL: leaves it */
    const char *attempt;     /* the attempt concerned; NULL: none */
    const char *outcome;     /* ends that attempt at wall_ms with this outcome; NULL: does not */
    const struct raw_refusal *refusal; /* recorded; NULL: none */
    const struct store_report *report; /* recorded; becomes the job's report; NULL: none */
    const struct store_event *requeue; /* a lost job is tried again at once: event requeue, with
                                          these words; NULL: it stays lost */
};
/* clang-format off */
#define STORE_EVENT_INIT {.next_try_ms = -1}
/* clang-format on */

/* One transition: the conditional update on the old state, a history row, and what `with` adds.
 * done (may be NULL) says what happened. -EINVAL "job.bad_state" when the table forbids it;
 * "store.next_try_missing" when it leads to waiting without a time; -ENOENT "attempt.not_found"
 * when the attempt is not this job's. A refuse counts up store_job.refusals. Events submit, claim,
 * edit and rerun have functions of their own and are refused here. */
int store_job_event(struct store *s, const char *job, enum job_event event,
                    const struct store_event *with, struct job_step *done, struct err *e);

/* What may change of a job that is here; all of it is given. */
struct store_edit {
    const char *document;
    const char *label; /* may be NULL */
    int priority;
    bool timed;
    int64_t deadline_ms; /* 0: none */
    const struct job_after *after;
    size_t n_after;
    bool ask_again; /* when it may run has changed: a waiting job is due at once */
};

/* Event edit: of a job that is held, queued or waiting. -EINVAL "job.bad_state";
 * "job.after_circle": jobs would wait for each other; otherwise as a submit. */
int store_job_edit(struct store *s, const char *job, const struct store_edit *edit,
                   const struct store_event *with, struct job_step *done, struct err *e);

/* Event rerun: an ended job is queued again (held: on hold) for a further run, with edit (NULL: as
 * it is). Its attempts and their reports stay; the job has no report and no refusals until this run
 * has brought some. What it comes after is asked anew; jobs that were told of its end are not asked
 * again. -EINVAL "job.bad_state": it is not over, or its last attempt is not; "session.closed";
 * otherwise as an edit. */
int store_job_rerun(struct store *s, const char *job, const struct store_edit *edit, bool held,
                    const struct store_event *with, struct job_step *done, struct err *e);

/* ---- jobs that come after others: such a job is *blocked*, and never claimed, until each of those
 * has ended. When one that had to end well did not, the job is cancelled. Whoever ends a job calls
 * store_settle() soon after; what a crash leaves undone is done by the next call. */

struct store_settled {
    const char *job; /* cancelled, with error "job.after_failed" */
    const char *text;
};

/* Tells the jobs that come after ended ones, and those after the ones that are cancelled by it, at
 * most 512 in one call. *settled are the cancelled ones, *freed how many wait for no job any more.
 * STORE_AGAIN: there are more. */
int store_settle(struct store *s, int64_t now_ms, struct arena *a, struct store_settled **settled,
                 size_t *n, int *freed, struct err *e);

struct store_after {
    const char *job; /* the other one */
    enum job_need need;
    bool open; /* its end is still waited for */
    enum job_state state;
    const char *label;
};

/* The jobs that it comes after, in its order. */
int store_job_after(struct store *s, const char *job, struct arena *a, struct store_after **out,
                    size_t *n, struct err *e);
/* The first of them that is still waited for; STORE_NONE. */
int store_job_blocker(struct store *s, const char *job, struct arena *a, struct store_after **out,
                      struct err *e);
/* Jobs that come after it, those that still wait for it first; limit 1 to 1000. */
int store_job_followers(struct store *s, const char *job, int limit, struct arena *a,
                        struct store_after **out, size_t *n, struct err *e);

/* Asked within the transaction of a claim for a job that is timed. *event: JOB_CLAIM, JOB_DEFER or
 * JOB_EXPIRE; *with, which starts as STORE_EVENT_INIT with the time of the claim, goes with the
 * latter two and lives until the claim returns. It may read the store. 0 or -errno with e filled,
 * which fails the claim. */
typedef int (*store_gate)(void *ctx, const char *job, enum job_event *event,
                          struct store_event *with, struct err *e);

struct store_new_attempt {
    const char *id;       /* ULID */
    const char *boot;     /* put before by store_boot_put */
    const char *version;  /* of the daemon */
    const char *work_dir; /* may be NULL, see store_attempt_reuse */
    store_gate gate;      /* NULL: whatever is queued may run */
    void *gate_ctx;
};

/* First makes waiting jobs whose time has come queued again (event retry_due; at most 512 in one
 * call, the longest due first), then takes the queued job of the highest priority, the oldest of
 * those that the gate lets through, makes it preparing and creates the attempt. STORE_NONE: nothing
 * to do. STORE_AGAIN: the gate kept back 512 jobs, which is enough for one transaction. */
int store_job_claim(struct store *s, int64_t now_ms, const struct store_new_attempt *attempt,
                    char job[ULID_LEN + 1], struct err *e);

/* When the next waiting job is due, or the next deadline passes; *due_ms -1: nothing to wait for.
 */
int store_next_due_ms(struct store *s, int64_t *due_ms, struct err *e);

struct store_job {
    int64_t number; /* order of submission */
    const char *id;
    enum job_state state;
    int priority;
    const char *label, *suite_sha256;
    const char *document, *policy; /* NULL in lists */
    int64_t peer_uid;
    int64_t submitted_ms, changed_ms; /* changed: the last event */
    int64_t next_try_ms;              /* -1: not waiting */
    int refusals;                     /* in its latest run */
    int attempts;                     /* so far */
    int run_from;                     /* number of the first attempt of its latest run */
    int blocked;                      /* jobs whose end it waits for */
    int64_t held_by;                  /* user id; -1: not held, or unknown */
    const char *attempt;              /* the latest; NULL: none yet */
    const char *error_code, *error_field, *error_text;
    const char *report;                      /* attempt whose report is the job's; NULL: none */
    const char *session, *waits_for, *night; /* NULL: none */
};

int store_job_get(struct store *s, const char *id, struct arena *a, struct store_job **out,
                  struct err *e);

/* Finds a job by its whole id, or by at least 4 characters of its start or end, in either case of
 * letters. STORE_AMBIGUOUS with e filled ("job.ambiguous") when several match; -EINVAL
 * "job.bad_id" for what cannot be part of an id. */
int store_job_find(struct store *s, const char *text, char id[ULID_LEN + 1], struct err *e);

#define STORE_STATE(state) (1u << (state))

struct store_list {
    unsigned states;    /* of STORE_STATE(...); 0: all */
    bool blocked;       /* only jobs that wait for the end of others */
    const char *before; /* only jobs submitted before this one; NULL: from the newest */
    int limit;          /* 1 to 1000 */
};

int store_job_list(struct store *s, const struct store_list *list, struct arena *a,
                   struct store_job **out, size_t *n, struct err *e);

struct store_history {
    int seq; /* 1.. */
    enum job_state from, to;
    enum job_event event;
    int64_t wall_ms;
    const char *text;    /* may be NULL */
    const char *attempt; /* may be NULL */
    int64_t peer_uid;    /* who asked for it; -1: nobody, or unknown */
};

/* The events after number `after` (0: all; -n: the latest n), oldest first, at most 1000 of them.
 */
int store_job_history(struct store *s, const char *job, int after, struct arena *a,
                      struct store_history **out, size_t *n, struct err *e);

/* The clock was set back by so much: refused jobs and hooks that wait for a later try wait for one
 * that is so much earlier, but not before now_ms. What waits for a time of its own (a window, say)
 * is left. */
int store_retries_earlier(struct store *s, int64_t by_ms, int64_t now_ms, struct err *e);

/* Jobs in each state. */
int store_counts(struct store *s, int64_t counts[JOB_STATE_COUNT], struct err *e);

/* Ids of jobs that have not begun and whose deadline is now or was before, at most 512. */
int store_overdue(struct store *s, int64_t now_ms, struct arena *a, const char *const **ids,
                  size_t *n, struct err *e);

/* ---- sessions ---------------------------------------------------------------------------- */

struct store_session {
    int64_t number; /* order of opening */
    const char *id, *label;
    const char *document;
    int64_t peer_uid; /* -1 unknown */
    int64_t opened_ms;
    const char *opened_boot;            /* put before by store_boot_put */
    int64_t closed_ms;                  /* -1: open */
    const char *evidence, *sums_sha256; /* NULL until sealed */
};

/* Opens it and submits its jobs, all or nothing. The same id with the same document is the same
 * session (*duplicate). -EEXIST "session.exists": its label is that of an open one, or its id is
 * taken; otherwise as store_job_submit. */
int store_session_open(struct store *s, const struct store_session *session,
                       const struct store_new_job *jobs, size_t n, bool *duplicate, struct err *e);
/* -ENOENT "session.not_found". */
int store_session_get(struct store *s, const char *id, struct arena *a, struct store_session **out,
                      struct err *e);
/* By its whole label (the latest of that label), its id, or at least 4 characters of the id's start
 * or end. Errors "session.not_found", STORE_AMBIGUOUS "session.ambiguous". */
int store_session_find(struct store *s, const char *text, char id[ULID_LEN + 1], struct err *e);
/* The latest first; limit 1 to 1000. before: only those opened before the session of this id; NULL:
 * from the latest. */
int store_session_list(struct store *s, int limit, const char *before, struct arena *a,
                       struct store_session **out, size_t *n, struct err *e);
/* How many jobs it has, and how many of them are over. */
int store_session_counts(struct store *s, const char *id, int64_t *jobs, int64_t *over,
                         struct err *e);
/* Its jobs in the order in which they came, without documents. */
int store_session_jobs(struct store *s, const char *id, struct arena *a, struct store_job **out,
                       size_t *n, struct err *e);
/* Closed at with->wall_ms: it takes no more jobs, and these of it, which have not ended, are
 * cancelled by that event; all of it or nothing. Closing it again changes nothing of it. */
int store_session_close(struct store *s, const char *id, const struct store_event *with,
                        const char *const *jobs, size_t n, struct err *e);
int store_session_sealed(struct store *s, const char *id, const char *evidence,
                         const char *sums_sha256, struct err *e);
/* Jobs of open sessions that wait since another boot are due now: what they wait for may have come.
 */
int store_session_wake(struct store *s, const char *boot, int64_t now_ms, struct err *e);

struct store_noise {
    const char *command;
    int refusals; /* attempts that were refused while it ran */
};

/* Who made the host refuse the session's jobs, the most frequent first, at most 5. */
int store_session_noise(struct store *s, const char *id, struct arena *a, struct store_noise **out,
                        size_t *n, struct err *e);

/* ---- hosts and suites -------------------------------------------------------------------- */

/* Comes before the first claim in a boot; idempotent. A host that shows another identity in the
 * same boot (memory, name) gets a row of its own; attempts keep the one they began with. The first
 * boot_wall_ms of a boot stays. */
int store_boot_put(struct store *s, const struct host_identity *host,
                   const struct boot_identity *boot, int64_t wall_ms, struct err *e);

struct store_suite {
    const char *sha256, *name, *path; /* path: where the daemon keeps the folder */
    int64_t added_ms;
};

/* Idempotent by sha256: the first one stays. */
int store_suite_put(struct store *s, const struct store_suite *suite, struct err *e);
/* STORE_NONE when it is not there. */
int store_suite_get(struct store *s, const char *sha256, struct arena *a, struct store_suite **out,
                    struct err *e);

/* ---- attempts: writing ------------------------------------------------------------------- */

struct store_attempt {
    const char *id, *job;
    int number; /* 1.. within the job */
    const char *boot, *version;
    int64_t started_ms, ended_ms; /* ended: -1 while it runs */
    const char *outcome;          /* NULL while it runs */
    const char *work_dir;
    const char *reused_from; /* attempt whose worktrees and builds it uses; NULL: its own */
    const char *policy;      /* JSON text in force */
    const char *raw_sha256;  /* NULL until its report is stored */
};

int store_attempt_get(struct store *s, const char *id, struct arena *a, struct store_attempt **out,
                      struct err *e);
/* All of a job, oldest first, at most the latest 1000. */
int store_job_attempts(struct store *s, const char *job, struct arena *a,
                       struct store_attempt **out, size_t *n, struct err *e);
/* How many attempts of the job's latest run ended so. */
int store_job_outcomes(struct store *s, const char *job, const char *outcome, int *count,
                       struct err *e);
/* Those without an end, of any job: what a crash left behind. */
int store_unfinished_attempts(struct store *s, struct arena *a, struct store_attempt **out,
                              size_t *n, struct err *e);

/* "attempt.ended" (-EINVAL) after its end; before it as often as needed: where it works and whose
 * trees it uses (NULL: own). */
int store_attempt_reuse(struct store *s, const char *attempt, const char *work_dir,
                        const char *reused_from, struct err *e);
/* The attempt's own scalars out of raw: clock, cpu_set, boot_id_after, suspend_before_ms,
 * suspend_after_ms, fresh_worktrees, cleanup, void_code, void_text. Before its end only. */
int store_attempt_put(struct store *s, const char *attempt, const struct raw *raw, struct err *e);
/* Ends it; nothing of the attempt's row changes after that. */
int store_attempt_end(struct store *s, const char *attempt, const char *outcome, int64_t wall_ms,
                      struct err *e);

/* Append-only records of one attempt; a second one of the same key is "store.constraint". A retry
 * that reuses another attempt's trees puts its own copy of what it wants in its own report. */
int store_put_phase(struct store *s, const char *attempt, enum phase phase,
                    const struct phase_record *record, struct err *e);
/* Comes before the first observation: only what the plan names can be observed. sides: the names
 * that plan_step.side counts; names are stored beside the indexes. The steps before `from` are
 * stored already. "store.bad_plan" (-EINVAL) when an index is out of range. */
int store_put_plan(struct store *s, const char *attempt, const struct plan *plan, size_t from,
                   const struct suite *suite, const char *const *sides, size_t n_sides,
                   struct err *e);
int store_put_sources(struct store *s, const char *attempt, const struct raw_source *sources,
                      size_t n, struct err *e);
int store_put_build(struct store *s, const char *attempt, const struct raw_build *build,
                    struct err *e);
int store_put_artifacts(struct store *s, const char *attempt, const struct raw_artifact *artifacts,
                        size_t n, struct err *e);
int store_put_tools(struct store *s, const char *attempt, const struct raw_tool *tools, size_t n,
                    struct err *e);
int store_put_rechecks(struct store *s, const char *attempt, const struct raw_recheck *rechecks,
                       size_t n, struct err *e);
/* One batch, one transaction. */
int store_put_observations(struct store *s, const char *attempt,
                           const struct raw_observation *observations, size_t n, struct err *e);

/* ---- attempts: reading back into struct raw ---------------------------------------------- */

/* id, version, start and end, suite_sha256, host, boot, and what store_attempt_put stored. */
int store_load_attempt(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                       struct err *e);
/* A phase that was not taken has no inventory, and each of its conditions is UNKNOWN. */
int store_load_phases(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e);
int store_load_plan(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                    struct err *e);
int store_load_sources(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                       struct err *e);
int store_load_builds(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e);
int store_load_artifacts(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                         struct err *e);
int store_load_tools(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                     struct err *e);
int store_load_rechecks(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                        struct err *e);
int store_load_observations(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                            struct err *e);
/* All refusals of the attempt's job up to this attempt, oldest first. */
int store_load_refusals(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                        struct err *e);
/* All of the above. What stays to be filled: job, policy, workloads, sides. */
int store_load_raw(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                   struct err *e);

/* The latest refusal of a job; STORE_NONE when it was never refused. */
int store_recent_refusal(struct store *s, const char *job, struct arena *a,
                         struct raw_refusal **out, struct err *e);

struct store_point {
    const char *attempt;
    int seq;
    const char *side;
    enum obs_kind kind;
    const char *outcome;
    int64_t elapsed_ns, interval_cpu_ns;
};

/* The latest observations of one lane over all attempts that ended, newest first; limit 1 to
 * 100000. */
int store_lane_latest(struct store *s, const char *workload, const char *lane, int limit,
                      struct arena *a, struct store_point **out, size_t *n, struct err *e);

/* ---- reports ------------------------------------------------------------------------------ */

struct store_report {
    const char *attempt;
    enum grade grade;
    const char *grade_line;
    const char *evidence;                    /* path of the folder */
    const char *raw_sha256, *summary_sha256; /* summary: NULL for a void attempt */
    int64_t created_ms;
    const struct store_report_count *counts; /* when storing; NULL: not counted */
    const struct history *history;           /* when storing: its figures; NULL: none */
};

/* What a report says, counted: verdicts, controls and those of them that drifted. */
struct store_report_count {
    int faster, slower, same, unresolved;
    int controls, drifted;
};
/* STORE_NONE when they were not counted. */
int store_report_counts(struct store *s, const char *attempt, struct store_report_count *out,
                        struct err *e);

/* Becomes its job's report too. See also store_event.report. */
int store_report_put(struct store *s, const struct store_report *report, struct err *e);
/* STORE_NONE when the attempt has none. */
int store_report_get(struct store *s, const char *attempt, struct arena *a,
                     struct store_report **out, struct err *e);
