#include "proto/evidence/pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/json/json_text.h"

#define HEADER "aurabench-suite-pack 1\n"
#define CODE "suite.pack_bad"

static int bad(struct err *e, const char *path, const char *why)
{
    /* The reason first: a path can be longer than the sentence may be. */
    return err_set(e, -EINVAL, CODE, path, "the suite cannot be taken: %s%s%s", why,
                   path[0] ? ": " : "", path);
}

static bool is_printable_utf8(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t left = strlen(s);

    while (left) {
        size_t n = json_utf8_len(p, left);
        if (n == 0 || *p < 0x20 || *p == 0x7f)
            return false;
        p += n;
        left -= n;
    }
    return true;
}

static bool has_git_component(const char *path)
{
    while (path) {
        size_t len = strcspn(path, "/");
        if (len == 4 && memcmp(path, ".git", 4) == 0)
            return true;
        path = path[len] ? path + len + 1 : NULL;
    }
    return false;
}

int pack_check_path(const char *path, struct err *e)
{
    /* Named by its fault alone, as the name itself must not be shown. */
    if (!is_printable_utf8(path))
        return bad(e, "", "a file name has control characters or is not UTF-8; rename the file");
    if (!file_path_is_inside(path))
        return bad(e, path, "a path must be relative and must not contain empty, . or .. parts");
    if (strlen(path) > PACK_PATH_MAX)
        return bad(e, "", "a path is longer than 1024 bytes; shorten it");
    if (has_git_component(path))
        return bad(e, path, "the parts of a git repository do not belong to a suite");
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct pack_entry *)a)->path, ((const struct pack_entry *)b)->path);
}

/* The order puts "a-b" between "a" and "a/b": each folder part has to be sought. */
static bool has_file_as_folder(const struct pack_entry *entries, size_t n, const char *path)
{
    char folder[PACK_PATH_MAX + 1];

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t len = (size_t)(slash - path);
        memcpy(folder, path, len);
        folder[len] = '\0';
        struct pack_entry key = {.path = folder};
        if (bsearch(&key, entries, n, sizeof *entries, by_path))
            return true;
    }
    return false;
}

/* What must hold between the entries of one pack; each one's path is already checked. */
static int check_order(const struct pack_entry *entries, size_t n, struct err *e)
{
    if (n > PACK_FILES_MAX)
        return bad(e, "", "there are more than 4096 files");
    for (size_t i = 0; i < n; i++) {
        int order = i ? strcmp(entries[i - 1].path, entries[i].path) : -1;
        if (order == 0)
            return bad(e, entries[i].path, "the path stands there twice");
        if (order > 0)
            return bad(e, entries[i].path, "the paths are not sorted");
        if (has_file_as_folder(entries, i, entries[i].path))
            return bad(e, entries[i].path, "one of its folders is also a file");
    }
    return 0;
}

static int check_size(const struct pack_entry *entries, size_t n, struct err *e)
{
    size_t total = strlen(HEADER);

    for (size_t i = 0; i < n; i++) {
        size_t with = strlen(entries[i].path) + strlen("100644") + 3;
        with += (size_t)snprintf(NULL, 0, "%zu", entries[i].len);
        if (entries[i].len > PACK_BYTES_MAX || total + with + entries[i].len > PACK_BYTES_MAX)
            return bad(e, entries[i].path, "the files are larger than 64 MiB together");
        total += with + entries[i].len;
    }
    return 0;
}

int pack_write(struct pack_entry *entries, size_t n, struct buf *out, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = pack_check_path(entries[i].path, e);
    if (rc == 0 && n)
        qsort(entries, n, sizeof *entries, by_path);
    if (rc == 0)
        rc = check_order(entries, n, e);
    if (rc == 0)
        rc = check_size(entries, n, e);
    if (rc < 0)
        return rc;
    buf_puts(out, HEADER);
    for (size_t i = 0; i < n; i++) {
        buf_add(out, entries[i].path, strlen(entries[i].path) + 1);
        buf_puts(out, entries[i].executable ? "100755" : "100644");
        buf_putc(out, '\0');
        buf_printf(out, "%zu", entries[i].len);
        buf_putc(out, '\0');
        buf_add(out, entries[i].data, entries[i].len);
    }
    return 0;
}

struct cursor {
    const char *p;
    size_t left;
};

/* The text up to the next NUL, or NULL when there is none within max bytes. */
static const char *take_text(struct cursor *c, size_t max)
{
    const char *text = c->p;
    const char *end = memchr(text, '\0', c->left < max + 1 ? c->left : max + 1);

    if (!end)
        return NULL;
    c->left -= (size_t)(end - text) + 1;
    c->p = end + 1;
    return text;
}

/* Decimal in its one form, below the limit of a pack. */
static bool parse_size(const char *text, size_t *size)
{
    *size = 0;
    if (text[0] == '\0' || (text[0] == '0' && text[1]))
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        *size = *size * 10 + (size_t)(*text - '0');
        if (*size > PACK_BYTES_MAX)
            return false;
    }
    return true;
}

static int take_entry(struct cursor *c, struct pack_entry *entry, struct err *e)
{
    const char *path = take_text(c, PACK_PATH_MAX);
    int rc = path ? pack_check_path(path, e) : bad(e, "", "a path is cut off or too long");

    if (rc < 0)
        return rc;
    const char *mode = take_text(c, 6);
    if (!mode || (strcmp(mode, "100644") != 0 && strcmp(mode, "100755") != 0))
        return bad(e, path, "its mode is neither 100644 nor 100755");
    const char *size = take_text(c, 8);
    if (!size || !parse_size(size, &entry->len))
        return bad(e, path, "its size is no plain decimal number below 64 MiB");
    if (entry->len > c->left)
        return bad(e, path, "its content is cut off; send the pack again");
    entry->path = path;
    entry->executable = mode[3] == '7';
    entry->data = c->p;
    c->p += entry->len;
    c->left -= entry->len;
    return 0;
}

int pack_read(const void *data, size_t len, pack_file_fn fn, void *ctx, struct err *e)
{
    const size_t header = strlen(HEADER);
    CLEANUP(mem_freep) struct pack_entry *entries = NULL;
    size_t n = 0, cap = 0;
    int rc = 0;

    if (len > PACK_BYTES_MAX)
        return bad(e, "", "it is larger than 64 MiB");
    if (len < header || memcmp(data, HEADER, header) != 0)
        return bad(e, "", "it does not begin with the header of a suite pack");
    struct cursor c = {(const char *)data + header, len - header};
    while (rc == 0 && c.left && n <= PACK_FILES_MAX) {
        MEM_GROW(entries, n, cap);
        rc = take_entry(&c, &entries[n++], e);
    }
    if (rc == 0)
        rc = check_order(entries, n, e);
    for (size_t i = 0; fn && rc == 0 && i < n; i++)
        rc = fn(ctx, &entries[i]);
    return rc;
}
