#include "store/kernels.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

WORDS(kernel_target, kernel_target);
WORDS(kernel_profile, kernel_profile);

static const struct field fields[] = {
    F(struct store_kernel, id),
    F(struct store_kernel, sha256),
    F(struct store_kernel, wall_ms),
    F_OPT(struct store_kernel, peer_uid),
    F(struct store_kernel, machine),
    F(struct store_kernel, schema),
    F_WORD(struct store_kernel, target, kernel_target),
    F_WORD(struct store_kernel, profile, kernel_profile),
    F(struct store_kernel, source),
    F(struct store_kernel, entry),
    F(struct store_kernel, workers),
    F(struct store_kernel, iterations),
    F(struct store_kernel, document),
};

#define KERNEL_SELECT                                                                              \
    "SELECT id, sha256, wall_ms, peer_uid, machine, schema, target, profile, source, entry,"       \
    " workers, iterations, document FROM kernel_receipts"

static int find_same(struct store *s, const char *sha256, char id[ULID_LEN + 1], bool *found,
                     struct err *e)
{
    static const char SQL[] = "SELECT id FROM kernel_receipts WHERE sha256 = :sha256";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":sha256", sha256);
    *found = query_row(&q);
    if (*found)
        (void)sqlite3_snprintf(ULID_LEN + 1, id, "%s", sqlite3_column_text(q.st, 0));
    return query_end(&q, e);
}

static int add(struct store *s, const struct store_kernel *row, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO kernel_receipts (id, sha256, wall_ms, peer_uid, machine, schema, target,"
        " profile, source, entry, workers, iterations, document) VALUES (:id, :sha256, :wall_ms,"
        " :peer_uid, :machine, :schema, :target, :profile, :source, :entry, :workers, :iterations,"
        " :document)";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, fields, ARRAY_LEN(fields), row);
    return query_run(&q, e);
}

int store_kernel_put(struct store *s, const struct store_kernel *row, char id[ULID_LEN + 1],
                     bool *duplicate, struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    (void)sqlite3_snprintf(ULID_LEN + 1, id, "%s", row->id);
    rc = find_same(s, row->sha256, id, duplicate, e);
    if (rc == 0 && !*duplicate)
        rc = add(s, row, e);
    return tx_end(s, rc, e);
}

static int not_found(const char *text, struct err *e)
{
    return err_set(e, -ENOENT, "kernel.not_found", "id",
                   "there is no receipt `%.32s`; see aurabench kernel --list", text);
}

static int number_of(struct store *s, const char *id, int64_t *number, struct err *e)
{
    static const char SQL[] = "SELECT number FROM kernel_receipts WHERE id = :id";
    return rows_number_of(s, SQL, id, not_found, number, e);
}

int store_kernel_list(struct store *s, const char *before, int limit, struct arena *a,
                      struct store_kernel **out, size_t *n, struct err *e)
{
    static const char SQL[] =
        KERNEL_SELECT " WHERE number < :before ORDER BY number DESC LIMIT :limit";
    struct query q;
    int64_t number = INT64_MAX;
    int rc = before ? number_of(s, before, &number, e) : 0;
    if (rc != 0)
        return rc;
    query_begin(&q, s, SQL);
    query_int(&q, ":before", number);
    query_int(&q, ":limit", limit);
    *out = query_all(&q, fields, ARRAY_LEN(fields), sizeof **out, a, n);
    return query_end(&q, e);
}

int store_kernel_find(struct store *s, const char *text, struct arena *a, struct store_kernel *out,
                      struct err *e)
{
    /* There are few receipts: their ids' ends need no index. */
    static const char SQL[] = KERNEL_SELECT " WHERE id >= :start AND id < :start_end"
                                            " OR id LIKE '%' || :text LIMIT 2";
    struct id_needle needle;
    struct query q;
    size_t n = 0;
    if (!rows_id_needle(text, &needle))
        return not_found(text, e);
    query_begin(&q, s, SQL);
    query_text(&q, ":start", needle.start);
    query_text(&q, ":start_end", needle.start_end);
    query_text(&q, ":text", needle.start);
    const struct store_kernel *rows = query_all(&q, fields, ARRAY_LEN(fields), sizeof *rows, a, &n);
    int rc = query_end(&q, e);
    if (rc == 0 && n > 1)
        return err_set(e, STORE_AMBIGUOUS, "kernel.ambiguous", "id",
                       "`%.32s` fits several receipts: give more of the id", text);
    if (rc == 0 && n == 0)
        return not_found(text, e);
    if (rc == 0)
        *out = rows[0];
    return rc;
}
