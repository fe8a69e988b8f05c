/* The part of the store that holds receipts of portable-kernel benchmarks. The rules are those of
 * store.h.
 */
#pragma once

#include "core/kernel/kernel.h"
#include "store/store.h"

struct store_kernel {
    const char *id, *sha256;
    int64_t wall_ms, peer_uid;
    const char *machine; /* NULL: unknown */
    const char *schema;
    enum kernel_target target;
    enum kernel_profile profile;
    const char *source, *entry;
    int64_t workers, iterations;
    const char *document; /* JSON text, whole, canonical */
};

/* The same document again is the same receipt: *duplicate is then true, and id that of the one
 * that is there. */
int store_kernel_put(struct store *s, const struct store_kernel *row, char id[ULID_LEN + 1],
                     bool *duplicate, struct err *e);
/* The latest first, from before this id (NULL: from the latest). */
int store_kernel_list(struct store *s, const char *before, int limit, struct arena *a,
                      struct store_kernel **out, size_t *n, struct err *e);
/* By its id, or a beginning or end of it. -ENOENT "kernel.not_found"; STORE_AMBIGUOUS
 * "kernel.ambiguous". */
int store_kernel_find(struct store *s, const char *text, struct arena *a, struct store_kernel *out,
                      struct err *e);
