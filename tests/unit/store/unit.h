/* What the tests of the store share: a store in a fresh folder, jobs and attempts in it, and a
 * second, raw connection for whoever tampers. */
#pragma once

#include "tests/unit/unit.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "store/open.h"
#include "store/store.h"

#define UNIT_BOOT "0f9b8c1e-boot"
#define UNIT_SUITE "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"

struct unit {
    char *folder;
    char *path;
    struct store *s;
    struct arena arena;
    struct err e;
};

/* A good call: fails the test with the sentence of the error. */
#define ok(u, call)                                                                                \
    do {                                                                                           \
        err_clear(&(u)->e);                                                                        \
        int rc_ = (call);                                                                          \
        if (rc_ != 0)                                                                              \
            fail_msg("%s: %d %s: %s", #call, rc_, (u)->e.code, (u)->e.text);                       \
    } while (0)

/* A refused call: with this value, this code and a sentence. */
#define refused(u, call, want_rc, want_code)                                                       \
    do {                                                                                           \
        err_clear(&(u)->e);                                                                        \
        assert_int_equal((call), (want_rc));                                                       \
        assert_string_equal((u)->e.code, (want_code));                                             \
        assert_true(strlen((u)->e.text) > 10);                                                     \
    } while (0)

static inline void unit_reopen(struct unit *u)
{
    store_close(u->s);
    u->s = NULL;
    ok(u, store_open(u->path, &u->s, &u->e));
}

static inline int unit_setup_closed(void **ctx)
{
    struct unit *u = mem_alloc(sizeof *u);
    u->folder = unit_folder();
    u->path = file_join(u->folder, "aurabench.db");
    *ctx = u;
    return 0;
}

static inline int unit_setup(void **ctx)
{
    unit_setup_closed(ctx);
    unit_reopen(*ctx);
    return 0;
}

static inline int unit_teardown(void **ctx)
{
    struct unit *u = *ctx;
    store_close(u->s);
    arena_deinit(&u->arena);
    ok(u, file_rmtree(u->folder, &u->e));
    free(u->path);
    free(u->folder);
    free(u);
    return 0;
}

/* ---- a second connection, without the store's code */

static inline sqlite3 *unit_raw_open(const struct unit *u)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(u->path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 5000);
    return db;
}

static inline void unit_raw_exec(const struct unit *u, const char *sql)
{
    sqlite3 *db = unit_raw_open(u);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The first column of the first row as an integer. */
static inline int64_t unit_raw_number(const struct unit *u, const char *sql)
{
    sqlite3 *db = unit_raw_open(u);
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    int64_t v = sqlite3_column_int64(st, 0);
    (void)sqlite3_finalize(st);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return v;
}

/* ---- jobs and attempts */

static inline void unit_boot(struct unit *u)
{
    const struct host_identity host = {.id = "host", .name = "bench", .cores = 2};
    const struct boot_identity boot = {.id = UNIT_BOOT, .boot_wall_ms = 1000};
    const struct store_suite suite = {UNIT_SUITE, "release-performance", "suites/5f70", 1};
    ok(u, store_boot_put(u->s, &host, &boot, 1, &u->e));
    ok(u, store_suite_put(u->s, &suite, &u->e));
}

/* "01HZ" and 22 digits of number: ids in order of number. */
static inline const char *unit_id(struct unit *u, int number)
{
    return arena_printf(&u->arena, "01HZ%022d", number);
}

static inline struct store_new_job unit_new_job(struct unit *u, int number)
{
    return (struct store_new_job){.id = unit_id(u, number),
                                  .document = arena_printf(&u->arena, "{\"n\":%d}", number),
                                  .policy = "{\"name\":\"standard\"}",
                                  .peer_uid = 1000,
                                  .wall_ms = number};
}

static inline const char *unit_submit(struct unit *u, int number, int priority)
{
    struct store_new_job job = unit_new_job(u, number);
    job.priority = priority;
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    return job.id;
}

/* Claims the next job as attempt `number`; the id of the job. */
static inline const char *unit_claim(struct unit *u, int number, int64_t now_ms)
{
    const struct store_new_attempt attempt = {
        .id = unit_id(u, number), .boot = UNIT_BOOT, .version = "0.1.0"};
    char job[ULID_LEN + 1];
    ok(u, store_job_claim(u->s, now_ms, &attempt, job, &u->e));
    return arena_strdup(&u->arena, job);
}

/* A running attempt of a fresh job; its id. */
static inline const char *unit_attempt(struct unit *u)
{
    unit_boot(u);
    unit_submit(u, 1, 0);
    unit_claim(u, 900, 10);
    return unit_id(u, 900);
}

static inline void unit_event(struct unit *u, const char *job, enum job_event event)
{
    const struct store_event with = {.wall_ms = 50, .next_try_ms = 100};
    ok(u, store_job_event(u->s, job, event, &with, NULL, &u->e));
}

static inline enum job_state unit_state(struct unit *u, const char *job)
{
    struct store_job *row;
    ok(u, store_job_get(u->s, job, &u->arena, &row, &u->e));
    return row->state;
}
