/* What the two makers of digests share, beside their header. */
#pragma once

#include "base/digest.h"

#define DIGEST_BYTES 32

static inline void digest_hex(const unsigned char raw[DIGEST_BYTES], char hex[DIGEST_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < DIGEST_BYTES; i++) {
        hex[2 * i] = digits[raw[i] >> 4];
        hex[2 * i + 1] = digits[raw[i] & 15];
    }
    hex[DIGEST_HEX - 1] = '\0';
}
