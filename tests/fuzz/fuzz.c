#include "fuzz/fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/errors.h"
#include "proto/json/json.h"
#include "proto/json/json_text.h"

void fuzz_broken(const char *file, int line, const char *property, const char *fmt, ...)
{
    va_list ap;

    (void)fprintf(stderr, "broken property: %s (%s:%d)", property, file, line);
    va_start(ap, fmt);
    (void)vfprintf(stderr, fmt, ap);
    va_end(ap);
    (void)fputc('\n', stderr);
    abort();
}

/* ---- the input */

uint8_t fuzz_byte(struct fuzz_in *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

uint64_t fuzz_number(struct fuzz_in *in, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)fuzz_byte(in) << (8 * i);
    return v;
}

size_t fuzz_below(struct fuzz_in *in, size_t n)
{
    return (size_t)fuzz_number(in, n > 256 ? 2 : 1) % n;
}

static char *take(struct fuzz_in *in, size_t len)
{
    size_t text = strnlen((const char *)in->at, len);
    char *s = mem_alloc(text + 1);

    memcpy(s, in->at, text);
    in->at += len;
    in->left -= len;
    return s;
}

char *fuzz_line(struct fuzz_in *in)
{
    const uint8_t *newline = in->left ? memchr(in->at, '\n', in->left) : NULL;

    if (!in->left || !newline)
        return fuzz_text(in);
    char *s = take(in, (size_t)(newline - in->at));
    (void)fuzz_byte(in);
    return s;
}

char *fuzz_text(struct fuzz_in *in)
{
    return in->left ? take(in, in->left) : mem_strdup("");
}

/* ---- texts */

static unsigned code_point(const unsigned char *p, size_t n)
{
    unsigned code = n == 1 ? p[0] : p[0] & (0x7fU >> n);

    for (size_t i = 1; i < n; i++)
        code = code << 6 | (p[i] & 0x3fU);
    return code;
}

/* Written down once more, on purpose: the product's own list is what is being tested. */
static bool is_steering(unsigned c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

static size_t style_len(const unsigned char *p, size_t left)
{
    size_t n = 2;

    if (left < 3 || p[0] != 0x1b || p[1] != '[')
        return 0;
    while (n < left && ((p[n] >= '0' && p[n] <= '9') || p[n] == ';'))
        n++;
    return n < left && p[n] == 'm' ? n + 1 : 0;
}

void fuzz_must_be_shown(const char *text, size_t len, unsigned allowed)
{
    const unsigned char *p = (const unsigned char *)text;

    for (size_t at = 0; at < len;) {
        size_t style = allowed & FUZZ_STYLES ? style_len(p + at, len - at) : 0;
        size_t n = style ? style : json_utf8_len(p + at, len - at);
        bool line = (allowed & FUZZ_LINES) && (p[at] == '\n' || p[at] == '\t');
        MUST(n > 0, "byte %zu is not UTF-8", at);
        MUST(style || line || !is_steering(code_point(p + at, n)), "byte %zu of: %s", at, text);
        at += n;
    }
}

void fuzz_must_be_text(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;

    for (size_t left = strlen(text), n; left; left -= n, p += n) {
        n = json_utf8_len(p, left);
        MUST(n > 0 && *p >= 0x20 && *p != 0x7f, "in: %s", text);
    }
}

static void must_have_no_controls(const char *text)
{
    for (const char *p = text; *p; p++)
        MUST((unsigned char)*p >= 0x20 && *p != 0x7f, "in: %s", text);
}

/* ---- refusals */

/* Of the table, or of the two groups that stand in none: system calls, and what the daemon checks
 * before it asks its own runner. */
static bool is_code(const char *code)
{
    return error_find(code) || strncmp(code, "system.", 7) == 0 || strncmp(code, "run.", 4) == 0;
}

void fuzz_refused(int rc, const struct err *e)
{
    MUST(rc < 0, "rc %d", rc);
    MUST(is_code(e->code), "code %s: %s", e->code, e->text);
    MUST(strlen(e->text) >= 10, "%s", e->text);
    must_have_no_controls(e->field);
    must_have_no_controls(e->text);
}

bool fuzz_accepted(int rc, const struct err *e)
{
    if (rc) {
        fuzz_refused(rc, e);
        return false;
    }
    MUST(!err_is_set(e), "%s %s", e->code, e->text);
    fuzz_count_good();
    return true;
}

char *fuzz_canonical(const struct buf *json)
{
    struct buf out = {0};
    struct err e = {0};

    MUST(json_canonical(buf_str(json), json->len, &out, &e) == 0, "%s %s: %s", e.field, e.text,
         buf_str(json));
    return buf_take(&out);
}

static size_t good;

static void print_good(void)
{
    (void)fprintf(stderr, "accepted: %zu\n", good);
}

void fuzz_count_good(void)
{
    if (good++ == 0)
        (void)atexit(print_good);
}
