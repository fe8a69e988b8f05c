#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "store/sql.h"

static struct cached *cached(struct store *s, const char *sql, int *code)
{
    for (size_t i = 0; i < s->n_cached; i++)
        if (s->cache[i].sql == sql)
            return &s->cache[i];
    if (s->n_cached == SQL_CACHE_MAX) {
        *code = SQLITE_MISUSE;
        return NULL;
    }
    sqlite3_stmt *st = NULL;
    *code = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &st, NULL);
    if (!st)
        return NULL;
    s->cache[s->n_cached] = (struct cached){.sql = sql, .st = st};
    return &s->cache[s->n_cached++];
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
    q->cached = cached(s, sql, &q->code);
    q->st = q->cached ? q->cached->st : NULL;
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

void query_step(struct query *q)
{
    (void)query_row(q);
    if (q->code == SQLITE_OK) /* else query_end asks why */
        (void)sqlite3_reset(q->st);
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

static int bind_integer(sqlite3_stmt *st, int at, const struct field *f, int64_t v)
{
    return f->optional && v == -1 ? sqlite3_bind_null(st, at) : sqlite3_bind_int64(st, at, v);
}

static int bind_real(sqlite3_stmt *st, int at, double v)
{
    return isnan(v) ? sqlite3_bind_null(st, at) : sqlite3_bind_double(st, at, v);
}

static int bind_text(sqlite3_stmt *st, int at, const char *v)
{
    return sqlite3_bind_text(st, at, v, -1, SQLITE_STATIC);
}

static int bind_member(sqlite3_stmt *st, int at, const struct field *f, const void *m)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return bind_text(st, at, *(const char *const *)m);
    case FIELD_INT:
        return bind_integer(st, at, f, *(const int *)m);
    case FIELD_INT64:
        return bind_integer(st, at, f, *(const int64_t *)m);
    case FIELD_SIZE:
        return sqlite3_bind_int64(st, at, (int64_t) * (const size_t *)m);
    case FIELD_BOOL:
        return sqlite3_bind_int64(st, at, *(const bool *)m);
    case FIELD_REAL:
        return bind_real(st, at, *(const double *)m);
    case FIELD_WORD:
        return bind_text(st, at, f->words->name(member_word(m)));
    }
    return SQLITE_MISUSE;
}

static void find_binds(struct query *q, const struct field *fields, size_t n)
{
    struct cached *c = q->cached;
    if (q->code != SQLITE_OK || c->fields == fields)
        return;
    if (c->fields) {
        misuse(q, "a statement has two descriptions");
        return;
    }
    c->fields = fields;
    c->at = mem_realloc_array(NULL, n, sizeof *c->at);
    for (size_t i = 0; i < n; i++)
        c->at[i] = bind_index(q, fields[i].bind);
}

static bool member_same(const struct field *f, const void *a, const void *b)
{
    switch (f->kind) {
    case FIELD_TEXT:
        return *(const char *const *)a == *(const char *const *)b;
    case FIELD_INT:
        return *(const int *)a == *(const int *)b;
    case FIELD_INT64:
        return *(const int64_t *)a == *(const int64_t *)b;
    case FIELD_SIZE:
        return *(const size_t *)a == *(const size_t *)b;
    case FIELD_BOOL:
        return *(const bool *)a == *(const bool *)b;
    case FIELD_REAL:
        return memcmp(a, b, sizeof(double)) == 0;
    case FIELD_WORD:
        return member_word(a) == member_word(b);
    }
    return false;
}

void query_bind_next(struct query *q, const struct field *fields, size_t n, const void *obj,
                     const void *before)
{
    find_binds(q, fields, n);
    for (size_t i = 0; i < n && q->code == SQLITE_OK; i++) {
        size_t at = fields[i].offset;
        const void *m = (const char *)obj + at;
        if (!before || !member_same(&fields[i], m, (const char *)before + at))
            q->code = bind_member(q->st, q->cached->at[i], &fields[i], m);
    }
}

void query_bind(struct query *q, const struct field *fields, size_t n, const void *obj)
{
    query_bind_next(q, fields, n, obj, NULL);
}

static double column_real(struct query *q, int column)
{
    bool null = sqlite3_column_type(q->st, column) == SQLITE_NULL;
    return null ? (double)NAN : sqlite3_column_double(q->st, column);
}

static void read_word(struct query *q, int column, const struct field *f, void *m)
{
    const char *text = (const char *)sqlite3_column_text(q->st, column);
    bool none = f->optional && !text;
    int v = none ? -1 : f->words->parse(text);
    if (v < 0 && !none)
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
