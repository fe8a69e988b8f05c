/* What the store's own functions cost, on several stores in turn, so that drift meets all of them:
 *   bench-queue-store submit ROUNDS EACH DOCUMENT POLICY DB...   per submit, series DB
 *   bench-queue-store claim  ROUNDS EACH DOCUMENT POLICY DB...   per claim, series DB
 *   bench-queue-store batch  ROUNDS EACH DB        per commit, series one, run and bare
 *   bench-queue-store latest ROUNDS LIMIT DB...    per query, series DB
 *   bench-queue-store history ROUNDS LIMIT DB...   the same of figures
 * A sample is the mean of the EACH calls of one round: what a commit does only now and then, the
 * checkpoint of the log, belongs to its cost.
 */
#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "store/figures.h"
#include "store/sql.h"
#include "tests/bench/bench.h"
#include "tests/bench/queue/rows.h"

#define DBS_MAX 8
#define ROUNDS_MAX 10000

struct dbs {
    struct store *s[DBS_MAX];
    const char *names[DBS_MAX];
    int n;
    int64_t sum_ns[DBS_MAX];
};

static void open_all(struct dbs *d, char **paths, int n)
{
    if (n < 1 || n > DBS_MAX)
        bench_fail("bench-queue-store", "name 1 to 8 databases");
    *d = (struct dbs){.n = n};
    for (int i = 0; i < n; i++) {
        d->names[i] = paths[i];
        d->s[i] = rows_open(paths[i]);
    }
}

static void close_all(struct dbs *d)
{
    for (int i = 0; i < d->n; i++)
        store_close(d->s[i]);
}

static void report_round(struct dbs *d, int each)
{
    for (int i = 0; i < d->n; i++) {
        bench_sample(d->names[i], d->sum_ns[i] / each);
        d->sum_ns[i] = 0;
    }
}

static int64_t time_submit(struct store *s, struct rows_texts *t)
{
    const struct store_new_job job = rows_job(t);
    struct err e = {0};
    int64_t start = bench_now_ns();

    BENCH_OK(store_job_submit(s, &job, NULL, &e), &e);
    return bench_now_ns() - start;
}

static int64_t time_claim(struct store *s)
{
    char id[ULID_LEN + 1], job[ULID_LEN + 1];
    const struct store_new_attempt attempt = {.id = id, .boot = ROWS_BOOT, .version = "0"};
    struct err e = {0};

    ulid_new(id);
    int64_t start = bench_now_ns();
    BENCH_OK(store_job_claim(s, 1, &attempt, job, &e), &e);
    return bench_now_ns() - start;
}

static void submit_rounds(struct dbs *d, struct rows_texts *t, int rounds, int each)
{
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < each; k++)
            for (int i = 0; i < d->n; i++)
                d->sum_ns[i] += time_submit(d->s[i], t);
        report_round(d, each);
    }
}

/* What is claimed was submitted just before, so that the empty queue has it, too. */
static void claim_rounds(struct dbs *d, struct rows_texts *t, int rounds, int each)
{
    for (int r = 0; r < rounds; r++) {
        for (int k = 0; k < each; k++)
            for (int i = 0; i < d->n; i++)
                (void)time_submit(d->s[i], t);
        for (int k = 0; k < each; k++)
            for (int i = 0; i < d->n; i++)
                d->sum_ns[i] += time_claim(d->s[i]);
        report_round(d, each);
    }
}

/* ---- a run of observations, one row, and the floor: one row of a plain table */

struct batch {
    struct store *s;
    char attempt[ULID_LEN + 1];
    int seq;
    struct raw_observation rows[ROWS_RUN];
};

static int64_t time_observations(struct batch *b, size_t n)
{
    struct err e = {0};

    if (b->seq == 0 || b->seq + (int)n > ROWS_ATTEMPT) {
        rows_attempt(b->s, b->attempt);
        b->seq = 0;
    }
    rows_observe(b->rows, b->seq, n);
    b->seq += (int)n;
    int64_t start = bench_now_ns();
    BENCH_OK(store_put_observations(b->s, b->attempt, b->rows, n, &e), &e);
    return bench_now_ns() - start;
}

static sqlite3_stmt *bare_table(struct store *s)
{
    static const char SQL[] = "INSERT INTO bare (text) VALUES (?)";
    sqlite3_stmt *st = NULL;
    struct err e = {0};

    BENCH_OK(sql_exec(s, "CREATE TABLE IF NOT EXISTS bare (n INTEGER PRIMARY KEY, text TEXT)", &e),
             &e);
    if (sqlite3_prepare_v2(s->db, SQL, -1, &st, NULL) != SQLITE_OK)
        bench_fail("prepare", sqlite3_errmsg(s->db));
    (void)sqlite3_bind_text(st, 1, "one row", -1, SQLITE_STATIC);
    return st;
}

static int64_t time_bare(struct store *s, sqlite3_stmt *st)
{
    int64_t start = bench_now_ns();

    if (sqlite3_step(st) != SQLITE_DONE || sqlite3_reset(st) != SQLITE_OK)
        bench_fail("insert", sqlite3_errmsg(s->db));
    return bench_now_ns() - start;
}

static void batch_rounds(struct store *s, int rounds, int each)
{
    struct batch one = {.s = s}, run = {.s = s};
    sqlite3_stmt *bare = bare_table(s);

    for (int r = 0; r < rounds; r++) {
        int64_t one_ns = 0, run_ns = 0, bare_ns = 0;
        for (int k = 0; k < each; k++) {
            one_ns += time_observations(&one, 1);
            run_ns += time_observations(&run, ROWS_RUN);
            bare_ns += time_bare(s, bare);
        }
        bench_sample("one", one_ns / each);
        bench_sample("run", run_ns / each);
        bench_sample("bare", bare_ns / each);
    }
    (void)sqlite3_finalize(bare);
}

/* ---- the latest of a lane */

static int64_t time_latest(struct store *s, int limit)
{
    struct arena a = {0};
    struct store_point *points;
    struct err e = {0};
    size_t n = 0;
    int64_t start = bench_now_ns();

    BENCH_OK(store_lane_latest(s, "fib30", ROWS_LANE, limit, &a, &points, &n, &e), &e);
    int64_t ns = bench_now_ns() - start;
    if (n != (size_t)limit)
        bench_fail("store_lane_latest", "the store has fewer observations of this lane");
    arena_deinit(&a);
    return ns;
}

static int64_t time_history(struct store *s, int limit)
{
    const struct store_series of = {
        .workload = "fib30", .value = "", .lane = ROWS_LANE, .until_ms = INT64_MAX, .limit = limit};
    struct arena a = {0};
    struct history_figure *figures;
    struct err e = {0};
    int may_read = limit;
    bool more;
    size_t n = 0;
    int64_t start = bench_now_ns();

    BENCH_OK(store_figure_list(s, &of, &may_read, &a, &figures, &n, &more, &e), &e);
    int64_t ns = bench_now_ns() - start;
    if (n != (size_t)limit)
        bench_fail("store_figure_list", "the store has fewer figures of this lane");
    arena_deinit(&a);
    return ns;
}

static void query_rounds(struct dbs *d, int rounds, int limit,
                         int64_t (*time_query)(struct store *s, int limit))
{
    for (int r = -1; r < rounds; r++) { /* the first round fills the caches */
        for (int i = 0; i < d->n; i++)
            d->sum_ns[i] = time_query(d->s[i], limit);
        if (r >= 0)
            report_round(d, 1);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 4 ? argv[1] : "";
    int rounds = argc > 4 ? bench_count(argv[2], ROUNDS_MAX) : 0;
    int each = argc > 4 ? bench_count(argv[3], 100000) : 0;
    bool jobs = strcmp(what, "submit") == 0 || strcmp(what, "claim") == 0;
    struct rows_texts texts = {0};
    struct dbs d;

    if (jobs && argc > 6) {
        rows_texts_read(&texts, argv[4], argv[5]);
        open_all(&d, argv + 6, argc - 6);
        (strcmp(what, "claim") == 0 ? claim_rounds : submit_rounds)(&d, &texts, rounds, each);
    } else if (strcmp(what, "batch") == 0) {
        open_all(&d, argv + 4, argc - 4);
        batch_rounds(d.s[0], rounds, each);
    } else if (strcmp(what, "latest") == 0) {
        open_all(&d, argv + 4, argc - 4);
        query_rounds(&d, rounds, each, time_latest);
    } else if (strcmp(what, "history") == 0) {
        open_all(&d, argv + 4, argc - 4);
        query_rounds(&d, rounds, each, time_history);
    } else {
        bench_fail("bench-queue-store",
                   "submit, claim, batch, latest or history ROUNDS EACH ... DB...");
    }
    close_all(&d);
    rows_texts_deinit(&texts);
    return 0;
}
