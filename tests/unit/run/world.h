/* What the tests of daemon/run share: a runner, a folder, and requests for the child program. */
#pragma once

#include "unit.h"

#include "base/arena.h"
#include "run/run.h"

#define READY "READY toy 3"
#define GO "GO toy"
#define DONE "DONE toy 42"
#define LONG_MS 60000 /* a timeout that no test waits for */

struct world {
    struct run *run;
    char *folder;
    struct arena arena;
};

int world_setup(void **state);
int world_teardown(void **state); /* fails when a child of the test is left */

const char *world_runner(void);
const char *world_child(void);
/* A path in the folder. */
const char *world_path(struct world *w, const char *name);
/* The whole file as a string; fails when there is none. */
const char *world_read(struct world *w, const char *path);
/* A pid that a child wrote into a file: waits for it at most a minute. */
int world_pid(struct world *w, const char *path);
/* The process is gone or only a zombie. */
bool world_gone(int pid);
/* Waits at most a minute for that. */
void world_await_gone(int pid);
/* The text has this line. */
bool world_has_line(const char *text, const char *line);

/* A request for the child with good records, long timeouts, nothing pinned. */
struct run_observe world_request(enum measure measure, const char *const *argv);
struct run_observation world_observe(struct world *w, const struct run_observe *req);
struct run_exec world_exec_request(struct world *w, const char *const *argv);
struct run_exec_result world_exec(struct world *w, const struct run_exec *req);

#define CHILD(...) ((const char *const[]){world_child(), __VA_ARGS__, NULL})
