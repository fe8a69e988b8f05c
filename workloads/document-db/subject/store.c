#include "store.h"

#include "record.h"

#include <stddef.h>

/* ?1 and ?2 are integers, ?3 is a text. */
static const char *const sql[STORE_ACTIONS] = {
    [STORE_INSERT] = "INSERT INTO documents (id, body) VALUES (?1, json(?3))"
                     " RETURNING json_extract(body, '$.age')",
    [STORE_GET] = "SELECT json_extract(body, '$.age') FROM documents WHERE id = ?1",
    [STORE_FIND] = "SELECT id FROM documents WHERE json_extract(body, '$.age') = ?1",
    [STORE_ALL] = "SELECT json_extract(body, '$.age') FROM documents",
    [STORE_UPDATE] = "UPDATE documents SET body = json_set(body, '$.age', ?2) WHERE id = ?1"
                     " RETURNING json_extract(body, '$.age')",
    [STORE_DELETE] = "DELETE FROM documents WHERE id = ?1 RETURNING json_extract(body, '$.age')",
};

static void execute(struct store *store, const char *statement)
{
    if (sqlite3_exec(store->db, statement, NULL, NULL, NULL) != SQLITE_OK)
        fail("documents: %s: %s", statement, sqlite3_errmsg(store->db));
}

void store_open(struct store *store, const char *path)
{
    *store = (struct store){0};
    if (sqlite3_open(path, &store->db) != SQLITE_OK)
        fail("documents: cannot open %s: %s", path, sqlite3_errmsg(store->db));
    execute(store, "CREATE TABLE IF NOT EXISTS documents (id INTEGER PRIMARY KEY, body TEXT)");
}

void store_close(struct store *store)
{
    for (int i = 0; i < STORE_ACTIONS; i++)
        (void)sqlite3_finalize(store->statements[i]);
    if (sqlite3_close(store->db) != SQLITE_OK)
        fail("documents: cannot close the database");
}

void store_begin(struct store *store)
{
    execute(store, "BEGIN");
}

void store_commit(struct store *store)
{
    execute(store, "COMMIT");
}

static sqlite3_stmt *prepare(struct store *store, enum store_action action)
{
    sqlite3_stmt **statement = &store->statements[action];

    if (*statement == NULL &&
        sqlite3_prepare_v2(store->db, sql[action], -1, statement, NULL) != SQLITE_OK)
        fail("documents: %s: %s", sql[action], sqlite3_errmsg(store->db));
    return *statement;
}

/* A statement leaves the numbers and the text alone that it does not use. */
static void bind(sqlite3_stmt *statement, int64_t a, int64_t b, const char *text)
{
    int n = sqlite3_bind_parameter_count(statement);

    if (n >= 1)
        (void)sqlite3_bind_int64(statement, 1, a);
    if (n == 2)
        (void)sqlite3_bind_int64(statement, 2, b);
    if (n == 3)
        (void)sqlite3_bind_text(statement, 3, text, -1, SQLITE_STATIC);
}

int64_t store_do(struct store *store, enum store_action action, int64_t a, int64_t b,
                 const char *text)
{
    sqlite3_stmt *statement = prepare(store, action);
    int64_t sum = 0;
    int rc;

    bind(statement, a, b, text);
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
        sum += sqlite3_column_int64(statement, 0);
    if (rc != SQLITE_DONE)
        fail("documents: %s: %s", sql[action], sqlite3_errmsg(store->db));
    (void)sqlite3_reset(statement);
    return sum;
}
