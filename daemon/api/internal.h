/* What the method files share. */
#pragma once

#include "api/api.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/ids.h"
#include "proto/documents.h"
#include "proto/rpc.h"

#define API_WATCH_MAX 64
#define API_CHUNK_BYTES (256 * 1024)

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

struct api_session {
    struct api *api;
    struct api_peer peer;
    struct api_session *next, *prev;
    struct api_call *running; /* deferred; NULL: none */
    char watched[API_WATCH_MAX][ULID_LEN + 1];
    size_t n_watched;
    struct api_upload *upload; /* NULL: none under way */
};

struct api {
    struct api_config config;
    struct api_session *sessions;
    struct arena arena; /* identity */
    struct host_identity host;
    struct boot_identity boot;
    struct host_facts first; /* facts when the daemon started */
    int64_t started_ms;
    int deferred;             /* calls under way */
    struct closing *closings; /* sessions that are being sealed */
    uv_mutex_t importing;     /* the source store takes in one thing at a time */
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

/* Returns 0 from the handler; later work runs on a worker thread, then answer on the loop.
 * exclusive: only while nothing is being timed or inventoried. */
int api_defer(struct api_call *c, bool exclusive, int (*work)(struct api_call *),
              int (*answer)(struct api_call *));

/* The job that parameter "id" names. */
int api_find_job(struct api_call *c, char id[ULID_LEN + 1]);
/* One job as lists and watchers see it. */
void api_put_job(struct api_call *c, const char *key, const struct store_job *job);
/* Members inventory, with the competitors that took most, and competitors_left_out. */
void api_put_inventory(struct api_call *c, const struct inventory *inv);
/* Members data, next, total for the piece of data from offset on. */
void api_put_chunk(struct api_call *c, const char *data, size_t len, int64_t offset);
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
/* Remembers the job's corrections, so that api_after_proofs proves them. in: where the job stands
 * in the parameters ("jobs[2]"), for the field of errors; NULL: it is the only one. */
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
int api_session_read(struct api_call *c, const char *id, struct store_session **row,
                     struct session **session);

/* Closes and removes what has arrived; NULL is fine. */
void api_upload_free(struct api_upload *u);

int api_daemon_status(struct api_call *c);
int api_job_submit(struct api_call *c);
int api_job_list(struct api_call *c);
int api_job_show(struct api_call *c);
int api_job_cancel(struct api_call *c);
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
int api_source_missing(struct api_call *c);
int api_upload_begin(struct api_call *c);
int api_upload_chunk(struct api_call *c);
int api_upload_end(struct api_call *c);
