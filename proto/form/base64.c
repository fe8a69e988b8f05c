#include "proto/form/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes as four characters. */
static void put_group(char *out, const unsigned char *p, size_t n)
{
    unsigned bits = (unsigned)p[0] << 16 | (n > 1 ? (unsigned)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);

    out[0] = ALPHABET[bits >> 18];
    out[1] = ALPHABET[bits >> 12 & 63];
    out[2] = n > 1 ? ALPHABET[bits >> 6 & 63] : '=';
    out[3] = n > 2 ? ALPHABET[bits & 63] : '=';
}

void base64_encode(struct buf *out, const void *data, size_t len)
{
    const unsigned char *p = data;

    buf_reserve(out, (len + 2) / 3 * 4 + 1);
    for (; len > 0; out->len += 4) {
        size_t n = len < 3 ? len : 3;
        put_group(out->data + out->len, p, n);
        p += n;
        len -= n;
    }
    if (out->data)
        out->data[out->len] = '\0';
}

/* The value of a character, or -1. */
static int value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_strict(const char *text, size_t len, size_t padding)
{
    if (len % 4 != 0)
        return false;
    for (size_t i = 0; i < len - padding; i++)
        if (value(text[i]) < 0)
            return false;
    int stray = padding == 2 ? 0x0f : padding == 1 ? 0x03 : 0;
    return !stray || (value(text[len - padding - 1]) & stray) == 0;
}

static void get_group(unsigned char *out, const char *text)
{
    unsigned bits = 0;

    for (int i = 0; i < 4; i++)
        bits = bits << 6 | (text[i] == '=' ? 0 : (unsigned)value(text[i]));
    out[0] = (unsigned char)(bits >> 16);
    out[1] = (unsigned char)(bits >> 8);
    out[2] = (unsigned char)bits;
}

int base64_decode(const char *text, size_t len, struct buf *out)
{
    size_t padding = 0;

    while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
        padding++;
    if (!is_strict(text, len, padding))
        return -EINVAL;
    buf_reserve(out, len / 4 * 3 + 1);
    for (size_t i = 0; i < len; i += 4, out->len += 3)
        get_group((unsigned char *)out->data + out->len, text + i);
    out->len -= padding;
    out->data[out->len] = '\0';
    return 0;
}
