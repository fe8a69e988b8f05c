/* The ground of the store: the connection, transactions, prepared statements, rows as structs.
 *
 * A query's first error sticks: what follows it does nothing, and query_end reports it. Statements
 * are prepared once per connection and found again by the address of their text, which must
 * therefore be static. Internal to daemon/store.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define SQL_CACHE_MAX 256

struct field;

struct cached {
    const char *sql;
    sqlite3_stmt *st;
    /* Where the binds of these fields stand: a row of 35 is not looked up by name again. */
    const struct field *fields;
    int *at;
};

struct store {
    sqlite3 *db;
    char *path;
    bool quiet;                                /* no checkpoint after a commit */
    const struct store_host_hooks *host_hooks; /* borrowed; NULL: none */
    /* Transactions are steps of one larger one; lost: what SQLite rolled back all of it for. */
    bool grouped;
    struct err lost;
    struct cached cache[SQL_CACHE_MAX];
    size_t n_cached;
};

/* Maps a result code of SQLite to the errors of store.h and fills e; 0 for SQLITE_OK. */
int sql_fail(struct store *s, int code, struct err *e);
/* "store.corrupt". */
int sql_corrupt(struct store *s, const char *why, struct err *e);
/* Runs statements that return nothing of interest. */
int sql_exec(struct store *s, const char *sql, struct err *e);

int tx_begin(struct store *s, struct err *e);
/* rc 0 commits, anything else rolls back; returns rc or the error of the commit. */
int tx_end(struct store *s, int rc, struct err *e);
/* Within a group: 0, or why all of it was rolled back. */
int tx_lost(struct store *s, struct err *e);

/* ---- one statement ----------------------------------------------------------------------- */

struct query {
    struct store *s;
    struct cached *cached;
    sqlite3_stmt *st;
    int code;            /* of SQLite; sticky */
    const char *trouble; /* what this program found wrong, static; NULL: SQLite did */
};

/* Names are binds with their colon, ":seq". Strings must live until query_end. */
void query_begin(struct query *q, struct store *s, const char *sql);
void query_text(struct query *q, const char *name, const char *v); /* NULL is NULL */
void query_int(struct query *q, const char *name, int64_t v);
void query_int_opt(struct query *q, const char *name, int64_t v); /* -1 is NULL */

bool query_row(struct query *q); /* true: a row; false: no more, or an error */
const char *query_col_text(struct query *q, int column, struct arena *a); /* NULL is NULL */
int64_t query_col_int(struct query *q, int column);
int64_t query_col_int_opt(struct query *q, int column); /* NULL is -1 */

/* Fails the query by content that this version cannot read. */
void query_unreadable(struct query *q, const char *trouble);
/* Makes the statement ready for its next use. 0 or an error of store.h. */
int query_end(struct query *q, struct err *e);
/* Steps a statement without result to its end, then query_end. */
int query_run(struct query *q, struct err *e);
/* Steps a statement without result to its end; its binds stay for the next row. */
void query_step(struct query *q);
/* Rows changed by the last statement of this connection. */
int64_t sql_changes(struct store *s);

/* ---- rows as structs: one description binds and reads back ------------------------------- */

enum field_kind {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_INT64,
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_REAL,
    FIELD_WORD /* an enum, stored by its spelling */
};

struct words {
    const char *(*name)(int);
    int (*parse)(const char *);
};

struct field {
    const char *bind; /* ":column" */
    enum field_kind kind;
    bool optional; /* integers and words: -1 is NULL */
    size_t offset;
    const struct words *words;
};

#define FIELD_KIND(T, m)                                                                           \
    _Generic(((T *)0)->m,                                                                          \
        const char *: FIELD_TEXT,                                                                  \
        int: FIELD_INT,                                                                            \
        int64_t: FIELD_INT64,                                                                      \
        size_t: FIELD_SIZE,                                                                        \
        bool: FIELD_BOOL,                                                                          \
        double: FIELD_REAL)

/* F: column of the same name. F_OPT: -1 is NULL. F_AS: a column of another name. F_WORD: an enum
 * with the name and parse functions of WORDS(prefix, ...); F_WORD_OPT: -1 is NULL. */
#define F(T, m)                                                                                    \
    {                                                                                              \
        ":" #m, FIELD_KIND(T, m), false, offsetof(T, m), NULL                                      \
    }
#define F_OPT(T, m)                                                                                \
    {                                                                                              \
        ":" #m, FIELD_KIND(T, m), true, offsetof(T, m), NULL                                       \
    }
#define F_AS(T, m, column)                                                                         \
    {                                                                                              \
        ":" column, FIELD_KIND(T, m), false, offsetof(T, m), NULL                                  \
    }
#define F_OPT_AS(T, m, column)                                                                     \
    {                                                                                              \
        ":" column, FIELD_KIND(T, m), true, offsetof(T, m), NULL                                   \
    }
#define F_WORD(T, m, prefix) F_WORD_AS(T, m, #m, prefix)
#define F_WORD_AS(T, m, column, prefix)                                                            \
    {                                                                                              \
        ":" column, FIELD_WORD, false, offsetof(T, m), &prefix##_words                             \
    }
#define F_WORD_OPT(T, m, prefix)                                                                   \
    {                                                                                              \
        ":" #m, FIELD_WORD, true, offsetof(T, m), &prefix##_words                                  \
    }

/* The functions of an enum, with plain ints as the descriptions hold them. */
#define WORDS(prefix, type)                                                                        \
    static const char *prefix##_word(int v)                                                        \
    {                                                                                              \
        return prefix##_name((enum type)v);                                                        \
    }                                                                                              \
    static const struct words prefix##_words = {prefix##_word, prefix##_parse}

/* Binds the members of the struct at obj. A statement is used with one description only. */
void query_bind(struct query *q, const struct field *fields, size_t n, const void *obj);
/* As query_bind, for one row of many: a member that is as in `before` keeps the bind it has; before
 * NULL binds all. Both must live until query_end. */
void query_bind_next(struct query *q, const struct field *fields, size_t n, const void *obj,
                     const void *before);
/* Reads the row into the struct at obj: column i is fields[i], by name too. */
void query_read(struct query *q, const struct field *fields, size_t n, struct arena *a, void *obj);
/* All rows as an array of structs of `size` bytes in a; NULL when there are none. */
void *query_all(struct query *q, const struct field *fields, size_t n, size_t size, struct arena *a,
                size_t *count);
