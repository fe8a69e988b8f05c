/* What the method files share. */
#pragma once

#include "api/api.h"
#include "api/known.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/ids.h"
#include "proto/doc/documents.h"
#include "proto/wire/rpc.h"

#define API_WATCH_MAX 64
#define API_CHUNK_BYTES (256 * 1024)
/* A page ends early when so much is written: one item more and what follows still fit into a
 * message. */
#define API_PAGE_BYTES ((size_t)512 << 10)

/* A text that is made for one question and fetched in pieces; see texts.c. */
struct api_text {
    const char *key; /* all of the question but the offset */
    int64_t offset;
    struct buf out; /* what the worker made */
    char sha256[DIGEST_HEX];
};

/* A piece of a file. */
struct api_piece {
    int64_t offset, total;
    struct buf data;
};

struct api_upload {
    int fd;
    char *path;
    bool is_bundle;
    int64_t bytes, received;
    char sha256[DIGEST_HEX];
    struct digest *digest;
    const char **commits; /* in arena */
    size_t n_commits;
    struct arena arena;
};

struct api_watch {
    char job[ULID_LEN + 1]; /* empty: the daemon itself */
    struct buf late;        /* the latest notification, held back; empty: none */
    bool over;              /* nothing comes behind that one */
};

/* A copy of the database that was made for a connection. */
struct api_backup {
    int fd; /* -1: none */
    bool held;
    int64_t bytes;
    char sha256[DIGEST_HEX];
};
#define API_BACKUP_NONE ((struct api_backup){.fd = -1})

struct api_session {
    struct api *api;
    struct api_peer peer;
    struct api_session *next, *prev;
    struct api_call *running; /* deferred; NULL: none */
    struct api_watch *watched;
    size_t n_watched, cap_watched;
    struct api_upload *upload; /* NULL: none under way */
    struct api_group *group;   /* NULL: it never submitted */
    struct api_backup backup;
};

struct api {
    struct api_config config;
    struct api_session *sessions;
    struct arena arena; /* identity */
    struct host_identity host;
    struct boot_identity boot;
    struct host_facts first; /* facts when the daemon started */
    int64_t started_ms;
    int deferred; /* calls under way */
    struct api_known *known;
    struct closing *closings; /* sessions that are being sealed */
    struct kept_text *texts;  /* the latest used first */
    uv_mutex_t importing;     /* the source store takes in one thing at a time */
    bool backup_made;         /* one at a time, so that copies cannot fill the disk: being made, */
    bool backup_held;         /* or there, for a connection */
};

/* One request from decoding to its answer. A handler writes the members of the result object with
 * o, or defers (api_defer) and lets the call be finished later. */
struct api_call {
    struct api *api;
    struct api_session *session; /* NULL once the connection is gone */
    struct arena arena;
    struct rpc_request req;
    struct json_in in; /* over params */
    struct err e;
    struct buf line;
    struct rpc_out out;
    struct json_out *o;
    bool is_deferred;
    uv_work_t work;
    int (*begin_fn)(struct api_call *c);  /* on the loop, once the pause is there; NULL: nothing */
    int (*work_fn)(struct api_call *c);   /* on a worker thread: only arena, e and data */
    int (*answer_fn)(struct api_call *c); /* on the loop: writes the result */
    bool in_between;
    int work_rc;
    void *data;
    struct api_proof *proofs;           /* what has to be proven before the answer; see proofs.c */
    void (*at_end)(struct api_call *c); /* on the loop, before it is freed; NULL: nothing */
    struct api_upload *upload;          /* upload.end took it from the session; NULL: none */
};

typedef int (*api_handler)(struct api_call *c);

struct api_method {
    const char *name;
    api_handler handler;
    const char *const *params; /* closed, NULL-terminated */
};

bool api_page_is_full(const struct api_call *c);
/* Lets put write n items into the result: most of them, or fewer, so that no more than max_bytes
 * are written where that is possible. */
typedef void (*api_put_fn)(struct api_call *c, size_t n, const void *ctx);
void api_put_within(struct api_call *c, size_t max_bytes, size_t most, api_put_fn put,
                    const void *ctx);

/* Returns 0 from the handler; later work runs on a worker thread, then answer on the loop.
 * exclusive: only while nothing is being timed or inventoried. */
int api_defer(struct api_call *c, bool exclusive, int (*work)(struct api_call *),
              int (*answer)(struct api_call *));

/* The call stores a job: together with those that came with it (group.c). 0 or -errno with e
 * filled. */
int api_group_join(struct api_call *c);
/* Sends an answer, behind those that wait for their commit. id: of the request whose answer depends
 * on the commit, as JSON text; NULL: it does not. */
void api_group_answer(struct api_session *s, const struct buf *line, const char *id);
void api_group_free(struct api_group *g); /* NULL is fine */

/* Who asks, for a job's history: "user 1000", by the kernel. While the connection is there. */
const char *api_who(struct api_call *c);
int64_t api_uid(const struct api_call *c); /* of the same; -1 unknown */

/* The session is told of what happens to the job from now on; twice is once. -EMFILE with e filled
 * when it watches too many. */
int api_watch_add(struct api_session *s, const char *job, struct err *e);
void api_watches_free(struct api_session *s);
/* Tells those who watch: the listeners of the scheduler, ctx the api. */
void api_watch_event(void *ctx, const struct sched_event *event);
void api_watch_daemon(void *ctx);
/* Tells those who watch a job that does not run that the queue was drained, or goes on. */
void api_watch_drain(struct api *api);

#define API_DRAINED_TEXT "drained: nothing is begun until `aurabench drain --off`"
bool api_is_drained(const struct api *api);
/* The members of daemon.drain, daemon.watch and daemon.event. */
void api_put_state(const struct api *api, struct json_out *o);
/* Member calibration: how it stands. */
void api_put_calibration_state(const struct api *api, struct json_out *o);
/* Members of job.show and daemon.status. */
int api_put_hooks_of_job(struct api_call *c, const char *job);
int api_put_hooks_owed(struct api_call *c);

/* The job that parameter "id" names. */
int api_find_job(struct api_call *c, char id[ULID_LEN + 1]);
/* Nothing more will be said of it. A cancelled job is over once its attempt is. */
bool api_job_is_over(const struct api_call *c, const struct store_job *job);
/* One job as lists and watchers see it. */
void api_put_job(struct api_call *c, const char *key, const struct store_job *job);
/* Why it does not run now, in a phrase; NULL: it runs, is over, or is just about to. */
const char *api_why(struct api_call *c, const struct store_job *job);
/* Members after, followers, followers_more. */
int api_put_after(struct api_call *c, const char *job);
/* Members inventory, with the competitors that took most (as many as are shown and fit), and
 * competitors_left_out. */
void api_put_inventory(struct api_call *c, const struct inventory *inv);
/* Members data, next, total for the piece of data from offset on. */
void api_put_chunk(struct api_call *c, const char *data, size_t len, int64_t offset);
/* Members data, next, total and sha256 of the text, when it was made before for this connection and
 * this is not its beginning: true. Else it is to be made (on a worker: out, then api_text_finish)
 * and put by api_text_put. */
bool api_text_put_kept(struct api_call *c, const struct api_text *text);
void api_text_finish(struct api_text *text);
void api_text_put(struct api_call *c, struct api_text *text);
/* Of a connection that ends. */
void api_texts_forget(struct api *api, const struct api_session *s);
/* Reads the piece of the file from piece->offset on; for a worker thread. */
int api_piece_read(const char *path, struct api_piece *piece, struct err *e);
/* The same members of it; sha256 is that of the whole file. */
void api_piece_put(struct api_call *c, const struct api_piece *piece, const char *sha256);
/* The policy that parameter "policy" says: a document, which must have this name, when the job
 * names it; with name NULL a document, a shipped name, or standard when it is missing. */
int api_policy(struct api_call *c, const char *name, struct policy **out);

/* The same of a node in hand. */
int api_policy_of(struct api_call *c, const cJSON *given, const char *name, struct policy **out);

struct session;
/* Decodes and checks one job; row lives in the call's arena. session: the one that it joins; NULL:
 * the one that it names, if any. in: see api_add_proofs. */
int api_prepare_job(struct api_call *c, const cJSON *doc, const cJSON *policy_node,
                    const struct session *session, const char *in, struct store_new_job *row);
/* Remembers the job's sources, so that api_after_proofs asks git about them. in: where the job
 * stands in the parameters ("jobs[2]"), for the field of errors; NULL: it is the only one. */
void api_add_proofs(struct api_call *c, const struct job *job, const char *in);
/* Ends a handler: answers once all is proven, at once when there is nothing to prove; else the
 * session of c may be gone by then. */
int api_after_proofs(struct api_call *c, int (*answer)(struct api_call *));
/* Queues the job of parameters "job" and "policy" and answers. */
int api_submit(struct api_call *c, const struct session *session);
/* The session that parameter "id" names: its id, a part of it, or its label. */
int api_find_session(struct api_call *c, char id[ULID_LEN + 1]);

/* The page of a session: gathered on the loop, rendered on a worker thread. */
struct page_call;
int api_page_of_session(struct api_call *c, const char *id, struct page_call **out);
int api_page_render(struct api_call *c, struct page_call *p, struct buf *out);
/* Both, as the answer to the call. */
int api_page_answer(struct api_call *c, const char *session);
/* Parameters width and colour. Returns c->in.rc. */
struct report_style;
int api_read_style(struct api_call *c, struct report_style *style);
/* The question without its offset, as one text that lives in the call's arena. */
const char *api_question(struct api_call *c);
int api_session_read(struct api_call *c, const char *id, struct store_session **row,
                     struct session **session);

/* Closes and removes what has arrived; NULL is fine. */
void api_upload_free(struct api_upload *u);

/* Lets go of the session's copy of the database, if there is one. */
void api_backup_drop(struct api_session *s);

int api_daemon_backup(struct api_call *c);
int api_daemon_chunk(struct api_call *c);
int api_daemon_status(struct api_call *c);
int api_daemon_drain(struct api_call *c);
int api_daemon_watch(struct api_call *c);
int api_job_submit(struct api_call *c);
int api_job_list(struct api_call *c);
int api_job_show(struct api_call *c);
int api_job_document(struct api_call *c);
int api_job_cancel(struct api_call *c);
int api_job_find(struct api_call *c);
int api_job_hold(struct api_call *c);
int api_job_release(struct api_call *c);
int api_job_edit(struct api_call *c);
int api_job_rerun(struct api_call *c);
int api_job_watch(struct api_call *c);
int api_job_log(struct api_call *c);
int api_report_get(struct api_call *c);
int api_report_page(struct api_call *c);
int api_sessions_open(struct api_call *c);
int api_sessions_add(struct api_call *c);
int api_sessions_show(struct api_call *c);
int api_sessions_list(struct api_call *c);
int api_sessions_close(struct api_call *c);
int api_sessions_report(struct api_call *c);
int api_host_show(struct api_call *c);
int api_host_quiet(struct api_call *c);
int api_host_calibrate(struct api_call *c);
int api_host_calibration(struct api_call *c);
int api_history_get(struct api_call *c);
int api_kernel_put(struct api_call *c);
int api_kernel_list(struct api_call *c);
int api_kernel_show(struct api_call *c);
int api_source_missing(struct api_call *c);
int api_upload_begin(struct api_call *c);
int api_upload_chunk(struct api_call *c);
int api_upload_end(struct api_call *c);
