/* Hosts, boots, suites: what jobs and attempts refer to. */
#include "base/mem.h"
#include "store/rows.h"

static const struct field host_fields[] = {
    F(struct host_identity, id),    F(struct host_identity, name),
    F(struct host_identity, model), F(struct host_identity, cpu),
    F(struct host_identity, cores), F(struct host_identity, memory_bytes),
    F(struct host_identity, os),    F(struct host_identity, kernel),
    F(struct host_identity, arch),  F(struct host_identity, tick_ns),
};

/* The number of the row with exactly this identity; -1: there is none. */
static int find_host(struct store *s, const struct host_identity *host, int64_t *number,
                     struct err *e)
{
    static const char SQL[] =
        "SELECT number FROM hosts WHERE id = :id AND name IS :name AND model IS :model"
        " AND cpu IS :cpu AND cores IS :cores AND memory_bytes IS :memory_bytes AND os IS :os"
        " AND kernel IS :kernel AND arch IS :arch AND tick_ns IS :tick_ns";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, host_fields, ARRAY_LEN(host_fields), host);
    *number = query_row(&q) ? query_col_int(&q, 0) : -1;
    return query_end(&q, e);
}

static int add_host(struct store *s, const struct host_identity *host, int64_t wall_ms,
                    int64_t *number, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO hosts (id, name, model, cpu, cores, memory_bytes, os, kernel, arch, tick_ns,"
        " first_ms) VALUES (:id, :name, :model, :cpu, :cores, :memory_bytes, :os, :kernel, :arch,"
        " :tick_ns, :first_ms)";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, host_fields, ARRAY_LEN(host_fields), host);
    query_int(&q, ":first_ms", wall_ms);
    int rc = query_run(&q, e);
    *number = sqlite3_last_insert_rowid(s->db);
    return rc;
}

static int put_boot(struct store *s, const struct boot_identity *boot, int64_t host,
                    int64_t wall_ms, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO boots (id, boot_wall_ms, host, first_ms)"
        " VALUES (:id, :boot_wall_ms, :host, :first_ms)"
        " ON CONFLICT (id) DO UPDATE SET host = excluded.host WHERE host <> excluded.host";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":id", boot->id);
    query_int_opt(&q, ":boot_wall_ms", boot->boot_wall_ms);
    query_int(&q, ":host", host);
    query_int(&q, ":first_ms", wall_ms);
    return query_run(&q, e);
}

int store_boot_put(struct store *s, const struct host_identity *host,
                   const struct boot_identity *boot, int64_t wall_ms, struct err *e)
{
    int64_t number = -1;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    rc = find_host(s, host, &number, e);
    if (rc == 0 && number < 0)
        rc = add_host(s, host, wall_ms, &number, e);
    if (rc == 0)
        rc = put_boot(s, boot, number, wall_ms, e);
    return tx_end(s, rc, e);
}

static const struct field suite_fields[] = {
    F(struct store_suite, sha256),
    F(struct store_suite, name),
    F(struct store_suite, path),
    F(struct store_suite, added_ms),
};

static int put_suite(struct store *s, const struct store_suite *suite, struct err *e)
{
    static const char SQL[] = "INSERT INTO suites (sha256, name, path, added_ms)"
                              " VALUES (:sha256, :name, :path, :added_ms)"
                              " ON CONFLICT (sha256) DO NOTHING";
    struct query q;
    query_begin(&q, s, SQL);
    query_bind(&q, suite_fields, ARRAY_LEN(suite_fields), suite);
    return query_run(&q, e);
}

int store_suite_put(struct store *s, const struct store_suite *suite, struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, put_suite(s, suite, e), e);
}

int store_suite_get(struct store *s, const char *sha256, struct arena *a, struct store_suite **out,
                    struct err *e)
{
    static const char SQL[] =
        "SELECT sha256, name, path, added_ms FROM suites WHERE sha256 = :sha256";
    struct query q;
    size_t n;
    query_begin(&q, s, SQL);
    query_text(&q, ":sha256", sha256);
    *out = query_all(&q, suite_fields, ARRAY_LEN(suite_fields), sizeof **out, a, &n);
    int rc = query_end(&q, e);
    return rc == 0 && n == 0 ? STORE_NONE : rc;
}
