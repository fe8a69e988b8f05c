#include "proto/form/elf.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define HEADER 64
#define SECTION 64
#define SYMBOL 24
#define DYNAMIC 16
#define SECTIONS_MAX 8 /* of the kinds that are read: a file has one or two of each */
#define TYPE_SYMBOLS 2
#define TYPE_DYNAMIC 6
#define TYPE_DYNAMIC_SYMBOLS 11
#define TAG_NULL 0
#define TAG_NEEDED 1
#define CHUNK 3072 /* whole symbols and whole dynamic entries */

struct section {
    uint32_t type, link;
    uint64_t offset, bytes;
};

struct reader {
    const struct elf_file *file;
    const struct elf_seen *seen;
    uint64_t table; /* of sections */
    uint16_t n_sections;
    char *strings; /* of the section at hand, with a NUL behind them */
    uint64_t strings_bytes;
    bool any;
};

static uint64_t number(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

static bool is_inside(const struct reader *r, uint64_t offset, uint64_t bytes)
{
    return offset <= r->file->bytes && bytes <= r->file->bytes - offset;
}

static bool read_at(const struct reader *r, uint64_t at, void *to, size_t len)
{
    return is_inside(r, at, len) && r->file->read(r->file->of, at, to, len);
}

static bool read_header(struct reader *r)
{
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1}; /* 64 bit, little-endian */
    uint8_t h[HEADER];

    if (!read_at(r, 0, h, sizeof h) || memcmp(h, magic, sizeof magic) != 0)
        return false;
    r->table = number(h + 0x28, 8);
    r->n_sections = (uint16_t)number(h + 0x3c, 2);
    return r->n_sections == 0 || number(h + 0x3a, 2) == SECTION;
}

static bool read_section(const struct reader *r, uint64_t index, struct section *out)
{
    uint8_t s[SECTION];

    if (index >= r->n_sections || r->table > r->file->bytes ||
        !read_at(r, r->table + index * SECTION, s, sizeof s))
        return false;
    *out = (struct section){.type = (uint32_t)number(s + 4, 4),
                            .offset = number(s + 0x18, 8),
                            .bytes = number(s + 0x20, 8),
                            .link = (uint32_t)number(s + 0x28, 4)};
    return true;
}

static bool load_strings(struct reader *r, uint32_t index)
{
    struct section s;

    mem_freep(&r->strings);
    r->strings_bytes = 0;
    if (!read_section(r, index, &s) || s.bytes > ELF_STRINGS_MAX ||
        !is_inside(r, s.offset, s.bytes))
        return false;
    r->strings = mem_alloc((size_t)s.bytes + 1);
    r->strings_bytes = s.bytes;
    r->strings[s.bytes] = '\0';
    return s.bytes == 0 || read_at(r, s.offset, r->strings, (size_t)s.bytes);
}

/* A name of at least one byte; NULL: it has none, or lies outside. */
static const char *name_at(const struct reader *r, uint64_t offset)
{
    return offset < r->strings_bytes && r->strings[offset] ? r->strings + offset : NULL;
}

/* False: there are no more entries. */
static bool take_dynamic(struct reader *r, const uint8_t *entry)
{
    uint64_t tag = number(entry, 8);
    const char *name = tag == TAG_NEEDED ? name_at(r, number(entry + 8, 8)) : NULL;

    r->any = true;
    if (name)
        r->seen->library(r->seen->of, name);
    return tag != TAG_NULL;
}

static bool take_symbol(struct reader *r, const uint8_t *entry)
{
    const char *name = name_at(r, number(entry, 4));

    if (!name)
        return true;
    r->any = true;
    r->seen->symbol(r->seen->of, name);
    return true;
}

static bool take_section(struct reader *r, const struct section *s)
{
    bool is_dynamic = s->type == TYPE_DYNAMIC;
    size_t each = is_dynamic ? DYNAMIC : SYMBOL;
    uint8_t chunk[CHUNK];

    if (s->bytes > ELF_SYMBOLS_MAX || !is_inside(r, s->offset, s->bytes) ||
        !load_strings(r, s->link))
        return false;
    for (uint64_t at = 0, left = s->bytes - s->bytes % each; left > 0;) {
        size_t n = left < CHUNK ? (size_t)left : CHUNK;
        if (!read_at(r, s->offset + at, chunk, n))
            return false;
        for (size_t i = 0; i < n; i += each)
            if (!(is_dynamic ? take_dynamic(r, chunk + i) : take_symbol(r, chunk + i)))
                return true;
        at += n;
        left -= n;
    }
    return true;
}

static bool is_read(uint32_t type)
{
    return type == TYPE_DYNAMIC || type == TYPE_SYMBOLS || type == TYPE_DYNAMIC_SYMBOLS;
}

int elf_read(const struct elf_file *file, const struct elf_seen *seen)
{
    struct reader r = {.file = file, .seen = seen};
    bool good = read_header(&r);
    size_t taken = 0;

    for (uint64_t i = 0; good && i < r.n_sections; i++) {
        struct section s;
        good = read_section(&r, i, &s);
        if (!good || !is_read(s.type))
            continue;
        good = taken++ < SECTIONS_MAX && take_section(&r, &s);
    }
    mem_freep(&r.strings);
    return !good ? -EBADMSG : r.any ? 0 : -ENODATA;
}
