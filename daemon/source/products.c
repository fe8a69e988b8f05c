/* Build products: what a build left in its folder. */
#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "source/internal.h"

struct listing {
    struct arena *a;
    const char *dir, *side;
    struct raw_artifact *items;
    size_t n, cap;
    struct err *e;
};

static int add_product(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct listing *l = ctx;
    CLEANUP(mem_freep) char *full = file_join(l->dir, path);
    CLEANUP(buf_deinit) struct buf shown = {0};
    char hex[DIGEST_HEX];
    int64_t read_bytes = bytes;

    (void)mode;
    if (kind != FILE_REGULAR)
        return 0;
    if (l->n == SOURCE_ARTIFACTS_MAX)
        return err_set(l->e, -EFBIG, "source.too_many_files", "build",
                       "the build made more than %d files in {build}; let it keep what is only "
                       "scratch elsewhere",
                       SOURCE_ARTIFACTS_MAX);
    int rc = digest_file(full, hex, &read_bytes, l->e);
    if (rc < 0)
        return rc;
    source_show_path(&shown, path);
    MEM_GROW(l->items, l->n, l->cap);
    l->items[l->n++] = (struct raw_artifact){.side = l->side,
                                             .path = arena_strdup(l->a, shown.data),
                                             .bytes = read_bytes,
                                             .sha256 = arena_strdup(l->a, hex)};
    return 0;
}

int source_hash_folder(struct arena *a, const char *dir, const char *side,
                       struct raw_artifact **out, size_t *n, struct err *e)
{
    struct listing l = {.a = a, .dir = dir, .side = side, .e = e};
    int rc = file_walk(dir, add_product, &l, e);

    *out = NULL;
    *n = 0;
    if (rc == 0 && l.n) {
        *out = arena_array(a, l.n, sizeof **out);
        memcpy(*out, l.items, l.n * sizeof **out);
        *n = l.n;
    }
    free(l.items);
    return rc;
}
