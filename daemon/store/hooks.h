/* Programs that are to be told of ends, and whether the queue is drained. The same rules as in
 * store.h.
 *
 * A hook that is owed is written in the transaction that ends the job, by whichever function ends
 * it, with the document it will find on stdin; it stays owed until a try delivers it or the tries
 * are used up. A try is counted when it begins: one that the daemon does not survive is made again.
 */
#pragma once

#include "core/notify.h"
#include "store/store.h"

/* How many tries a hook has; one that was interrupted by the daemon's own end does not use it up
 * before there have been twice as many. */
#define STORE_HOOK_TRIES 5

/* What the host itself wants told, and how it is called. Borrowed for the life of the store. */
struct store_host_hooks {
    const char *host;
    const struct notify *job_ended, *queue_empty; /* NULL: nobody */
};
void store_set_host_hooks(struct store *s, const struct store_host_hooks *hooks);

struct store_hook {
    int64_t number;
    const char *id;
    enum notify_event event;
    const char *owner; /* "job" or "host" */
    const char *job;
    const char *argv; /* a JSON array of strings */
    int64_t timeout_ms;
    const char *document; /* NULL in lists */
    int64_t owed_ms;
    const char *state; /* "owed", "delivered", "given_up" */
    int tries;
    int64_t next_ms; /* -1: none follows */
};

/* The one that is due longest; STORE_NONE. */
int store_hook_due(struct store *s, int64_t now_ms, struct arena *a, struct store_hook **out,
                   struct err *e);
/* How many are owed, and when the next is due (-1: none is). */
int store_hooks_owed(struct store *s, int64_t *count, int64_t *next_ms, struct err *e);

/* Begins a try: *try is its number. next_ms: when it is due again should nothing more be heard. */
int store_hook_begin(struct store *s, int64_t hook, int64_t now_ms, int64_t next_ms, int *try_seq,
                     struct err *e);

struct store_hook_try {
    int seq; /* 1.. */
    int64_t started_ms;
    int64_t ended_ms;    /* -1: it runs */
    const char *outcome; /* "ok", "exec.exit_status", ..., "interrupted"; NULL while it runs */
    int exit_status, exit_signal; /* -1: none */
    const char *output;           /* its end; may be NULL */
};

/* Ends it. state: what the hook is now; next_ms when that is "owed". */
int store_hook_end(struct store *s, int64_t hook, const struct store_hook_try *ended,
                   const char *state, int64_t next_ms, struct err *e);
/* Tries that an earlier daemon did not survive are ended as "interrupted", and made again at once.
 */
int store_hooks_recover(struct store *s, int64_t now_ms, struct err *e);

/* Those of one job's ends, the latest first; limit 1 to 1000. */
int store_job_hooks(struct store *s, const char *job, int limit, struct arena *a,
                    struct store_hook **out, size_t *n, struct err *e);
/* The latest try; STORE_NONE. */
int store_hook_last_try(struct store *s, int64_t hook, struct arena *a, struct store_hook_try **out,
                        struct err *e);

/* When the next deadline of a job that has not begun passes; -1: none does. */
int store_next_deadline_ms(struct store *s, int64_t *due_ms, struct err *e);

/* ---- drain */

/* Nothing is to be begun from now on; since_ms of an earlier one stays. */
int store_drain(struct store *s, int64_t now_ms, int64_t peer_uid, struct err *e);
int store_drain_end(struct store *s, struct err *e);
/* *since_ms -1: not drained. */
int store_drained(struct store *s, int64_t *since_ms, int64_t *peer_uid, struct err *e);
