/* Builds: each step with its command. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json.h"
#include "store/rows.h"

static const struct field build_fields[] = {
    F(struct raw_build, side),
    F(struct raw_build, step),
    F_OPT(struct raw_build, exit_status),
    F_OPT(struct raw_build, wall_ns),
    F(struct raw_build, log),
    F_AS(struct raw_build, attempt, "built_in"),
};

static int add_build(struct store *s, const char *attempt, const struct raw_build *build,
                     const char *argv, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO builds (attempt, seq, side, step, argv, exit_status, wall_ns, log, built_in)"
        " VALUES (:attempt, (SELECT coalesce(max(seq) + 1, 0) FROM builds WHERE attempt ="
        " :attempt), :side, :step, :argv, :exit_status, :wall_ns, :log, :built_in)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_text(&q, ":argv", argv);
    query_bind(&q, build_fields, ARRAY_LEN(build_fields), build);
    return query_run(&q, e);
}

int store_put_build(struct store *s, const char *attempt, const struct raw_build *build,
                    struct err *e)
{
    CLEANUP(buf_deinit) struct buf argv = {0};
    struct json_out o;
    int rc = tx_begin(s, e);
    if (rc != 0)
        return rc;
    json_out_init(&o, &argv);
    json_put_args(&o, NULL, &build->argv);
    return tx_end(s, add_build(s, attempt, build, buf_str(&argv), e), e);
}

static int read_argv(const char *text, struct arena *a, struct args *out, struct err *e)
{
    cJSON *doc = NULL;
    const cJSON *item;
    int rc = json_parse(text, strlen(text), &doc, e);
    if (rc != 0)
        return rc;
    out->v = arena_array(a, (size_t)cJSON_GetArraySize(doc) + 1, sizeof *out->v);
    cJSON_ArrayForEach (item, doc)
        if (cJSON_IsString(item))
            out->v[out->n++] = arena_strdup(a, item->valuestring);
    cJSON_Delete(doc);
    return 0;
}

int store_load_builds(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e)
{
    static const char SQL[] =
        "SELECT side, step, exit_status, wall_ns, log, built_in, argv FROM builds"
        " WHERE attempt = :attempt ORDER BY seq";
    CLEANUP(mem_freep) struct raw_build *list = NULL;
    size_t n = 0, cap = 0;
    struct query q;
    int rc = 0;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    while (rc == 0 && query_row(&q)) {
        MEM_GROW(list, n, cap);
        list[n] = (struct raw_build){0};
        query_read(&q, build_fields, ARRAY_LEN(build_fields), a, &list[n]);
        rc = read_argv((const char *)sqlite3_column_text(q.st, (int)ARRAY_LEN(build_fields)), a,
                       &list[n++].argv, e);
    }
    raw->n_builds = n;
    raw->builds = arena_array(a, n, sizeof *raw->builds);
    if (n)
        memcpy(raw->builds, list, n * sizeof *list);
    int end = query_end(&q, e);
    return rc ? rc : end;
}
