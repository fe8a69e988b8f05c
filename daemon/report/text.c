#include "report/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* Reads one character; *len is its bytes. A byte that begins no valid sequence is -1, one byte. */
static int32_t next_char(const char *s, size_t *len)
{
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)s;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    *len = 1;
    if (n == 0 || p[0] > 0xf4)
        return -1;
    int32_t c = n == 1 ? p[0] : p[0] & (0x7f >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return -1;
        c = (c << 6) | (p[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return -1;
    *len = n;
    return c;
}

struct range {
    int32_t first, last;
};

static bool within(const struct range *r, size_t n, int32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= r[i].first && c <= r[i].last)
            return true;
    return false;
}

/* The blocks that a terminal draws in two columns (Unicode, East Asian Width W and F, by block). */
static bool is_wide(int32_t c)
{
    static const struct range wide[] = {
        {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x33ff}, {0x3400, 0x4dbf},
        {0x4e00, 0x9fff},   {0xa000, 0xa4cf},   {0xac00, 0xd7a3}, {0xf900, 0xfaff},
        {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
        {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
    };
    return within(wide, ARRAY_LEN(wide), c);
}

static bool is_combining(int32_t c)
{
    static const struct range zero[] = {
        {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
        {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    };
    return within(zero, ARRAY_LEN(zero), c);
}

/* Not drawn as themselves: controls, and what reorders or hides its neighbours. */
static bool is_harmful(int32_t c)
{
    static const struct range harmful[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x061c, 0x061c}, {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };
    return within(harmful, ARRAY_LEN(harmful), c);
}

static size_t columns(int32_t c)
{
    if (c < 0)
        return 1;
    return is_combining(c) ? 0 : is_wide(c) ? 2 : 1;
}

size_t text_width(const char *s)
{
    size_t width = 0, len;
    for (; *s; s += len)
        width += columns(next_char(s, &len));
    return width;
}

void text_pad(struct buf *out, size_t n)
{
    for (; n; n--)
        buf_putc(out, ' ');
}

static void put_char(struct buf *out, const char *s, size_t len, int32_t c)
{
    if (c < 0)
        buf_printf(out, "\\x%02x", (unsigned char)*s);
    else if (c == '\n')
        buf_puts(out, "\\n");
    else if (c == '\t')
        buf_puts(out, "\\t");
    else if (is_harmful(c))
        buf_printf(out, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c);
    else
        buf_add(out, s, len);
}

/* As many whole characters of s as fit into max columns, the dots included. */
static void put_cut(struct buf *out, const char *s, size_t max)
{
    size_t used = 3, len;
    for (; *s; s += len) {
        used += columns(next_char(s, &len));
        if (used > max)
            break;
        buf_add(out, s, len);
    }
    buf_puts(out, "...");
}

void text_clean(struct buf *out, const char *s, size_t max)
{
    CLEANUP(buf_deinit) struct buf all = {0};
    size_t len;
    for (; *s; s += len) {
        int32_t c = next_char(s, &len);
        put_char(&all, s, len, c);
    }
    if (max && text_width(buf_str(&all)) > max)
        put_cut(out, buf_str(&all), max);
    else
        buf_puts(out, buf_str(&all));
}

void text_wrap(struct buf *out, const char *s, size_t first, size_t indent, size_t width)
{
    size_t room = first, later = width > indent ? width - indent : 1;
    bool begun = false;
    while (*s) {
        size_t bytes = strcspn(s, " ");
        CLEANUP(mem_freep) char *word = mem_printf("%.*s", (int)bytes, s);
        size_t need = text_width(word);
        if (begun && need + 1 > room) {
            buf_putc(out, '\n');
            text_pad(out, indent);
            room = later;
            begun = false;
        }
        if (begun) {
            buf_putc(out, ' ');
            room--;
        }
        buf_puts(out, word);
        room -= need < room ? need : room;
        begun = true;
        s += bytes + strspn(s + bytes, " ");
    }
}

/* An underscore inside a word is literal in Markdown; only others begin emphasis. */
static bool inside_word(const char *start, const char *at)
{
    return at > start && isalnum((unsigned char)at[-1]) && isalnum((unsigned char)at[1]);
}

void text_markdown(struct buf *out, const char *s)
{
    for (const char *p = s; *p; p++) {
        bool special = strchr("\\`*<>|[]~&$", *p) || (*p == '_' && !inside_word(s, p));
        if (special)
            buf_putc(out, '\\');
        buf_putc(out, *p);
    }
}
