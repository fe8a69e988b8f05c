/* The scheduler: takes jobs from the store, one attempt at a time, and carries each through its
 * steps (attempt.h). It owns the timer for the next try, the running attempt, and the attempts that
 * were refused before timing and keep their builds for the next try.
 *
 * All functions run on the loop's thread. What happens is told to one listener, registered from
 * above. While a timed interval runs, or an inventory is taken, nothing else may work on this host:
 * whoever has heavy work to do (taking in a bundle) asks for a pause with sched_between().
 */
#pragma once

#include <uv.h>

#include "base/err.h"
#include "base/keys.h"
#include "core/job_state.h"
#include "core/summary/calibration.h"
#include "evidence/session.h"
#include "host/host.h"
#include "source/source.h"
#include "store/store.h"

struct sched;

struct sched_config {
    const char *state_dir;   /* absolute; holds work/, evidence/, logs/ */
    const char *runner_path; /* of aurabench-runner */
    struct store *store;     /* borrowed, like the next two */
    struct host_probe *probe;
    struct source_store *sources;
    const struct key *key; /* signs the evidence */
    int64_t poll_max_ms;   /* how long at most until it looks again what is due; 0: 60 s */
    bool calibrates;       /* by itself, once a boot */
    /* How long a timed interval keeps clients waiting before the loop turns in its midst. 0: the 5
     * s of the contract; other values are for tests. */
    int64_t listen_every_ms;
};

/* What watchers are told. Strings live until the callback returns. */
struct sched_event {
    const char *job;
    enum job_state state;
    const char *step;    /* "build", "settle", ...; NULL between attempts */
    const char *text;    /* one line for a person; may be NULL */
    int done, total;     /* observations; total 0: not yet known */
    int64_t left_ms;     /* estimate of the time left in this attempt; -1 unknown */
    int64_t next_try_ms; /* waiting: wall-clock time of the next try; -1 */
    int64_t log_bytes;   /* how long the job's log is; 0: look */
};

typedef void (*sched_listener)(void *ctx, const struct sched_event *event);

int sched_new(uv_loop_t *loop, const struct sched_config *config, struct sched **out,
              struct err *e);
void sched_listen(struct sched *s, sched_listener fn, void *ctx);
/* Ends what an earlier daemon left unfinished, then starts taking jobs. */
int sched_start(struct sched *s, struct err *e);
/* Something may be claimable: call it after a submit. */
void sched_kick(struct sched *s);
/* Cancels a job in any state but an end. text: for its history, who did it and why. The state it
 * has then goes to *state. -EINVAL "job.bad_state" when it is over already. */
int sched_cancel(struct sched *s, const char *job, const char *text, int64_t uid,
                 enum job_state *state, struct err *e);

/* Closes the session and cancels these jobs of it, none of which has ended or runs: all of it, or
 * nothing. text as above. Errors of store_session_close. */
int sched_close_session(struct sched *s, const char *session, const char *const *jobs, size_t n,
                        const char *text, int64_t uid, struct err *e);

/* What people ask of a job that is here; uid: who, from the kernel, -1 unknown. */
struct sched_ordered {
    enum job_state state; /* that it has now */
    bool changed;         /* false: it was so already */
};

/* -EINVAL "job.bad_state": it runs, or is over. */
int sched_hold_job(struct sched *s, const char *job, int64_t uid, struct sched_ordered *out,
                   struct err *e);
int sched_release_job(struct sched *s, const char *job, int64_t uid, struct sched_ordered *out,
                      struct err *e);
/* Changes a job that has not begun. Errors of store_job_edit, of sched_check_job when its times
 * change, and of documents. */
struct job_edit;
int sched_edit_job(struct sched *s, const char *job, const struct job_edit *changes, int64_t uid,
                   struct sched_ordered *out, struct err *e);
/* Measures an ended job again, with changes (NULL: as it is). Errors of store_job_rerun and
 * sched_check_job. */
int sched_rerun_job(struct sched *s, const char *job, const struct job_edit *changes, bool held,
                    int64_t uid, struct sched_ordered *out, struct err *e);

/* ---- drain, and what runs now */

struct sched_state {
    int64_t drained_ms;     /* since when nothing is begun; -1: it is */
    int64_t drained_by;     /* user id; -1 unknown */
    const char *job, *hook; /* ids of what runs; NULL: none. Until the next turn of the loop */
    bool idle;              /* nothing runs, nor is about to */
};

void sched_state(const struct sched *s, struct sched_state *out);
/* fn is called when something of it may have changed. */
void sched_listen_state(struct sched *s, void (*fn)(void *ctx), void *ctx);
/* Stored: a restart changes nothing. What runs goes to its end; hooks are still told. */
int sched_drain(struct sched *s, bool on, int64_t peer_uid, struct err *e);

/* ---- calibrations */

struct sched_calibration {
    bool running;
    bool asked; /* somebody asked for one that is not made yet */
    enum calibration_form form;
    int done, total;     /* parts of the one that runs; total 0: none does */
    const char *latest;  /* id of the one of this boot that holds; NULL: none, or not known yet */
    const char *refused; /* why the last one was refused; NULL: it was not */
    int64_t refused_ms, next_try_ms; /* wall clock; -1 */
};

/* Strings live until the next turn of the loop. */
void sched_calibration(const struct sched *s, struct sched_calibration *out);
/* It takes its turn, before the queue; refused, it is tried again until it is made or taken back
 * (on false). sched_listen_state tells how it goes. */
void sched_calibrate(struct sched *s, bool on, enum calibration_form form);

/* Wall-clock time as the host has it: what windows, deadlines and retries go by. */
int64_t sched_now_ms(const struct sched *s);
/* A job that could never run is refused before it is queued: its window's zone is not known here
 * ("window.unknown_zone"), or its deadline has passed or comes before it may run ("job.bad"). */
int sched_check_job(struct sched *s, const struct job *job, struct err *e);
/* -EINVAL with code and field as given: the program could not be started when there is an end to
 * tell it of. It is only looked for. */
int sched_check_hook(const char *program, const char *code, const char *field, struct err *e);
/* The same of all that a job names ("job.bad"). */
int sched_check_hooks(const struct job *job, struct err *e);

/* Seals a closed session's folder in the evidence root with the host's key; root and key of in are
 * filled here. Works on files only, blocking: for a worker thread, while nothing is timed. */
int sched_seal_session(const struct sched *s, struct evidence_session *in,
                       char sums_sha256[DIGEST_HEX], struct err *e);

/* The running attempt, if any: false when idle. */
bool sched_active(const struct sched *s, struct sched_event *out);
/* True from the first observation's preparation to the last: inventories that others ask for would
 * disturb and are refused. */
bool sched_is_timing(const struct sched *s);
/* NULL, or why nothing is dispatched although jobs wait (something could not be removed). */
const char *sched_blocked(const struct sched *s);

/* Calls fn once nothing is being timed or inventoried (perhaps at once), and keeps it so until
 * sched_between_done() is called, once for each call of fn. A request can be taken back by ctx
 * while it still waits: true when it was. */
typedef void (*sched_between_fn)(void *ctx);
void sched_between(struct sched *s, sched_between_fn fn, void *ctx);
void sched_between_done(struct sched *s);
bool sched_between_withdraw(struct sched *s, void *ctx);

/* Stops the running attempt (its job is lost, by the retry rule) and takes no other; done is called
 * when nothing runs any more. */
void sched_stop(struct sched *s, void (*done)(void *ctx), void *ctx);
void sched_free(struct sched *s); /* after sched_stop's done, with the loop run once more */
