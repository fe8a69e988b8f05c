/* What an attempt used: sources, artifacts, tools, rechecks. */
#include "base/mem.h"
#include "store/rows.h"

WORDS(recheck_kind, recheck_kind);

int rows_add_list(struct store *s, const struct list_table *table, const char *attempt,
                  const void *list, size_t n, struct err *e)
{
    const char *item = list, *before = NULL;
    struct query q;
    if (n == 0)
        return 0;
    query_begin(&q, s, table->insert);
    query_text(&q, ":attempt", attempt);
    for (size_t i = 0; i < n; i++, before = item, item += table->item_bytes) {
        query_bind_next(&q, table->fields, table->n_fields, item, before);
        query_step(&q);
    }
    return query_end(&q, e);
}

int rows_put_list(struct store *s, const struct list_table *table, const char *attempt,
                  const void *items, size_t n, struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, rows_add_list(s, table, attempt, items, n, e), e);
}

void *rows_load_list(struct store *s, const struct list_table *table, const char *attempt,
                     struct arena *a, size_t *n, int *rc, struct err *e)
{
    struct query q;
    query_begin(&q, s, table->select);
    query_text(&q, ":attempt", attempt);
    void *items = query_all(&q, table->fields, table->n_fields, table->item_bytes, a, n);
    *rc = query_end(&q, e);
    return items;
}

/* ---- sources ---- */

static const struct field source_fields[] = {
    F(struct raw_source, side),      F(struct raw_source, repo),
    F(struct raw_source, rev),       F_AS(struct raw_source, commit, "commit_id"),
    F(struct raw_source, head),      F(struct raw_source, detached),
    F(struct raw_source, clean),     F_OPT(struct raw_source, path_bytes),
    F_OPT(struct raw_source, files), F(struct raw_source, tree_sha256),
};

static const struct list_table sources = {
    .insert = "INSERT INTO sources (attempt, seq, side, repo, rev, commit_id, head, detached,"
              " clean, path_bytes, files, tree_sha256) VALUES (:attempt,"
              " (SELECT coalesce(max(seq) + 1, 0) FROM sources WHERE attempt = :attempt), :side,"
              " :repo, :rev, :commit_id, :head, :detached, :clean, :path_bytes, :files,"
              " :tree_sha256)",
    .select = "SELECT side, repo, rev, commit_id, head, detached, clean, path_bytes, files,"
              " tree_sha256 FROM sources WHERE attempt = :attempt ORDER BY seq",
    .fields = source_fields,
    .n_fields = ARRAY_LEN(source_fields),
    .item_bytes = sizeof(struct raw_source),
};

int store_put_sources(struct store *s, const char *attempt, const struct raw_source *list, size_t n,
                      struct err *e)
{
    int rc = tx_begin(s, e);
    if (rc)
        return rc;
    rc = rows_add_list(s, &sources, attempt, list, n, e);
    if (rc == 0)
        rc = rows_add_corrections(s, attempt, list, n, e);
    if (rc == 0)
        rc = rows_add_variants(s, attempt, list, n, e);
    return tx_end(s, rc, e);
}

int store_load_sources(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                       struct err *e)
{
    int rc;
    raw->sources = rows_load_list(s, &sources, attempt, a, &raw->n_sources, &rc, e);
    if (rc == 0)
        rc = rows_load_corrections(s, attempt, a, raw, e);
    return rc ? rc : rows_load_variants(s, attempt, a, raw, e);
}

/* ---- artifacts ---- */

static const struct field artifact_fields[] = {
    F(struct raw_artifact, side),
    F(struct raw_artifact, path),
    F_OPT(struct raw_artifact, bytes),
    F(struct raw_artifact, sha256),
};

static const struct list_table artifacts = {
    .insert = "INSERT INTO artifacts (attempt, seq, side, path, bytes, sha256) VALUES (:attempt,"
              " (SELECT coalesce(max(seq) + 1, 0) FROM artifacts WHERE attempt = :attempt), :side,"
              " :path, :bytes, :sha256)",
    .select = "SELECT side, path, bytes, sha256 FROM artifacts WHERE attempt = :attempt"
              " ORDER BY seq",
    .fields = artifact_fields,
    .n_fields = ARRAY_LEN(artifact_fields),
    .item_bytes = sizeof(struct raw_artifact),
};

int store_put_artifacts(struct store *s, const char *attempt, const struct raw_artifact *list,
                        size_t n, struct err *e)
{
    return rows_put_list(s, &artifacts, attempt, list, n, e);
}

int store_load_artifacts(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                         struct err *e)
{
    int rc;
    raw->artifacts = rows_load_list(s, &artifacts, attempt, a, &raw->n_artifacts, &rc, e);
    return rc;
}

/* ---- tools ---- */

static const struct field tool_fields[] = {
    F(struct raw_tool, name),
    F(struct raw_tool, path),
    F(struct raw_tool, version),
    F(struct raw_tool, sha256),
};

static const struct list_table tools = {
    .insert = "INSERT INTO tools (attempt, seq, name, path, version, sha256) VALUES (:attempt,"
              " (SELECT coalesce(max(seq) + 1, 0) FROM tools WHERE attempt = :attempt), :name,"
              " :path, :version, :sha256)",
    .select = "SELECT name, path, version, sha256 FROM tools WHERE attempt = :attempt"
              " ORDER BY seq",
    .fields = tool_fields,
    .n_fields = ARRAY_LEN(tool_fields),
    .item_bytes = sizeof(struct raw_tool),
};

int store_put_tools(struct store *s, const char *attempt, const struct raw_tool *list, size_t n,
                    struct err *e)
{
    return rows_put_list(s, &tools, attempt, list, n, e);
}

int store_load_tools(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                     struct err *e)
{
    int rc;
    raw->tools = rows_load_list(s, &tools, attempt, a, &raw->n_tools, &rc, e);
    return rc;
}

/* ---- rechecks ---- */

static const struct field recheck_fields[] = {
    F_WORD(struct raw_recheck, kind, recheck_kind),
    F(struct raw_recheck, name),
    F(struct raw_recheck, sha256),
    F(struct raw_recheck, again),
};

static const struct list_table rechecks = {
    .insert = "INSERT INTO rechecks (attempt, seq, kind, name, sha256, again) VALUES (:attempt,"
              " (SELECT coalesce(max(seq) + 1, 0) FROM rechecks WHERE attempt = :attempt), :kind,"
              " :name, :sha256, :again)",
    .select = "SELECT kind, name, sha256, again FROM rechecks WHERE attempt = :attempt"
              " ORDER BY seq",
    .fields = recheck_fields,
    .n_fields = ARRAY_LEN(recheck_fields),
    .item_bytes = sizeof(struct raw_recheck),
};

int store_put_rechecks(struct store *s, const char *attempt, const struct raw_recheck *list,
                       size_t n, struct err *e)
{
    return rows_put_list(s, &rechecks, attempt, list, n, e);
}

int store_load_rechecks(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                        struct err *e)
{
    int rc;
    raw->rechecks = rows_load_list(s, &rechecks, attempt, a, &raw->n_rechecks, &rc, e);
    return rc;
}
