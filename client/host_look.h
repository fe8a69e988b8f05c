/* One look of the daemon at its host (host.quiet): the inventory, and the conditions of one policy.
 * Strings live in the answer. */
#pragma once

#include "client/link/connection.h"
#include "core/quiet/inventory.h"
#include "core/quiet/qualify.h"

struct host_look {
    const char *policy;
    struct inventory inventory;
    int64_t left_out; /* competitors that the daemon did not name */
    int *cpus;        /* their numbers, */
    double *busy_pct; /* and how busy they were */
    size_t n_cpus;
    struct condition_result conditions[COND_COUNT];
    enum tri met;
};

/* No competitor, and every required condition met. */
bool host_look_is_good(const struct host_look *look);
/* 0, or what connection_check says of an answer that is not as it should be. */
int host_look_decode(struct answer *answer, struct host_look *look, struct err *e);
