#include "evidence/manifest.h"

#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"

struct listing {
    char **paths;
    size_t count, cap;
    bool whole; /* nothing is left out */
    struct err *e;
};

static void listing_deinit(struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->paths[i]);
    free(l->paths);
}

static int list_visit(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct listing *l = ctx;
    if (kind == FILE_FOLDER)
        return 0;
    if (kind == FILE_LINK)
        return err_set(l->e, -ELOOP, "evidence.link", path,
                       "%s is a link; evidence holds files only, so replace it by its content.",
                       path);
    if (kind != FILE_REGULAR)
        return err_set(l->e, -EINVAL, "evidence.special", path,
                       "%s is neither a file nor a folder; remove it.", path);
    if (!l->whole && (strcmp(path, MANIFEST_NAME) == 0 || strcmp(path, MANIFEST_SIGNATURE) == 0))
        return 0;
    MEM_GROW(l->paths, l->count, l->cap);
    l->paths[l->count++] = mem_strdup(path);
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int put_file(struct buf *out, const char *dir, const char *prefix, const char *path,
                    struct err *e)
{
    char hex[DIGEST_HEX];
    CLEANUP(mem_freep) char *full = file_join(dir, path);
    CLEANUP(mem_freep) char *name = prefix ? file_join(prefix, path) : mem_strdup(path);
    int rc = digest_file(full, hex, NULL, e);
    return rc ? rc : manifest_line(out, name, hex, e);
}

static int put_dir(struct listing *l, const char *dir, const char *prefix, struct buf *out)
{
    int rc = file_walk(dir, list_visit, l, l->e);
    /* The walk sorts within folders; the manifest sorts whole paths ("a-b" before "a/b"). */
    if (rc == 0 && l->count)
        qsort(l->paths, l->count, sizeof *l->paths, by_bytes);
    for (size_t i = 0; rc == 0 && i < l->count; i++)
        rc = put_file(out, dir, prefix, l->paths[i], l->e);
    return rc;
}

int manifest_of_dir(const char *dir, struct buf *out, struct err *e)
{
    CLEANUP(listing_deinit) struct listing l = {.e = e};
    return put_dir(&l, dir, NULL, out);
}

int manifest_of_part(const char *dir, const char *prefix, struct buf *out, struct err *e)
{
    CLEANUP(listing_deinit) struct listing l = {.e = e, .whole = true};
    return put_dir(&l, dir, prefix, out);
}
