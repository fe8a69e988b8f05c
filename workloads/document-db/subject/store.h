/* Documents in a table of SQLite, each as JSON text under its number. Every function ends the
 * program with a sentence when something fails. */
#ifndef STORE_H
#define STORE_H

#include <sqlite3.h>
#include <stdint.h>

enum store_action {
    STORE_INSERT, /* number, JSON text */
    STORE_GET,    /* number */
    STORE_FIND,   /* age: by a scan over all documents */
    STORE_ALL,
    STORE_UPDATE, /* number, new age */
    STORE_DELETE, /* number */
    STORE_ACTIONS
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[STORE_ACTIONS];
};

/* ":memory:", or a file. The table is made where it is missing. */
void store_open(struct store *store, const char *path);
void store_close(struct store *store);

/* Several inserts as one transaction. */
void store_begin(struct store *store);
void store_commit(struct store *store);

/* Does it and returns the sum of what it tells of each document that it met: its number if it was
 * found by its age, else its age. text may be NULL where the action has no text. */
int64_t store_do(struct store *store, enum store_action action, int64_t a, int64_t b,
                 const char *text);

#endif
