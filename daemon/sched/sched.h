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
};

typedef void (*sched_listener)(void *ctx, const struct sched_event *event);

int sched_new(uv_loop_t *loop, const struct sched_config *config, struct sched **out,
              struct err *e);
void sched_listen(struct sched *s, sched_listener fn, void *ctx);
/* Ends what an earlier daemon left unfinished, then starts taking jobs. */
int sched_start(struct sched *s, struct err *e);
/* Something may be claimable: call it after a submit. */
void sched_kick(struct sched *s);
/* Cancels a job in any state but an end. The state it has then goes to *state. -EINVAL
 * "job.bad_state" when it is over already. */
int sched_cancel(struct sched *s, const char *job, enum job_state *state, struct err *e);

/* Wall-clock time as the host has it: what windows, deadlines and retries go by. */
int64_t sched_now_ms(const struct sched *s);
/* A job that could never run is refused before it is queued: its window's zone is not known here
 * ("window.unknown_zone"), or its deadline has passed or comes before it may run ("job.bad"). */
int sched_check_job(struct sched *s, const struct job *job, struct err *e);

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
