/* Opening with its parts exposed, for tests that tamper. Internal to daemon/store. */
#pragma once

#include "store/filesystem.h"
#include "store/migrate.h"
#include "store/store.h"

struct open_options {
    filesystem_fn filesystem;
    const struct migration *migrations;
    int n_migrations;
    int busy_ms; /* how long to wait for another process's transaction */
};

/* What store_open uses. */
struct open_options open_defaults(void);
int open_store(const char *path, const struct open_options *options, struct store **out,
               struct err *e);
