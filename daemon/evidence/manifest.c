#include "evidence/manifest.h"

#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"

static void put_escaped(struct buf *out, const char *path)
{
    for (; *path; path++) {
        if (*path == '\\')
            buf_puts(out, "\\\\");
        else if (*path == '\n')
            buf_puts(out, "\\n");
        else
            buf_putc(out, *path);
    }
}

int manifest_line(struct buf *out, const char *path, const char *sha256, struct err *e)
{
    if (!file_path_is_inside(path))
        return err_set(e, -EINVAL, "evidence.name", path,
                       "A manifest names files below its folder only; %s is not one.", path);
    if (strchr(path, '\r'))
        return err_set(
            e, -EINVAL, "evidence.name", path,
            "A file name holds a carriage return, which checksum tools read differently; "
            "rename the file.");
    if (strpbrk(path, "\\\n"))
        buf_putc(out, '\\');
    buf_printf(out, "%s  ", sha256);
    put_escaped(out, path);
    buf_putc(out, '\n');
    return 0;
}

struct listing {
    char **paths;
    size_t count, cap;
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
    if (strcmp(path, MANIFEST_NAME) == 0 || strcmp(path, MANIFEST_SIGNATURE) == 0)
        return 0;
    MEM_GROW(l->paths, l->count, l->cap);
    l->paths[l->count++] = mem_strdup(path);
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int put_file(struct buf *out, const char *dir, const char *path, struct err *e)
{
    char hex[DIGEST_HEX];
    CLEANUP(mem_freep) char *full = file_join(dir, path);
    int rc = digest_file(full, hex, NULL, e);
    return rc ? rc : manifest_line(out, path, hex, e);
}

int manifest_of_dir(const char *dir, struct buf *out, struct err *e)
{
    CLEANUP(listing_deinit) struct listing l = {.e = e};
    int rc = file_walk(dir, list_visit, &l, e);
    /* The walk sorts within folders; the manifest sorts whole paths ("a-b" before "a/b"). */
    if (rc == 0 && l.count)
        qsort(l.paths, l.count, sizeof *l.paths, by_bytes);
    for (size_t i = 0; rc == 0 && i < l.count; i++)
        rc = put_file(out, dir, l.paths[i], e);
    return rc;
}
