/* documents WORKLOAD DOCUMENTS OPERATIONS: one operation of a document database, over and over. */
#define _XOPEN_SOURCE 700

#include "record.h"
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_BYTES = 200, LINE_BYTES = 200, AGES = 90, NEW_AGES = 100, STRIDE = 7919 };

static const char file_template[] = "documents-XXXXXX";

struct world {
    struct store store;
    int64_t documents;
    char (*bodies)[BODY_BYTES]; /* documents as they are given to an insert */
    char path[sizeof file_template];
};

static char *body_of(const struct world *world, int64_t id)
{
    return world->bodies[id];
}

static void make_bodies(struct world *world)
{
    world->bodies = calloc((size_t)world->documents, sizeof *world->bodies);
    if (world->bodies == NULL)
        fail("documents: there is no memory for %" PRId64 " documents", world->documents);
    for (int64_t i = 0; i < world->documents; i++) {
        int length = snprintf(world->bodies[i], BODY_BYTES,
                              "{\"id\": %" PRId64 ", \"name\": \"user-%" PRId64
                              "\", \"age\": %" PRId64 ", \"city\": \"city-%" PRId64
                              "\", \"tags\": [\"a\", \"b\"], \"active\": true}",
                              i, i, i % AGES, i % 50);

        if (length < 0 || length >= BODY_BYTES)
            fail("documents: a document is too long");
    }
}

static int64_t insert_all(struct world *world, int64_t count)
{
    int64_t sum = 0;

    store_begin(&world->store);
    for (int64_t i = 0; i < count; i++)
        sum += store_do(&world->store, STORE_INSERT, i, 0, body_of(world, i));
    store_commit(&world->store);
    return sum;
}

/* Every document once, in another order, where documents and the stride have no common divisor. */
static int64_t chosen(const struct world *world, int64_t k)
{
    return k * STRIDE % world->documents;
}

/* ---- what is there before READY */

static void open_empty(struct world *world)
{
    store_open(&world->store, ":memory:");
}

static void open_filled(struct world *world)
{
    open_empty(world);
    (void)insert_all(world, world->documents);
}

/* In the folder that this runs in; closed again. */
static void write_file(struct world *world)
{
    int fd;

    memcpy(world->path, file_template, sizeof file_template);
    fd = mkstemp(world->path);
    if (fd < 0 || close(fd) != 0)
        fail("documents: cannot make a file: %s", strerror(errno));
    store_open(&world->store, world->path);
    (void)insert_all(world, world->documents);
    store_close(&world->store);
}

/* ---- what is timed */

static int64_t get(struct world *world, int64_t k)
{
    return store_do(&world->store, STORE_GET, chosen(world, k), 0, NULL);
}

static int64_t find(struct world *world, int64_t k)
{
    return store_do(&world->store, STORE_FIND, k % AGES, 0, NULL);
}

static int64_t open_load(struct world *world, int64_t k)
{
    int64_t sum;

    (void)k;
    store_open(&world->store, world->path);
    sum = store_do(&world->store, STORE_ALL, 0, 0, NULL);
    store_close(&world->store);
    return sum;
}

static int64_t update(struct world *world, int64_t k)
{
    return store_do(&world->store, STORE_UPDATE, chosen(world, k), k % NEW_AGES, NULL);
}

static int64_t delete (struct world *world, int64_t k)
{
    return store_do(&world->store, STORE_DELETE, chosen(world, k), 0, NULL);
}

static const struct {
    const char *name;
    void (*prepare)(struct world *world);
    int64_t (*operate)(struct world *world, int64_t k); /* NULL: insert_all */
    bool stays_open;
} workloads[] = {
    {"insert_many", open_empty, NULL, true}, {"get", open_filled, get, true},
    {"find", open_filled, find, true},       {"open_load", write_file, open_load, false},
    {"update", open_filled, update, true},   {"delete", open_filled, delete, true},
};

static int64_t run(struct world *world, size_t w, int64_t operations)
{
    int64_t sum = 0;

    if (workloads[w].operate == NULL)
        return insert_all(world, operations);
    for (int64_t k = 0; k < operations; k++)
        sum += workloads[w].operate(world, k);
    return sum;
}

/* ---- arguments */

static int64_t parse_count(const char *text)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1 || value > 10000000)
        fail("documents: %s is not a number from 1 to 10000000", text);
    return value;
}

static size_t find_workload(const char *name)
{
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++)
        if (strcmp(workloads[w].name, name) == 0)
            return w;
    fail("documents: there is no workload %s", name);
}

int main(int argc, char **argv)
{
    char ready[LINE_BYTES];
    char go[LINE_BYTES];
    struct world world = {0};
    int64_t operations;
    size_t w;

    if (argc != 4)
        fail("usage: documents WORKLOAD DOCUMENTS OPERATIONS");
    w = find_workload(argv[1]);
    world.documents = parse_count(argv[2]);
    operations = parse_count(argv[3]);
    if (workloads[w].operate == NULL && operations != world.documents)
        fail("documents: inserting is one operation for each document");
    make_bodies(&world);
    workloads[w].prepare(&world);

    (void)snprintf(ready, sizeof ready, "READY document-db %s %" PRId64 " %" PRId64, argv[1],
                   world.documents, operations);
    (void)snprintf(go, sizeof go, "GO document-db %s", argv[1]);
    record_start(ready, go);
    record_finish("DONE document-db %s %" PRId64 " %" PRId64, argv[1], operations,
                  run(&world, w, operations));

    if (workloads[w].stays_open)
        store_close(&world.store);
    else if (unlink(world.path) != 0)
        fail("documents: cannot remove %s: %s", world.path, strerror(errno));
    free(world.bodies);
    return 0;
}
