/* Signatures checked by libcrypto. The client has keys_helper.c in its place. */
#include "base/keys.h"

#include <openssl/evp.h>

static bool check(const unsigned char raw[KEY_BYTES], const void *data, size_t len,
                  const unsigned char signature[KEY_SIGNATURE_BYTES])
{
    EVP_PKEY *pair = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, raw, KEY_BYTES);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = pair && ctx && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, pair) == 1 &&
                EVP_DigestVerify(ctx, signature, KEY_SIGNATURE_BYTES, data, len) == 1;

    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pair);
    return good;
}

bool key_verify(const char *public_hex, const void *data, size_t len,
                const unsigned char signature[KEY_SIGNATURE_BYTES])
{
    unsigned char raw[KEY_BYTES];

    if (!key_valid(public_hex))
        return false;
    key_raw(public_hex, raw);
    return check(raw, data, len, signature);
}

bool key_can_verify(void)
{
    return true;
}
