#include "proto/evidence/manifest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"

#define HEX_LEN ((size_t)DIGEST_HEX - 1)

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

/* ---- reading */

static int bad_line(struct err *e, size_t number, const char *why)
{
    char field[32];

    (void)snprintf(field, sizeof field, "line %zu", number);
    return err_set(e, -EINVAL, "manifest.bad", field, "line %zu of the checksums %s", number, why);
}

/* The path without its escapes, in a. */
static char *unescape(struct arena *a, const char *text, size_t len)
{
    char *out = arena_strndup(a, text, len), *to = out;

    for (const char *from = out; *from; from++) {
        if (*from == '\\' && from[1])
            *to++ = *++from == 'n' ? '\n' : *from;
        else
            *to++ = *from;
    }
    *to = '\0';
    return out;
}

/* Whether an entry is the reading of this line is decided by writing it again. */
static bool reads_back(const struct manifest_entry *entry, const char *line, size_t len)
{
    CLEANUP(buf_deinit) struct buf again = {0};

    return manifest_line(&again, entry->path, entry->sha256, NULL) == 0 && again.len == len + 1 &&
           memcmp(again.data, line, len) == 0;
}

static bool read_entry(struct arena *a, const char *line, size_t len, struct manifest_entry *out)
{
    size_t escaped = len > 0 && line[0] == '\\', name = escaped + HEX_LEN + 2;

    if (len <= name || memchr(line, '\0', len))
        return false;
    out->sha256 = arena_strndup(a, line + escaped, HEX_LEN);
    out->path =
        escaped ? unescape(a, line + name, len - name) : arena_strndup(a, line + name, len - name);
    return digest_valid(out->sha256) && reads_back(out, line, len);
}

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    return n;
}

int manifest_parse(struct arena *a, const char *text, size_t len, struct manifest *out,
                   struct err *e)
{
    const char *p = text, *end = text + len;

    *out = (struct manifest){.v = arena_array(a, count_lines(text, len) + 1, sizeof *out->v)};
    while (p < end) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        struct manifest_entry *entry = &out->v[out->n];
        if (!newline || !read_entry(a, p, (size_t)(newline - p), entry))
            return bad_line(e, out->n + 1, "is not a checksum and the name of a file inside");
        if (out->n > 0 && strcmp(entry[-1].path, entry->path) >= 0)
            return bad_line(e, out->n + 1, "is out of order or stands there twice");
        out->n++;
        p = newline + 1;
    }
    return 0;
}

static int by_path(const void *key, const void *entry)
{
    return strcmp(key, ((const struct manifest_entry *)entry)->path);
}

const struct manifest_entry *manifest_find(const struct manifest *m, const char *path)
{
    return m->n ? bsearch(path, m->v, m->n, sizeof *m->v, by_path) : NULL;
}
