/* The public half of keys.h, which the client has too. */
#include "base/keys.h"

#include <string.h>

#include "base/digest.h"
#include "base/libcrypto.h"

static unsigned char hex_value(char c)
{
    return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void from_hex(const char *hex, unsigned char raw[KEY_BYTES])
{
    for (size_t i = 0; i < KEY_BYTES; i++)
        raw[i] = (unsigned char)(hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1]));
}

bool key_valid(const char *public_hex)
{
    return digest_valid(public_hex); /* the same form: 32 bytes */
}

void key_id(const char *public_hex, char id[KEY_ID])
{
    unsigned char raw[KEY_BYTES];
    char digest[DIGEST_HEX];

    from_hex(public_hex, raw);
    digest_bytes(raw, sizeof raw, digest);
    memcpy(id, digest, KEY_ID - 1);
    id[KEY_ID - 1] = '\0';
}

static bool check(const struct libcrypto *c, const unsigned char raw[KEY_BYTES], const void *data,
                  size_t len, const unsigned char signature[KEY_SIGNATURE_BYTES])
{
    EVP_PKEY *pair = c->new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, KEY_BYTES);
    EVP_MD_CTX *ctx = c->ctx_new();
    bool good = pair && ctx && c->verify_init(ctx, NULL, NULL, NULL, pair) == 1 &&
                c->verify(ctx, signature, KEY_SIGNATURE_BYTES, data, len) == 1;

    c->ctx_free(ctx);
    c->pkey_free(pair);
    return good;
}

bool key_verify(const char *public_hex, const void *data, size_t len,
                const unsigned char signature[KEY_SIGNATURE_BYTES])
{
    unsigned char raw[KEY_BYTES];
    struct libcrypto c;

    if (!key_valid(public_hex) || !libcrypto_load(&c))
        return false;
    from_hex(public_hex, raw);
    bool good = check(&c, raw, data, len, signature);
    libcrypto_unload(&c);
    return good;
}

bool key_can_verify(void)
{
    struct libcrypto c;

    if (!libcrypto_load(&c))
        return false;
    libcrypto_unload(&c);
    return true;
}
