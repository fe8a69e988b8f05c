#include "lang/lex.h"

#include <string.h>

#include "lang/limits.h"

static const char *const keywords[] = {"and",      "bool",   "do",   "else",  "false", "fn",
                                       "fold",     "from",   "if",   "in",    "int",   "let",
                                       "list",     "loop",   "map",  "match", "not",   "or",
                                       "pipeline", "string", "true", "type",  "while", "with"};
static const char *const pairs[] = {"==", "!=", "<=", ">=", "++", "=>"};

static void fail_at(struct lexer *x, const char *at, const char *what)
{
    (void)pk_fail(x->e, x->line, (uint32_t)(at - x->line_start) + 1, "%s", what);
    x->failed = true;
    x->p = x->end;
    x->now.kind = TOK_END;
}

static void new_line(struct lexer *x)
{
    x->p++;
    x->line++;
    x->line_start = x->p;
}

static void skip_blanks(struct lexer *x)
{
    while (x->p < x->end) {
        if (*x->p == '\n') {
            new_line(x);
        } else if (*x->p == ' ' || *x->p == '\t' || *x->p == '\r') {
            x->p++;
        } else if (*x->p == '/' && x->end - x->p > 1 && x->p[1] == '/') {
            while (x->p < x->end && *x->p != '\n')
                x->p++;
        } else {
            return;
        }
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void lex_word(struct lexer *x)
{
    const char *start = x->p;
    while (x->p < x->end && (is_letter(*x->p) || is_digit(*x->p)))
        x->p++;
    x->now.text = (struct pk_text){start, (uint32_t)(x->p - start)};
    x->now.kind = TOK_NAME;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (strlen(keywords[i]) == x->now.text.n && memcmp(keywords[i], start, x->now.text.n) == 0)
            x->now.kind = TOK_KEYWORD;
}

static void lex_int(struct lexer *x)
{
    const uint64_t most = (uint64_t)1 << 63;
    const char *start = x->p;
    uint64_t v = 0;
    while (x->p < x->end && is_digit(*x->p)) {
        uint64_t digit = (uint64_t)(*x->p - '0');
        if (v > (most - digit) / 10) {
            fail_at(x, start, "this number is larger than a 64-bit integer");
            return;
        }
        v = v * 10 + digit;
        x->p++;
    }
    if (x->p < x->end && (is_letter(*x->p) || *x->p == '.')) {
        fail_at(x, start, "a number is made of digits alone; there are only whole ones");
        return;
    }
    if (x->p - start > 1 && *start == '0') {
        fail_at(x, start, "a number does not begin with 0");
        return;
    }
    x->now.kind = TOK_INT;
    x->now.text = (struct pk_text){start, (uint32_t)(x->p - start)};
    x->now.value = v;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *out++ = (char)(0xe0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    } else {
        *out++ = (char)(0xf0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
        *out++ = (char)(0x80 | (c & 0x3f));
    }
    return out;
}

/* \u{1f600}: what it means is never longer than what is written. */
static char *lex_unicode(struct lexer *x, char *out)
{
    const char *at = x->p - 2;
    uint32_t c = 0;
    int n = 0;
    if (x->p == x->end || *x->p++ != '{') {
        fail_at(x, at, "write \\u{HEX} with up to six lower-case digits");
        return NULL;
    }
    while (x->p < x->end && hex_digit(*x->p) >= 0 && n++ < 6)
        c = c << 4 | (uint32_t)hex_digit(*x->p++);
    if (n == 0 || x->p == x->end || *x->p != '}' || c == 0 || c > 0x10ffff ||
        (c >= 0xd800 && c <= 0xdfff)) {
        fail_at(x, at, "write \\u{HEX} with the number of a character, other than 0");
        return NULL;
    }
    x->p++;
    return put_utf8(out, c);
}

static char *lex_escape(struct lexer *x, char *out)
{
    static const char written[] = "nt\"\\", meant[] = "\n\t\"\\";
    if (x->p == x->end) {
        fail_at(x, x->p - 1, "this text has no end; close it with \"");
        return NULL;
    }
    char c = *x->p++;
    if (c == 'u')
        return lex_unicode(x, out);
    const char *found = c ? strchr(written, c) : NULL;
    if (!found) {
        fail_at(x, x->p - 2, "behind \\ stands one of n t \" \\ u");
        return NULL;
    }
    *out++ = meant[found - written];
    return out;
}

/* To the closing quote of this line; how many bytes, at most. */
static size_t string_span(const struct lexer *x)
{
    const char *p = x->p;
    while (p < x->end && *p != '\n' && *p != '"')
        p += *p == '\\' && x->end - p > 1 ? 2 : 1;
    return (size_t)(p - x->p);
}

static void lex_string(struct lexer *x)
{
    const char *start = x->p++;
    size_t span = string_span(x);
    char *text = span <= PK_MAX_STRING_BYTES ? pk_alloc(x->arena, span + 4) : NULL, *out = text;
    if (!text) {
        fail_at(x, start, "this text is too long");
        return;
    }
    while (out && x->p < x->end && *x->p != '"' && *x->p != '\n') {
        unsigned char c = (unsigned char)*x->p++;
        if (c == '\\')
            out = lex_escape(x, out);
        else if (c < 0x20 || c == 0x7f)
            fail_at(x, x->p - 1, "a control character in a text is written as an escape"),
                out = NULL;
        else
            *out++ = (char)c;
    }
    if (!out)
        return;
    if (x->p >= x->end || *x->p != '"') {
        fail_at(x, start, "this text has no end; close it with \" in the same line");
        return;
    }
    x->p++;
    x->now.kind = TOK_STRING;
    x->now.text = (struct pk_text){text, (uint32_t)(out - text)};
}

static void lex_sign(struct lexer *x)
{
    size_t n = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (x->end - x->p > 1 && memcmp(pairs[i], x->p, 2) == 0)
            n = 2;
    if (n == 1 && (!*x->p || !strchr("+-*/%<>=(){}[],:;.|", *x->p))) {
        fail_at(x, x->p, "this character means nothing here");
        return;
    }
    x->now.kind = TOK_SIGN;
    x->now.text = (struct pk_text){x->p, (uint32_t)n};
    x->p += n;
}

void lex_next(struct lexer *x)
{
    skip_blanks(x);
    x->now = (struct token){.line = x->line, .column = (uint32_t)(x->p - x->line_start) + 1};
    x->now.text = (struct pk_text){"the end", 7};
    if (x->failed || x->p == x->end)
        return;
    if (is_letter(*x->p))
        lex_word(x);
    else if (is_digit(*x->p))
        lex_int(x);
    else if (*x->p == '"')
        lex_string(x);
    else
        lex_sign(x);
}

void lex_init(struct lexer *x, const char *source, size_t len, struct pk_arena *arena,
              struct pk_err *e)
{
    *x = (struct lexer){.p = source, .end = source + len, .line_start = source, .line = 1};
    x->arena = arena;
    x->e = e;
    if (len > PK_MAX_SOURCE_BYTES) {
        (void)pk_fail(e, 0, 0, "the source is longer than %d bytes", PK_MAX_SOURCE_BYTES);
        x->failed = true;
        x->p = x->end;
    }
    size_t good = x->failed ? len : pk_utf8(source, len);
    if (good < len) {
        for (const char *p = source; p < source + good; p++)
            if (*p == '\n') {
                x->line++;
                x->line_start = p + 1;
            }
        fail_at(x, source + good, "the source is not UTF-8 here");
    }
    lex_next(x);
}
