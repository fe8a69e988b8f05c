#include "proto/json/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"

struct scan {
    const unsigned char *start, *p, *end;
    size_t string_max;
    struct err *e;
};

static int scan_value(struct scan *s, int depth);

/* People look for a line, programs for an offset. */
static int fail_at(struct scan *s, const unsigned char *at, const char *what)
{
    size_t line = 1, column = 1;
    for (const unsigned char *p = s->start; p < at; p++) {
        column++;
        if (*p == '\n') {
            line++;
            column = 1;
        }
    }
    char field[32];
    snprintf(field, sizeof field, "offset %zu", (size_t)(at - s->start));
    return err_set(s->e, -EINVAL, "json.bad", field, "not valid JSON at line %zu, column %zu: %s",
                   line, column, what);
}

static int fail(struct scan *s, const char *what)
{
    return fail_at(s, s->p, what);
}

static void skip_space(struct scan *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
}

static bool next_is(const struct scan *s, unsigned char c)
{
    return s->p < s->end && *s->p == c;
}

static bool is_tail(unsigned char c)
{
    return c >= 0x80 && c <= 0xbf;
}

size_t json_utf8_len(const unsigned char *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf)
        return left >= 2 && is_tail(p[1]) ? 2 : 0;
    if (p[0] >= 0xe0 && p[0] <= 0xef) {
        unsigned char low = p[0] == 0xe0 ? 0xa0 : 0x80;  /* below: overlong */
        unsigned char high = p[0] == 0xed ? 0x9f : 0xbf; /* above: surrogates */
        return left >= 3 && p[1] >= low && p[1] <= high && is_tail(p[2]) ? 3 : 0;
    }
    if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        unsigned char low = p[0] == 0xf0 ? 0x90 : 0x80;  /* below: overlong */
        unsigned char high = p[0] == 0xf4 ? 0x8f : 0xbf; /* above: beyond U+10FFFF */
        return left >= 4 && p[1] >= low && p[1] <= high && is_tail(p[2]) && is_tail(p[3]) ? 4 : 0;
    }
    return 0;
}

/* The four hex digits at p, or -1. */
static int hex4(const unsigned char *p, const unsigned char *end)
{
    int v = 0;
    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        unsigned char c = p[i];
        if (c >= '0' && c <= '9')
            v = v * 16 + (c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            v = v * 16 + ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* At the backslash of \u; *bytes is the UTF-8 length of what it stands for. */
static int scan_unicode_escape(struct scan *s, size_t *bytes)
{
    int v = hex4(s->p + 2, s->end);
    if (v < 0)
        return fail(s, "\\u needs four hexadecimal digits");
    if (v == 0)
        return fail(s, "\\u0000 is not allowed in a string");
    if (v >= 0xdc00 && v <= 0xdfff)
        return fail(s, "the second half of a surrogate pair stands alone");
    if (v < 0xd800 || v > 0xdbff) {
        *bytes = v < 0x80 ? 1 : v < 0x800 ? 2 : 3;
        s->p += 6;
        return 0;
    }
    bool escape_follows = s->end - s->p >= 12 && s->p[6] == '\\' && s->p[7] == 'u';
    int low = escape_follows ? hex4(s->p + 8, s->end) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return fail(s, "the first half of a surrogate pair stands alone");
    *bytes = 4;
    s->p += 12;
    return 0;
}

static int scan_escape(struct scan *s, size_t *bytes)
{
    if (s->end - s->p < 2)
        return fail(s, "the text ends inside a string");
    if (s->p[1] == 'u')
        return scan_unicode_escape(s, bytes);
    if (!s->p[1] || !strchr("\"\\/bfnrt", s->p[1]))
        return fail(s, "unknown escape in a string");
    *bytes = 1;
    s->p += 2;
    return 0;
}

static int scan_character(struct scan *s, size_t *bytes)
{
    if (*s->p < 0x20)
        return fail(s, "a raw control character in a string; write it as an escape");
    if (*s->p == '\\')
        return scan_escape(s, bytes);
    *bytes = json_utf8_len(s->p, (size_t)(s->end - s->p));
    if (!*bytes)
        return fail(s, "bytes that are not UTF-8");
    s->p += *bytes;
    return 0;
}

static int scan_string(struct scan *s)
{
    const unsigned char *open = s->p++;
    size_t total = 0;
    while (!next_is(s, '"')) {
        size_t bytes = 0;
        if (s->p == s->end)
            return fail(s, "the text ends inside a string");
        if (scan_character(s, &bytes))
            return -EINVAL;
        total += bytes;
        if (total > s->string_max)
            return fail_at(s, open, "a string is longer than this document allows");
    }
    s->p++;
    return 0;
}

static bool skip_digits(struct scan *s)
{
    const unsigned char *from = s->p;
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9')
        s->p++;
    return s->p > from;
}

/* Integers must be exact as doubles; everything else must be finite. */
static int check_range(struct scan *s, const unsigned char *from, bool integer)
{
    char text[JSON_NUMBER_MAX + 1];
    size_t len = (size_t)(s->p - from);
    if (len > JSON_NUMBER_MAX)
        return fail_at(s, from, "a number with too many digits");
    memcpy(text, from, len);
    text[len] = '\0';
    if (!integer)
        return isfinite(strtod(text, NULL)) ? 0
                                            : fail_at(s, from, "a number too large for a double");
    /* strtoll saturates, which is out of range as well. */
    long long v = strtoll(text, NULL, 10);
    if (v < -JSON_INT_MAX || v > JSON_INT_MAX)
        return fail_at(s, from, "an integer beyond 2^53 - 1; write it as a string");
    return 0;
}

static int scan_number(struct scan *s)
{
    const unsigned char *from = s->p;
    bool integer = true;
    if (next_is(s, '-'))
        s->p++;
    if (next_is(s, '0'))
        s->p++;
    else if (!skip_digits(s))
        return fail(s, "a digit was expected");
    if (s->p < s->end && *s->p >= '0' && *s->p <= '9')
        return fail_at(s, from, "a number with a leading zero");
    if (next_is(s, '.')) {
        integer = false;
        s->p++;
        if (!skip_digits(s))
            return fail(s, "a digit was expected after the decimal point");
    }
    if (next_is(s, 'e') || next_is(s, 'E')) {
        integer = false;
        s->p++;
        if (next_is(s, '+') || next_is(s, '-'))
            s->p++;
        if (!skip_digits(s))
            return fail(s, "a digit was expected in the exponent");
    }
    return check_range(s, from, integer);
}

static int scan_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0)
        return fail(s, "a value was expected");
    s->p += n;
    return 0;
}

static int scan_member(struct scan *s, int depth)
{
    skip_space(s);
    if (!next_is(s, '"'))
        return fail(s, "a key in double quotes was expected");
    if (scan_string(s))
        return -EINVAL;
    skip_space(s);
    if (!next_is(s, ':'))
        return fail(s, "a colon was expected after the key");
    s->p++;
    return scan_value(s, depth);
}

/* At the opening bracket; close is the closing one. */
static int scan_container(struct scan *s, unsigned char close, int depth)
{
    if (depth > JSON_DEPTH_MAX)
        return fail(s, "nested too deeply");
    s->p++;
    skip_space(s);
    if (next_is(s, close)) {
        s->p++;
        return 0;
    }
    for (;;) {
        if (close == '}' ? scan_member(s, depth) : scan_value(s, depth))
            return -EINVAL;
        if (next_is(s, close)) {
            s->p++;
            return 0;
        }
        if (!next_is(s, ','))
            return fail(s,
                        close == '}' ? "a comma or } was expected" : "a comma or ] was expected");
        s->p++;
    }
}

/* One value with the white space around it. */
static int scan_value(struct scan *s, int depth)
{
    int rc;
    skip_space(s);
    if (s->p == s->end)
        return fail(s, "the text ends where a value was expected");
    switch (*s->p) {
    case '{':
        rc = scan_container(s, '}', depth + 1);
        break;
    case '[':
        rc = scan_container(s, ']', depth + 1);
        break;
    case '"':
        rc = scan_string(s);
        break;
    case 't':
        rc = scan_word(s, "true");
        break;
    case 'f':
        rc = scan_word(s, "false");
        break;
    case 'n':
        rc = scan_word(s, "null");
        break;
    case '-':
    case '0' ... '9':
        rc = scan_number(s);
        break;
    default:
        rc = fail(s, "a value was expected");
        break;
    }
    if (!rc)
        skip_space(s);
    return rc;
}

int json_check(const char *data, size_t len, size_t string_max, struct err *e)
{
    const unsigned char *start = (const unsigned char *)(data ? data : "");
    struct scan s = {start, start, start + len, string_max, e};
    if (scan_value(&s, 0))
        return -EINVAL;
    if (s.p != s.end)
        return fail(&s, "text after the end of the document");
    return 0;
}
