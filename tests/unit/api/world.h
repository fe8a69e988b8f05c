/* The daemon without its socket: a store, a scheduler that takes no job, a scripted host, and peers
 * whose lines a test reads. What the api says is decoded as the client does, and each line must fit
 * into a message. */
#pragma once

#include "tests/unit/unit.h"

#include <uv.h>

#include "api/api.h"
#include "base/keys.h"
#include "base/mem.h"
#include "proto/wire/rpc.h"

#define WORLD_BOOT "0f9b8c1e-boot"

struct peer {
    struct api_session *s; /* NULL once the connection has ended */
    struct buf sent;       /* all that came since the last question */
    size_t lines;          /* of it */
    size_t most;           /* the longest line there ever was */
    size_t unwritten;      /* what a slow peer has not read */
    int idles;
};

struct world {
    char *folder;
    uv_loop_t loop;
    struct key *key;
    struct store *store;
    struct source_store *sources;
    struct host_probe *probe;
    struct sched *sched;
    struct api *api;
    struct peer *peers[40];
    size_t n_peers;
    struct arena arena;
    struct rpc_message last;
    int64_t last_id;
};

int world_setup(void **state);
int world_teardown(void **state);
#define WORLD_TEST(fn) cmocka_unit_test_setup_teardown(fn, world_setup, world_teardown)

struct peer *world_peer(struct world *w);
void world_leave(struct peer *p);

/* Says a line and waits for its answer: the last one that came. Lives until the next question. */
const struct rpc_message *world_say(struct world *w, struct peer *p, const char *line);
/* The same of a call; params is JSON text, NULL for none. */
const struct rpc_message *world_call(struct world *w, struct peer *p, const char *method,
                                     const char *params);
/* Begins one and does not wait; world_wait does. */
void world_begin(struct world *w, struct peer *p, const char *method, const char *params);
const struct rpc_message *world_wait(struct world *w, struct peer *p);
/* The result of a call that must be good. */
const cJSON *world_result(struct world *w, struct peer *p, const char *method, const char *params);
/* A call that must be refused with this code and field. */
void world_refused(struct world *w, struct peer *p, const char *method, const char *params,
                   const char *code, const char *field);

/* Uploads a suite of one process workload; its SHA-256 lives in the world's arena. */
const char *world_suite(struct world *w, struct peer *p);
/* JSON of a job of that suite: number makes its id. more: further members, each behind a comma. */
const char *world_job(struct world *w, const char *suite, int number, const char *more);
const char *world_id(struct world *w, int number);
/* A job in the store whose document is this text; its id. */
const char *world_stored(struct world *w, int number, const char *document);
void world_boot(struct world *w);
