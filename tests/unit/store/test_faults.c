/* The disk fails at the n-th write of the database, for every n: once, or from then on until space
 * is back, by want of space and by an I/O error. Each call succeeds or says why and stores nothing;
 * reading goes on meanwhile; afterwards everything works in the same process, and what is stored in
 * the end is what is stored when nothing fails. */
#include "tests/unit/store/random.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest.h"

#define FULL_CHECKPOINT "PRAGMA wal_checkpoint(TRUNCATE)"

/* ---- the life of a job, step by step: each is one transaction */

static struct suite *one_suite(void)
{
    static struct lane lane = {.name = "l"};
    static struct workload workload = {.name = "w", .lanes = &lane, .n_lanes = 1};
    static struct suite suite = {.name = "s", .workloads = &workload, .n_workloads = 1};
    return &suite;
}

static int put_boot(struct unit *u)
{
    const struct host_identity host = {.id = "host", .name = "bench", .cores = 2};
    const struct boot_identity boot = {.id = UNIT_BOOT, .boot_wall_ms = 1000};
    return store_boot_put(u->s, &host, &boot, 1, &u->e);
}

static int put_suite(struct unit *u)
{
    const struct store_suite suite = {UNIT_SUITE, "release-performance", "suites/5f70", 1};
    return store_suite_put(u->s, &suite, &u->e);
}

static int submit(struct unit *u)
{
    struct store_new_job job = unit_new_job(u, 1);
    char *document = arena_alloc(&u->arena, 9001); /* more than a page */
    memset(document, 'd', 9000);
    job.document = document;
    job.suite_sha256 = UNIT_SUITE;
    return store_job_submit(u->s, &job, NULL, &u->e);
}

static int open_session(struct unit *u)
{
    const struct store_session session = {.id = unit_id(u, 50),
                                          .label = "night",
                                          .document = "{}",
                                          .peer_uid = 1000,
                                          .opened_ms = 5,
                                          .opened_boot = UNIT_BOOT};
    struct store_new_job jobs[] = {unit_new_job(u, 2), unit_new_job(u, 3)};
    for (size_t i = 0; i < ARRAY_LEN(jobs); i++)
        jobs[i].session = session.id;
    return store_session_open(u->s, &session, jobs, ARRAY_LEN(jobs), NULL, &u->e);
}

static int claim(struct unit *u)
{
    const struct store_new_attempt attempt = {
        .id = unit_id(u, 900), .boot = UNIT_BOOT, .version = "0.1.0"};
    char job[ULID_LEN + 1];
    return store_job_claim(u->s, 10, &attempt, job, &u->e);
}

static int put_phase(struct unit *u)
{
    struct inventory inventory = {.phase = PHASE_BEFORE_BUILD, .wall_ms = 11};
    struct phase_record record = {.inventory = &inventory};
    for (int i = 0; i < COND_COUNT; i++)
        record.conditions[i].condition = (enum condition)i;
    return store_put_phase(u->s, unit_id(u, 900), PHASE_BEFORE_BUILD, &record, &u->e);
}

static int put_sources(struct unit *u)
{
    const struct raw_source source = {.side = "s", .commit = "c", .files = 3};
    return store_put_sources(u->s, unit_id(u, 900), &source, 1, &u->e);
}

static int put_artifacts(struct unit *u)
{
    struct raw_artifact artifacts[40];
    for (size_t i = 0; i < ARRAY_LEN(artifacts); i++)
        artifacts[i] = (struct raw_artifact){
            .side = "s", .path = arena_printf(&u->arena, "out/%zu", i), .sha256 = UNIT_SUITE};
    return store_put_artifacts(u->s, unit_id(u, 900), artifacts, ARRAY_LEN(artifacts), &u->e);
}

static int put_plan(struct unit *u)
{
    static const char *const sides[] = {"s"};
    struct plan_step steps[] = {{.seq = 0, .kind = OBS_TIMED}, {.seq = 1, .kind = OBS_TIMED}};
    const struct plan plan = {.steps = steps, .n = ARRAY_LEN(steps)};
    return store_put_plan(u->s, unit_id(u, 900), &plan, 0, one_suite(), sides, 1, &u->e);
}

static int event(struct unit *u, enum job_event event, struct store_event with)
{
    with.wall_ms = 50;
    with.next_try_ms = -1;
    return store_job_event(u->s, unit_id(u, 1), event, &with, NULL, &u->e);
}

static int timing_begins(struct unit *u)
{
    return event(u, JOB_TIMING_BEGINS, (struct store_event){.attempt = unit_id(u, 900)});
}

static int observe(struct unit *u)
{
    struct raw_observation batch[2] = {{.seq = 0}, {.seq = 1}};
    for (size_t i = 0; i < ARRAY_LEN(batch); i++) {
        batch[i].workload = "w";
        batch[i].lane = "l";
        batch[i].side = "s";
        batch[i].kind = OBS_TIMED;
        batch[i].outcome = "ok";
    }
    return store_put_observations(u->s, unit_id(u, 900), batch, ARRAY_LEN(batch), &u->e);
}

static int timing_ends(struct unit *u)
{
    return event(u, JOB_TIMING_ENDS, (struct store_event){.attempt = unit_id(u, 900)});
}

static int put_attempt(struct unit *u)
{
    const struct raw raw = {.clock = "c", .cleanup = "verified", .suspend_before_ms = 1};
    return store_attempt_put(u->s, unit_id(u, 900), &raw, &u->e);
}

static int finish(struct unit *u)
{
    const struct store_report_count counts = {.faster = 1};
    const struct store_report report = {.attempt = unit_id(u, 900),
                                        .grade = GRADE_DIAGNOSTIC,
                                        .grade_line = "diagnostic",
                                        .evidence = "evidence/900",
                                        .raw_sha256 = UNIT_SUITE,
                                        .summary_sha256 = UNIT_SUITE,
                                        .created_ms = 60,
                                        .counts = &counts};
    return event(
        u, JOB_FINISH,
        (struct store_event){.attempt = unit_id(u, 900), .outcome = "done", .report = &report});
}

static int close_session(struct unit *u)
{
    return store_session_close(u->s, unit_id(u, 50), &(struct store_event){.wall_ms = 70}, NULL, 0,
                               &u->e);
}

static int (*const LIFE[])(struct unit *) = {
    put_boot,  put_suite,   submit,        open_session, claim,
    put_phase, put_sources, put_artifacts, put_plan,     timing_begins,
    observe,   timing_ends, put_attempt,   finish,       close_session,
};

/* ---- what is stored */

/* Through SQLite's own way to the disk: nothing fails there. */
static sqlite3 *open_beside(const struct unit *u)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(u->path, &db, SQLITE_OPEN_READWRITE, "unix"), SQLITE_OK);
    (void)sqlite3_busy_timeout(db, 5000);
    return db;
}

static void add_rows(sqlite3 *db, const char *table, struct digest *d)
{
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" ORDER BY rowid", table);
    sqlite3_stmt *st = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK) { /* WITHOUT ROWID */
        sqlite3_free(sql);
        sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    }
    digest_add(d, table, strlen(table));
    while (sqlite3_step(st) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(st); i++) {
            const char *text = (const char *)sqlite3_column_text(st, i);
            digest_add(d, text ? text : "", text ? strlen(text) + 1 : 1);
        }
    (void)sqlite3_finalize(st);
    sqlite3_free(sql);
}

/* One hash of all rows, but of when migrations were applied. */
static void hash_rows(const struct unit *u, char hex[DIGEST_HEX])
{
    sqlite3 *db = open_beside(u);
    struct digest *d = digest_new();
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT name FROM sqlite_schema WHERE type = 'table'"
                                        " AND name <> 'schema_migrations' ORDER BY name",
                                        -1, &st, NULL),
                     SQLITE_OK);
    while (sqlite3_step(st) == SQLITE_ROW)
        add_rows(db, (const char *)sqlite3_column_text(st, 0), d);
    (void)sqlite3_finalize(st);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    digest_finish(d, hex);
}

static void is_whole(const struct unit *u)
{
    sqlite3 *db = open_beside(u);
    sqlite3_stmt *st = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
    (void)sqlite3_finalize(st);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* ---- what fails */

struct trial {
    const char *error; /* "ENOSPC", "EIO" */
    bool lasts;        /* until it is mended */
    int n;             /* which write; 0: none */
};

static char *file_of(const struct unit *u, const char *name)
{
    return file_join(u->folder, name);
}

/* Without waiting for the disk, and without passing a point. */
static void tell(const struct unit *u, const char *text)
{
    CLEANUP(mem_freep) char *path = file_of(u, "fault");
    CLEANUP(mem_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static void mend(const struct unit *u)
{
    tell(u, "");
}

static void arm(const struct unit *u, const struct trial *t)
{
    CLEANUP(mem_freep) char *told = mem_printf("@%s/fault", u->folder);
    CLEANUP(mem_freep) char *trace = file_of(u, "trace");
    CLEANUP(mem_freep)
    char *spec = mem_printf("store.write=%s@%d%s", t->error, t->n, t->lasts ? "+" : "");
    tell(u, t->n ? spec : "");
    assert_int_equal(setenv("AURABENCH_FAULT", told, 1), 0);
    assert_int_equal(setenv("AURABENCH_FAULT_TRACE", trace, 1), 0);
}

/* How many writes there were so far. */
static int passes(const struct unit *u)
{
    CLEANUP(mem_freep) char *trace = file_of(u, "trace");
    CLEANUP(buf_deinit) struct buf text = {0};
    int n = 0;
    if (file_read(trace, 1 << 24, &text, NULL) < 0)
        return 0;
    for (const char *p = buf_str(&text); *p; p++)
        n += *p == '\n';
    return n;
}

static void is_the_disk(const struct unit *u, const struct trial *t, int rc, const char *what)
{
    /* SQLite does not say why a sync failed (code 1034): a full disk is then a failing one. */
    bool sync = strstr(u->e.text, "code 1034") != NULL;
    bool full = strcmp(t->error, "ENOSPC") == 0 && !sync;
    if (rc != (full ? -ENOSPC : -EIO) || strcmp(u->e.code, full ? "store.full" : "store.io") != 0)
        fail_msg("%s at write %d: %d %s: %s", what, t->n, rc, u->e.code, u->e.text);
    if (full)
        assert_non_null(strstr(u->e.text, u->folder));
    assert_non_null(strstr(u->e.text, full ? "MiB free" : u->path));
}

static void reading_goes_on(struct unit *u)
{
    int64_t counts[JOB_STATE_COUNT], due_ms;
    const struct store_list list = {.limit = 10};
    struct store_job *jobs;
    size_t n;
    ok(u, store_counts(u->s, counts, &u->e));
    ok(u, store_next_due_ms(u->s, &due_ms, &u->e));
    ok(u, store_job_list(u->s, &list, &u->arena, &jobs, &n, &u->e));
}

/* What is stored after each step when nothing fails. */
struct course {
    char after[ARRAY_LEN(LIFE) + 1][DIGEST_HEX]; /* [0]: before the first */
};

/* One step, and again once the disk is mended. */
static void live(struct unit *u, const struct trial *t, size_t step, const struct course *course)
{
    char now[DIGEST_HEX];
    err_clear(&u->e);
    int rc = LIFE[step](u);
    if (rc == 0)
        return;
    is_the_disk(u, t, rc, arena_printf(&u->arena, "step %zu", step));
    hash_rows(u, now);
    assert_string_equal(now, course->after[step]);
    reading_goes_on(u);
    if (t->lasts) { /* as often as one likes */
        err_clear(&u->e);
        is_the_disk(u, t, LIFE[step](u), "again");
    }
    mend(u);
    ok(u, LIFE[step](u));
}

static void open_or_mend(struct unit *u, const struct trial *t)
{
    err_clear(&u->e);
    int rc = store_open(u->path, &u->s, &u->e);
    if (rc == 0)
        return;
    is_the_disk(u, t, rc, "opening");
    mend(u);
    ok(u, store_open(u->path, &u->s, &u->e));
}

static void close_and_check(struct unit *u, const char *want)
{
    char now[DIGEST_HEX];
    (void)sql_exec(u->s, FULL_CHECKPOINT, NULL);
    store_close(u->s);
    u->s = NULL;
    mend(u);
    is_whole(u);
    hash_rows(u, now);
    assert_string_equal(now, want);
}

static void try_life(struct unit *u, const struct trial *t, const struct course *course)
{
    open_or_mend(u, t);
    for (size_t i = 0; i < ARRAY_LEN(LIFE); i++)
        live(u, t, i, course);
    close_and_check(u, course->after[ARRAY_LEN(LIFE)]);
}

static void try_opening(struct unit *u, const struct trial *t, const struct course *course)
{
    open_or_mend(u, t);
    close_and_check(u, course->after[0]);
}

typedef void (*try_fn)(struct unit *u, const struct trial *t, const struct course *course);

/* In a process of its own: points are counted from its start. False: the n-th write never came. */
static bool run_child(struct unit *u, try_fn try, const struct trial *t,
                      const struct course *course)
{
    int status = -1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        arm(u, t);
        try(u, t, course);
        _exit(passes(u) >= t->n ? 0 : 3);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3))
        fail_msg("%s%s at write %d", t->error, t->lasts ? " from then on" : "", t->n);
    return WEXITSTATUS(status) == 0;
}

static void remove_all(const struct unit *u)
{
    static const char *const names[] = {"aurabench.db", "aurabench.db-wal", "aurabench.db-shm",
                                        "fault", "trace"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP(mem_freep) char *path = file_of(u, names[i]);
        (void)unlink(path);
    }
}

/* ---- the tests */

/* Bytes of a store without jobs, and what a life makes of it. */
static void make_course(struct unit *u, struct buf *empty, struct course *course)
{
    unit_reopen(u);
    hash_rows(u, course->after[0]);
    store_close(u->s);
    ok(u, file_read(u->path, 1 << 24, empty, &u->e));
    ok(u, store_open(u->path, &u->s, &u->e));
    for (size_t i = 0; i < ARRAY_LEN(LIFE); i++) {
        ok(u, LIFE[i](u));
        hash_rows(u, course->after[i + 1]);
    }
    store_close(u->s);
    u->s = NULL;
}

static void put(const char *path, const struct buf *b)
{
    CLEANUP(mem_closep) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, b->data, b->len), 0);
}

#define MAKING_WRITES 12

static void fail_each(struct unit *u, try_fn try, const char *error, bool lasts)
{
    CLEANUP(buf_deinit) struct buf empty = {0};
    struct course course;
    /* All of them with AURABENCH_DISK_ALL; else each ninth, from a random one on, and all by which
     * an empty file becomes a database. */
    int step = getenv("AURABENCH_DISK_ALL") ? 1 : 9, done = 0;
    const int first = try == try_opening ? MAKING_WRITES : 0;
    struct trial t = {.error = error, .lasts = lasts, .n = 1 + (int)rnd((uint64_t)step)};
    make_course(u, &empty, &course);
    if (try == try_opening)
        t.n = 1;
    for (bool came = true; came; done += came, t.n += t.n < first ? 1 : step) {
        remove_all(u);
        if (try == try_life)
            put(u->path, &empty);
        came = run_child(u, try, &t, &course);
    }
    assert_true(done * step > 150);
    print_message("%d writes failed with %s%s: nothing lost, nothing half stored\n", done, error,
                  lasts ? " until mended" : " once");
}

static void a_disk_that_fills_loses_nothing(void **ctx)
{
    fail_each(*ctx, try_life, "ENOSPC", true);
}

static void a_write_without_space_loses_nothing(void **ctx)
{
    fail_each(*ctx, try_life, "ENOSPC", false);
}

static void a_disk_that_fails_loses_nothing(void **ctx)
{
    fail_each(*ctx, try_life, "EIO", true);
}

static void a_write_that_fails_loses_nothing(void **ctx)
{
    fail_each(*ctx, try_life, "EIO", false);
}

static void a_store_that_cannot_be_made_is_made_later(void **ctx)
{
    fail_each(*ctx, try_opening, "ENOSPC", true);
}

static void a_store_whose_making_fails_once_is_made_at_the_next_start(void **ctx)
{
    fail_each(*ctx, try_opening, "EIO", false);
}

#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup_closed, unit_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_disk_that_fills_loses_nothing),
        T(a_write_without_space_loses_nothing),
        T(a_disk_that_fails_loses_nothing),
        T(a_write_that_fails_loses_nothing),
        T(a_store_that_cannot_be_made_is_made_later),
        T(a_store_whose_making_fails_once_is_made_at_the_next_start),
    };
    /* Where there is a disk in memory: every write is synced, which costs nothing there. */
    if (access("/dev/shm", W_OK) == 0)
        (void)setenv("TMPDIR", "/dev/shm", 0);
    return cmocka_run_group_tests(tests, start_seed, NULL);
}
