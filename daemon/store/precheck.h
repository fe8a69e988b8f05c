/* What is looked at before a database is opened for writing; nothing is changed. Internal to
 * daemon/store. 0, or -errno with e filled. */
#pragma once

#include <sqlite3.h>

#include "base/err.h"

/* A regular file, no link: "store.not_database". */
int precheck_kind(const char *path, struct err *e);
/* The same, of this user, who may write it and nobody else: "store.not_database",
 * "store.unsafe_mode", "store.denied". */
int precheck_file(const char *path, struct err *e);
/* "store.foreign" when the file says that it is another program's, "store.corrupt" when it is cut
 * off within a page. */
int precheck_head(const char *path, struct err *e);
/* "store.corrupt" when what lies in the place of its log is none. */
int precheck_log(const char *path, struct err *e);

/* Opens the file as it lies there: read-only, without locks, and without its log. A code of SQLite;
 * *db is to be closed in any case. */
int precheck_open_still(const char *path, sqlite3 **db);
