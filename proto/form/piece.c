#include "proto/form/piece.h"

#include <string.h>

#include "proto/json/json.h"

bool piece_is(struct piece p, const char *text)
{
    return p.at && p.len == strlen(text) && memcmp(p.at, text, p.len) == 0;
}

bool piece_begins(struct piece p, const char *text)
{
    size_t len = strlen(text);
    return p.at && p.len >= len && memcmp(p.at, text, len) == 0;
}

static void take_bytes(struct piece *p, size_t n)
{
    p->at += n;
    p->len -= n;
}

bool piece_take(struct piece *p, const char *text)
{
    if (!piece_begins(*p, text))
        return false;
    take_bytes(p, strlen(text));
    return true;
}

bool piece_ends(struct piece p, const char *text)
{
    size_t len = strlen(text);
    return p.at && p.len >= len && memcmp(p.at + p.len - len, text, len) == 0;
}

bool piece_take_number(struct piece *p, int64_t *out)
{
    int64_t v = 0;
    size_t n = 0;

    for (; n < p->len && p->at[n] >= '0' && p->at[n] <= '9'; n++) {
        v = v * 10 + (p->at[n] - '0');
        if (v > JSON_INT_MAX)
            return false;
    }
    if (n == 0)
        return false;
    *out = v;
    take_bytes(p, n);
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool piece_take_hex(struct piece *p, uint64_t *out)
{
    uint64_t v = 0;
    size_t n = 0;

    for (; n < p->len && hex_digit(p->at[n]) >= 0; n++)
        v = v << 4 | (uint64_t)hex_digit(p->at[n]);
    if (n == 0 || n > 16)
        return false;
    *out = v;
    take_bytes(p, n);
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void piece_skip_blanks(struct piece *p)
{
    while (p->len > 0 && is_blank(*p->at))
        take_bytes(p, 1);
}

struct piece piece_take_word(struct piece *p)
{
    struct piece word = {p->at, 0};

    while (word.len < p->len && !is_blank(word.at[word.len]))
        word.len++;
    take_bytes(p, word.len);
    return word;
}
