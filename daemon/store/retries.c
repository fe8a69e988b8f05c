/* Times of next tries, when the clock that they go by was set back. */
#include "base/mem.h"
#include "store/rows.h"

static const char *const SHIFTS[] = {
    "UPDATE jobs INDEXED BY jobs_due SET next_try_ms = max(:now_ms, next_try_ms - :by_ms)"
    " WHERE state = 'waiting' AND waits_for IS NULL AND next_try_ms > :now_ms",
    "UPDATE hooks INDEXED BY hooks_due SET next_ms = max(:now_ms, next_ms - :by_ms)"
    " WHERE state = 'owed' AND next_ms > :now_ms",
};

static int shift(struct store *s, const char *sql, int64_t by_ms, int64_t now_ms, struct err *e)
{
    struct query q;

    query_begin(&q, s, sql);
    query_int(&q, ":by_ms", by_ms);
    query_int(&q, ":now_ms", now_ms);
    return query_run(&q, e);
}

int store_retries_earlier(struct store *s, int64_t by_ms, int64_t now_ms, struct err *e)
{
    int rc = tx_begin(s, e);

    if (rc != 0)
        return rc;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(SHIFTS); i++)
        rc = shift(s, SHIFTS[i], by_ms, now_ms, e);
    return tx_end(s, rc, e);
}
