#include "client/view/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"

#define WIDTH_DEFAULT 80
#define WIDTH_MIN 40

static int width_of(int fd)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    long width = ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;

    if (width == 0 && columns)
        width = strtol(columns, NULL, 10);
    if (width <= 0 || width > 10000)
        width = WIDTH_DEFAULT;
    return width < WIDTH_MIN ? WIDTH_MIN : (int)width;
}

void term_init(struct term *t, int fd)
{
    const char *no_colour = getenv("NO_COLOR"), *kind = getenv("TERM");

    *t = (struct term){.fd = fd, .tty = isatty(fd)};
    if (!t->tty)
        return;
    t->width = width_of(fd);
    t->colour = !(no_colour && no_colour[0]) && kind && kind[0] && strcmp(kind, "dumb") != 0;
}

void term_styled(const struct term *t, struct buf *out, enum term_style style, const char *text)
{
    static const char *const codes[] = {"", "1", "2", "31", "32", "33"};

    if (!t->colour || style == TERM_PLAIN || !text[0])
        buf_puts(out, text);
    else
        buf_printf(out, "\x1b[%sm%s\x1b[0m", codes[style], text);
}

/* ---- safe text */

/* Length of the UTF-8 character at p and its code point; 0 for bytes that are none. */
static size_t decode(const unsigned char *p, size_t left, unsigned *code)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : 4;

    *code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
    if (n > left || (n == 4 && (p[0] < 0xf0 || p[0] > 0xf4)) || (n == 2 && p[0] < 0xc2))
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (p[i] & 0x3f);
    }
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[n] || *code > 0x10ffff || surrogate ? 0 : n;
}

/* Control characters, and the marks by which text is shown in another order than it is stored. */
static bool steers(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
           (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff;
}

/* Length of a sequence that only changes colour or weight, at its ESC; 0 when it is none. */
static size_t style_len(const char *text, size_t left)
{
    size_t n = 2;

    if (left < 3 || text[0] != '\x1b' || text[1] != '[')
        return 0;
    while (n < left && n < 20 && strchr("0123456789;", text[n]) && text[n])
        n++;
    return n < left && text[n] == 'm' ? n + 1 : 0;
}

static size_t kept_len(const char *text, size_t left, unsigned keep)
{
    if ((keep & TERM_KEEP_LINES) && (text[0] == '\n' || text[0] == '\t'))
        return 1;
    return keep & TERM_KEEP_STYLES ? style_len(text, left) : 0;
}

void term_clean(struct buf *out, const char *text, size_t len, unsigned keep)
{
    for (size_t i = 0; i < len;) {
        unsigned code = 0;
        size_t n = kept_len(text + i, len - i, keep);
        if (n == 0) {
            n = decode((const unsigned char *)text + i, len - i, &code);
            if (n == 0 || steers(code)) {
                buf_putc(out, '?');
                i += n ? n : 1;
                continue;
            }
        }
        buf_add(out, text + i, n);
        i += n;
    }
}

/* ---- widths */

static bool begins_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t term_columns(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += begins_character(*text);
    return n;
}

/* Bytes of the first columns characters. */
static size_t bytes_of(const char *text, size_t columns)
{
    const char *p = text;

    for (; *p; p++)
        if (begins_character(*p) && columns-- == 0)
            break;
    return (size_t)(p - text);
}

void term_cut(struct buf *out, const char *text, size_t columns)
{
    if (term_columns(text) <= columns) {
        buf_puts(out, text);
        return;
    }
    size_t dots = columns < 3 ? columns : 3;
    buf_add(out, text, bytes_of(text, columns - dots));
    buf_add(out, "...", dots);
}

/* Bytes of the next line: up to the last space that still fits, else as much as fits. */
static size_t line_bytes(const char *text, size_t columns)
{
    size_t n = bytes_of(text, columns);

    if (text[n] == '\0' || text[n] == ' ')
        return n;
    for (size_t i = n; i > 0; i--)
        if (text[i - 1] == ' ')
            return i - 1;
    return n;
}

void term_wrap(struct buf *out, const char *text, size_t indent, size_t width)
{
    size_t columns = width > indent + 20 ? width - indent : 20;

    if (width == 0)
        columns = term_columns(text);
    for (bool first = true; first || *text; first = false) {
        size_t n = line_bytes(text, columns);
        if (n == 0 && *text)
            n = bytes_of(text, columns);
        for (size_t i = 0; !first && i < indent; i++)
            buf_putc(out, ' ');
        buf_add(out, text, n);
        buf_putc(out, '\n');
        text += n;
        while (*text == ' ')
            text++;
    }
}
