#include "proto/json/json.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json_text.h"

void json_clean(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

static void quote_control(struct buf *b, unsigned char c)
{
    static const char named[] = "btn\0fr"; /* 8 to 13; 11 has no name */
    if (c == '"' || c == '\\')
        buf_printf(b, "\\%c", c);
    else if (c >= 8 && c <= 13 && named[c - 8])
        buf_printf(b, "\\%c", named[c - 8]);
    else
        buf_printf(b, "\\u%04x", c);
}

void json_quote(struct buf *b, const char *s, size_t len)
{
    const unsigned char *p = (const unsigned char *)s, *end = p + len;
    buf_putc(b, '"');
    while (p < end) {
        const unsigned char *plain = p;
        size_t n = 0;
        while (p < end && *p >= 0x20 && *p != '"' && *p != '\\' &&
               (n = json_utf8_len(p, (size_t)(end - p))) > 0)
            p += n;
        buf_add(b, plain, (size_t)(p - plain));
        if (p == end)
            break;
        if (*p < 0x80)
            quote_control(b, *p);
        else
            buf_puts(b, "\xef\xbf\xbd");
        p++;
    }
    buf_putc(b, '"');
}

static unsigned read_hex4(const char *p)
{
    char digits[5] = {p[0], p[1], p[2], p[3], '\0'};
    return (unsigned)strtoul(digits, NULL, 16);
}

static void put_utf8(struct buf *out, unsigned v)
{
    if (v < 0x80) {
        buf_putc(out, (char)v);
        return;
    }
    char bytes[4];
    size_t n = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; v >>= 6)
        bytes[i] = (char)(0x80 | (v & 0x3f));
    bytes[0] = (char)((0xf00u >> n) | v);
    buf_add(out, bytes, n);
}

/* At the backslash; returns what follows the escape. */
static const char *unquote_escape(const char *p, struct buf *out)
{
    static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
    const char *name = strchr(names, p[1]);
    if (p[1] != 'u') {
        buf_putc(out, name ? values[name - names] : p[1]);
        return p + 2;
    }
    unsigned v = read_hex4(p + 2);
    p += 6;
    if (v >= 0xd800 && v <= 0xdbff) {
        v = 0x10000 + ((v - 0xd800) << 10) + (read_hex4(p + 2) - 0xdc00);
        p += 6;
    }
    put_utf8(out, v);
    return p;
}

const char *json_unquote(const char *p, struct buf *out)
{
    p++;
    while (*p != '"') {
        const char *plain = p;
        while (*p != '"' && *p != '\\')
            p++;
        buf_add(out, plain, (size_t)(p - plain));
        if (*p == '\\')
            p = unquote_escape(p, out);
    }
    return p + 1;
}

void json_out_init(struct json_out *o, struct buf *b)
{
    *o = (struct json_out){.b = b};
}

static void put_key(struct json_out *o, const char *key)
{
    if (o->comma)
        buf_putc(o->b, ',');
    o->comma = true;
    if (key) {
        json_quote(o->b, key, strlen(key));
        buf_putc(o->b, ':');
    }
}

static void open_bracket(struct json_out *o, const char *key, char bracket)
{
    put_key(o, key);
    buf_putc(o->b, bracket);
    o->comma = false;
}

static void close_bracket(struct json_out *o, char bracket)
{
    buf_putc(o->b, bracket);
    o->comma = true;
}

void json_begin(struct json_out *o, const char *key)
{
    open_bracket(o, key, '{');
}

void json_end(struct json_out *o)
{
    close_bracket(o, '}');
}

void json_begin_array(struct json_out *o, const char *key)
{
    open_bracket(o, key, '[');
}

void json_end_array(struct json_out *o)
{
    close_bracket(o, ']');
}

void json_put_str(struct json_out *o, const char *key, const char *s)
{
    if (!s) {
        json_put_null(o, key);
        return;
    }
    put_key(o, key);
    json_quote(o->b, s, strlen(s));
}

void json_put_int(struct json_out *o, const char *key, int64_t v)
{
    bool exact = v >= -JSON_INT_MAX && v <= JSON_INT_MAX;
    put_key(o, key);
    buf_printf(o->b, exact ? "%" PRId64 : "\"%" PRId64 "\"", v);
}

void json_put_int_or_null(struct json_out *o, const char *key, int64_t v)
{
    if (v < 0)
        json_put_null(o, key);
    else
        json_put_int(o, key, v);
}

void json_put_num(struct json_out *o, const char *key, double v)
{
    if (!isfinite(v)) {
        json_put_null(o, key);
        return;
    }
    /* A decimal of up to 15 digits survives the way through a normal double, so the first precision
     * that reads back is the shortest text; below DBL_MIN fewer digits do. */
    char text[40];
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    put_key(o, key);
    buf_puts(o->b, text);
    /* Without a point it would be an integer, which must stay within 2^53 - 1. */
    if (fabs(v) > (double)JSON_INT_MAX && !strpbrk(text, ".e"))
        buf_puts(o->b, ".0");
}

void json_put_bool(struct json_out *o, const char *key, bool v)
{
    put_key(o, key);
    buf_puts(o->b, v ? "true" : "false");
}

void json_put_null(struct json_out *o, const char *key)
{
    put_key(o, key);
    buf_puts(o->b, "null");
}

void json_put_args(struct json_out *o, const char *key, const struct args *args)
{
    json_begin_array(o, key);
    for (size_t i = 0; i < args->n; i++)
        json_put_str(o, NULL, args->v[i]);
    json_end_array(o);
}

void json_put_raw(struct json_out *o, const char *key, const char *text)
{
    put_key(o, key);
    buf_puts(o->b, text);
}
