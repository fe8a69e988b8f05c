/* The public half of keys.h, which the client has too. */
#include "base/keys.h"

#include <string.h>

#include "base/digest.h"

static unsigned char hex_value(char c)
{
    return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void key_raw(const char *public_hex, unsigned char raw[KEY_BYTES])
{
    for (size_t i = 0; i < KEY_BYTES; i++)
        raw[i] =
            (unsigned char)(hex_value(public_hex[2 * i]) << 4 | hex_value(public_hex[2 * i + 1]));
}

bool key_valid(const char *public_hex)
{
    return digest_valid(public_hex); /* the same form: 32 bytes */
}

void key_id(const char *public_hex, char id[KEY_ID])
{
    unsigned char raw[KEY_BYTES];
    char digest[DIGEST_HEX];

    key_raw(public_hex, raw);
    digest_bytes(raw, sizeof raw, digest);
    memcpy(id, digest, KEY_ID - 1);
    id[KEY_ID - 1] = '\0';
}
