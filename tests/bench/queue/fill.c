/* Makes a store of the size that a benchmark asks for, through the store's own functions:
 *   bench-queue-fill jobs DB DOCUMENT POLICY COUNT
 *   bench-queue-fill observations DB COUNT
 *   bench-queue-fill figures DB COUNT
 */
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"
#include "tests/bench/bench.h"
#include "tests/bench/queue/rows.h"

#define COUNT_MAX 100000000
#define TOGETHER 10000 /* jobs of one transaction */

static void fill_jobs(struct store *s, struct rows_texts *t, int count)
{
    struct err e = {0};
    bool known;

    while (count > 0) {
        BENCH_OK(tx_begin(s, &e), &e);
        for (int i = 0; i < TOGETHER && count > 0; i++, count--) {
            const struct store_new_job job = rows_job(t);
            BENCH_OK(rows_submit_job(s, &job, &known, &e), &e);
        }
        BENCH_OK(tx_end(s, 0, &e), &e);
    }
}

static void fill_observations(struct store *s, int count)
{
    struct raw_observation *list = mem_alloc(ROWS_ATTEMPT * sizeof *list);
    char attempt[ULID_LEN + 1];
    struct err e = {0};

    rows_observe(list, 0, ROWS_ATTEMPT);
    for (; count > 0; count -= ROWS_ATTEMPT) {
        rows_attempt(s, attempt);
        BENCH_OK(store_put_observations(s, attempt, list, ROWS_ATTEMPT, &e), &e);
        BENCH_OK(store_attempt_end(s, attempt, "done", 2, &e), &e);
    }
    free(list);
}

/* Reports of ROWS_RUN figures each, a minute apart. */
static void fill_figures(struct store *s, int count)
{
    char attempt[ULID_LEN + 1];
    struct err e = {0};

    for (int64_t ms = 0; count > 0; count -= ROWS_RUN, ms += 60000) {
        rows_claim(s, attempt);
        const struct store_report report = {.attempt = attempt,
                                            .grade = GRADE_CONTRACTUAL,
                                            .grade_line = "contractual, policy standard",
                                            .evidence = "evidence",
                                            .raw_sha256 = "r",
                                            .summary_sha256 = "s",
                                            .history = rows_history(attempt, ms)};
        BENCH_OK(store_report_put(s, &report, &e), &e);
    }
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "jobs") == 0) {
        struct store *s = rows_open(argv[2]);
        struct rows_texts t;
        rows_texts_read(&t, argv[3], argv[4]);
        rows_hurry(s);
        fill_jobs(s, &t, bench_count(argv[5], COUNT_MAX));
        rows_texts_deinit(&t);
        store_close(s);
        return 0;
    }
    bool observations = argc == 4 && strcmp(argv[1], "observations") == 0;
    if (observations || (argc == 4 && strcmp(argv[1], "figures") == 0)) {
        struct store *s = rows_open(argv[2]);
        rows_hurry(s);
        (observations ? fill_observations : fill_figures)(s, bench_count(argv[3], COUNT_MAX));
        store_close(s);
        return 0;
    }
    bench_fail("bench-queue-fill",
               "jobs DB DOCUMENT POLICY COUNT, or observations or figures DB COUNT");
}
