#include "proto/base64.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <openssl/evp.h>

/* libcrypto's lengths are int. */
#define STEP_BYTES (3 << 18)
#define STEP_CHARS (4 << 18)

void base64_encode(struct buf *out, const void *data, size_t len)
{
    const unsigned char *p = data;
    while (len > 0) {
        size_t step = len < STEP_BYTES ? len : STEP_BYTES;
        buf_reserve(out, (step + 2) / 3 * 4 + 1);
        int n = EVP_EncodeBlock((unsigned char *)out->data + out->len, p, (int)step);
        out->len += (size_t)n;
        p += step;
        len -= step;
    }
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

/* EVP_DecodeBlock forgives white space, foreign padding and stray bits; the text is judged here. */
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

int base64_decode(const char *text, size_t len, struct buf *out)
{
    size_t padding = 0, before = out->len;
    while (padding < 2 && padding < len && text[len - 1 - padding] == '=')
        padding++;
    if (!is_strict(text, len, padding))
        return -EINVAL;
    while (len > 0) {
        size_t step = len < STEP_CHARS ? len : STEP_CHARS;
        buf_reserve(out, step / 4 * 3 + 1);
        int n = EVP_DecodeBlock((unsigned char *)out->data + out->len, (const unsigned char *)text,
                                (int)step);
        if (n < 0) {
            out->len = before;
            return -EINVAL;
        }
        out->len += (size_t)n;
        text += step;
        len -= step;
    }
    out->len -= padding;
    if (out->data)
        out->data[out->len] = '\0';
    return 0;
}
