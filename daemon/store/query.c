#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

static sqlite3_stmt *cached(struct store *s, const char *sql, int *code)
{
    for (size_t i = 0; i < s->n_cached; i++)
        if (s->cache[i].sql == sql)
            return s->cache[i].st;
    if (s->n_cached == SQL_CACHE_MAX) {
        *code = SQLITE_MISUSE;
        return NULL;
    }
    sqlite3_stmt *st = NULL;
    *code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL);
    if (st)
        s->cache[s->n_cached++] = (struct cached){sql, st};
    return st;
}

static void fail_query(struct query *q, int code, const char *trouble)
{
    if (q->code != SQLITE_OK)
        return;
    q->code = code;
    q->trouble = trouble;
}

static void misuse(struct query *q, const char *trouble)
{
    fail_query(q, SQLITE_MISUSE, trouble);
}

void query_unreadable(struct query *q, const char *trouble)
{
    fail_query(q, SQLITE_CORRUPT, trouble);
}

void query_begin(struct query *q, struct store *s, const char *sql)
{
    *q = (struct query){.s = s};
    q->st = cached(s, sql, &q->code);
    if (q->st && sqlite3_stmt_busy(q->st)) {
        q->st = NULL; /* its owner is still reading */
        misuse(q, "a statement is used inside itself");
    }
}

static int bind_index(struct query *q, const char *name)
{
    if (q->code != SQLITE_OK)
        return 0;
    int i = sqlite3_bind_parameter_index(q->st, name);
    if (i == 0)
        misuse(q, "a statement lacks a bind");
    return i;
}

static void bound(struct query *q, int code)
{
    if (q->code == SQLITE_OK)
        q->code = code;
}

void query_text(struct query *q, const char *name, const char *v)
{
    int i = bind_index(q, name);
    if (i)
        bound(q, sqlite3_bind_text(q->st, i, v, -1, SQLITE_STATIC));
}

void query_int(struct query *q, const char *name, int64_t v)
{
    int i = bind_index(q, name);
    if (i)
        bound(q, sqlite3_bind_int64(q->st, i, v));
}

void query_int_opt(struct query *q, const char *name, int64_t v)
{
    int i = bind_index(q, name);
    if (i)
        bound(q, v == -1 ? sqlite3_bind_null(q->st, i) : sqlite3_bind_int64(q->st, i, v));
}

void query_real(struct query *q, const char *name, double v)
{
    int i = bind_index(q, name);
    if (i)
        bound(q, isnan(v) ? sqlite3_bind_null(q->st, i) : sqlite3_bind_double(q->st, i, v));
}

bool query_row(struct query *q)
{
    if (q->code != SQLITE_OK)
        return false;
    int code = sqlite3_step(q->st);
    if (code == SQLITE_ROW)
        return true;
    if (code != SQLITE_DONE)
        q->code = code;
    return false;
}

const char *query_col_text(struct query *q, int column, struct arena *a)
{
    return arena_strdup(a, (const char *)sqlite3_column_text(q->st, column));
}

int64_t query_col_int(struct query *q, int column)
{
    return sqlite3_column_int64(q->st, column);
}

int64_t query_col_int_opt(struct query *q, int column)
{
    bool null = sqlite3_column_type(q->st, column) == SQLITE_NULL;
    return null ? -1 : sqlite3_column_int64(q->st, column);
}

static int fail_by_ourselves(const struct query *q, struct err *e)
{
    if (q->code == SQLITE_CORRUPT)
        return err_set(e, -EBADMSG, "store.corrupt", "",
                       "%s holds %s: restore it from a backup, or use the version that wrote it",
                       q->s->path, q->trouble);
    return err_set(e, -EIO, "store.internal", "",
                   "%s in %s: this is a fault of aurabench, please report it", q->trouble,
                   q->s->path);
}

int query_end(struct query *q, struct err *e)
{
    int rc = q->trouble ? fail_by_ourselves(q, e) : sql_fail(q->s, q->code, e);
    if (q->st) {
        (void)sqlite3_reset(q->st);
        (void)sqlite3_clear_bindings(q->st);
    }
    return rc;
}

int query_run(struct query *q, struct err *e)
{
    (void)query_row(q);
    return query_end(q, e);
}

int64_t sql_changes(struct store *s)
{
    return sqlite3_changes64(s->db);
}

/* ---- rows as structs ---- */

static int member_word(const void *member)
{
    int v;
    memcpy(&v, member, sizeof v); /* an enum has the size of an int here */
    return v;
}

static void bind_integer(struct query *q, const struct field *f, int64_t v)
{
    if (f->optional)
        query_int_opt(q, f->bind, v);
    else
        query_int(q, f->bind, v);
}

static void bind_member(struct query *q, const struct field *f, const void *m)
{
    switch (f->kind) {
    case FIELD_TEXT:
        query_text(q, f->bind, *(const char *const *)m);
        return;
    case FIELD_INT:
        bind_integer(q, f, *(const int *)m);
        return;
    case FIELD_INT64:
        bind_integer(q, f, *(const int64_t *)m);
        return;
    case FIELD_SIZE:
        query_int(q, f->bind, (int64_t) * (const size_t *)m);
        return;
    case FIELD_BOOL:
        query_int(q, f->bind, *(const bool *)m);
        return;
    case FIELD_REAL:
        query_real(q, f->bind, *(const double *)m);
        return;
    case FIELD_WORD:
        query_text(q, f->bind, f->words->name(member_word(m)));
        return;
    }
}

void query_bind(struct query *q, const struct field *fields, size_t n, const void *obj)
{
    for (size_t i = 0; i < n; i++)
        bind_member(q, &fields[i], (const char *)obj + fields[i].offset);
}

static double column_real(struct query *q, int column)
{
    bool null = sqlite3_column_type(q->st, column) == SQLITE_NULL;
    return null ? (double)NAN : sqlite3_column_double(q->st, column);
}

static void read_word(struct query *q, int column, const struct field *f, void *m)
{
    int v = f->words->parse((const char *)sqlite3_column_text(q->st, column));
    if (v < 0)
        query_unreadable(q, "a word that this version does not know");
    else
        memcpy(m, &v, sizeof v);
}

static void read_member(struct query *q, int column, const struct field *f, struct arena *a,
                        void *m)
{
    int64_t v = f->optional ? query_col_int_opt(q, column) : query_col_int(q, column);
    switch (f->kind) {
    case FIELD_TEXT:
        *(const char **)m = query_col_text(q, column, a);
        return;
    case FIELD_INT:
        *(int *)m = (int)v;
        return;
    case FIELD_INT64:
        *(int64_t *)m = v;
        return;
    case FIELD_SIZE:
        *(size_t *)m = (size_t)v;
        return;
    case FIELD_BOOL:
        *(bool *)m = v != 0;
        return;
    case FIELD_REAL:
        *(double *)m = column_real(q, column);
        return;
    case FIELD_WORD:
        read_word(q, column, f, m);
        return;
    }
}

void query_read(struct query *q, const struct field *fields, size_t n, struct arena *a, void *obj)
{
    for (size_t i = 0; i < n && q->code == SQLITE_OK; i++) {
        const char *name = sqlite3_column_name(q->st, (int)i);
        if (!name || strcmp(name, fields[i].bind + 1) != 0)
            misuse(q, "the columns of a statement are not its fields");
        else
            read_member(q, (int)i, &fields[i], a, (char *)obj + fields[i].offset);
    }
}

void *query_all(struct query *q, const struct field *fields, size_t n, size_t size, struct arena *a,
                size_t *count)
{
    CLEANUP(mem_freep) char *rows = NULL;
    size_t used = 0, cap = 0;
    while (query_row(q)) {
        if (used == cap) {
            cap = cap ? cap * 2 : 16;
            rows = mem_realloc_array(rows, cap, size);
        }
        memset(rows + used * size, 0, size);
        query_read(q, fields, n, a, rows + used * size);
        used++;
    }
    void *out = arena_array(a, used, size);
    if (used)
        memcpy(out, rows, used * size);
    *count = used;
    return out;
}
