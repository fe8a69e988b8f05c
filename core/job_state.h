/* The life of a job as one table: (state, event) -> (state, effect).
 *
 * job_state.def holds every cell, the forbidden ones too; there is no default. The store makes each
 * transition in one transaction, the scheduler acts on its effect after the commit. Spellings are
 * what stands in the store and on the wire and are never renamed; numeric values are stored
 * nowhere.
 */
#pragma once

#include <stdbool.h>

enum job_state {
    JOB_NEW, /* before the store has it; in histories only as the origin of the first event */
    JOB_HELD,
    JOB_QUEUED,
    JOB_WAITING, /* refused or deferred; next try at a known time */
    JOB_PREPARING,
    JOB_MEASURING,
    JOB_VERIFYING,
    JOB_DONE,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_EXPIRED,
    JOB_UNQUALIFIED,
    JOB_LOST,
    JOB_STATE_COUNT
};
const char *job_state_name(enum job_state s); /* "new", "held", "queued", ... */
int job_state_parse(const char *s);           /* -1 for any other word, and for NULL */

enum job_event {
    JOB_SUBMIT,        /* new -> queued */
    JOB_CLAIM,         /* an attempt begins */
    JOB_REFUSE,        /* the host does not qualify; next try later */
    JOB_TIMING_BEGINS, /* preparing -> measuring */
    JOB_TIMING_ENDS,   /* measuring -> verifying */
    JOB_FINISH,        /* the report is sealed */
    JOB_FAIL,          /* the job's own fault, or a void attempt */
    JOB_CANCEL,        /* by a person, or because a job that had to end well before it did not */
    JOB_RETRY_DUE,     /* the time of the next try has come */
    JOB_EXPIRE,        /* the deadline passed before timing began */
    JOB_UNQUALIFY,     /* the limit of retries is reached */
    JOB_LOSE,          /* daemon or machine went down under it */
    JOB_REQUEUE,       /* once more: after a loss, a competitor after timing, a drifting control */
    JOB_HOLD,
    JOB_RELEASE,
    JOB_DEFER, /* it may not run now: its window, its session or not_before say when */
    JOB_EDIT,  /* what was submitted is changed, before it runs */
    JOB_RERUN, /* an ended job is measured again: further attempts, the old ones kept */
    JOB_EVENT_COUNT
};
const char *job_event_name(enum job_event e); /* "submit", "timing_begins", ... */
int job_event_parse(const char *s);           /* -1 for any other word, and for NULL */

/* What the scheduler does once the transition is committed. */
enum job_effect {
    JOB_EFFECT_NONE,
    JOB_EFFECT_WAKE,  /* something can be claimed */
    JOB_EFFECT_START, /* run the attempt that was claimed */
    JOB_EFFECT_RETRY, /* no attempt of it runs; arm the timer for the next try */
    JOB_EFFECT_STOP,  /* stop the running attempt, then tell whoever waits for the job */
    JOB_EFFECT_OVER,  /* the job is over and nothing of it runs: tell whoever waits */
    JOB_EFFECT_COUNT
};
const char *job_effect_name(enum job_effect e); /* "none", "wake", ... */
int job_effect_parse(const char *s);

struct job_step {
    enum job_state from, to;
    enum job_event event;
    enum job_effect effect;
};

/* The cell (state, event). 0 with *out filled, or -EINVAL when the table forbids it; out is then
 * untouched. */
int job_state_step(enum job_state state, enum job_event event, struct job_step *out);

bool job_state_is_final(enum job_state s);   /* no attempt follows, unless it is lost or rerun */
bool job_state_is_running(enum job_state s); /* an attempt of it is under way */
