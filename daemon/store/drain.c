/* Whether the queue is drained: one row, or none; and what passes all the same. */
#include "store/hooks.h"
#include "store/rows.h"

int store_drain(struct store *s, int64_t now_ms, int64_t peer_uid, struct err *e)
{
    static const char SQL[] = "INSERT INTO drained (one, since_ms, peer_uid)"
                              " VALUES (1, :now_ms, :peer_uid) ON CONFLICT DO NOTHING";
    struct query q;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_int(&q, ":now_ms", now_ms);
    query_int_opt(&q, ":peer_uid", peer_uid);
    return tx_end(s, query_run(&q, e), e);
}

int store_drain_end(struct store *s, struct err *e)
{
    static const char SQL[] = "DELETE FROM drained";
    struct query q;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    return tx_end(s, query_run(&q, e), e);
}

int store_drained(struct store *s, int64_t *since_ms, int64_t *peer_uid, struct err *e)
{
    static const char SQL[] = "SELECT since_ms, peer_uid FROM drained";
    struct query q;
    *since_ms = *peer_uid = -1;
    query_begin(&q, s, SQL);
    if (query_row(&q)) {
        *since_ms = query_col_int(&q, 0);
        *peer_uid = query_col_int_opt(&q, 1);
    }
    return query_end(&q, e);
}

int store_next_deadline_ms(struct store *s, int64_t *due_ms, struct err *e)
{
    static const char SQL[] = "SELECT min(deadline_ms) FROM jobs INDEXED BY jobs_deadline"
                              " WHERE deadline_ms IS NOT NULL"
                              " AND state IN ('held', 'queued', 'waiting')";
    struct query q;
    query_begin(&q, s, SQL);
    *due_ms = query_row(&q) ? query_col_int_opt(&q, 0) : -1;
    return query_end(&q, e);
}
