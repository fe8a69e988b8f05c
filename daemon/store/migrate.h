/* Migrations: the embedded files of db/migrations, applied in order, each in one transaction.
 *
 * What was applied is kept with its SHA-256, so that a file that changed afterwards, a gap, or a
 * database from a newer version is refused before anything is written. Internal to daemon/store.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "store/sql.h"

/* "AuBe", as PRAGMA application_id. */
#define STORE_APPLICATION_ID 0x41754265

struct migration {
    int version;      /* 1.. */
    const char *name; /* the file is NNNN_name.sql */
    const char *sql;
    size_t len;
};
extern const struct migration migrations[];
extern const int migrations_count;

/* "store.foreign". */
int migrate_foreign(const char *path, struct err *e);
/* Whose database it is: 0 for ours or an empty one; "store.foreign" otherwise. */
int migrate_check_owner(struct store *s, struct err *e);
/* How many of them are not yet applied; errors as of migrate, but nothing is written. */
int migrate_pending(struct store *s, const struct migration *list, int n, int *pending,
                    struct err *e);
/* Brings the database to the last of the n given migrations. */
int migrate(struct store *s, const struct migration *list, int n, struct err *e);
