/* SHA-256 of libcrypto: the fastest there is, at the price of loading and setting up libcrypto. */
#include "base/digest.h"

#include <openssl/evp.h>

#include "base/digest_hex.h"
#include "base/mem.h"

struct digest {
    EVP_MD_CTX *ctx;
};

struct digest *digest_new(void)
{
    struct digest *d = mem_alloc(sizeof *d);

    d->ctx = EVP_MD_CTX_new();
    if (!d->ctx || EVP_DigestInit_ex(d->ctx, EVP_sha256(), NULL) != 1)
        abort();
    return d;
}

void digest_add(struct digest *d, const void *data, size_t len)
{
    if (EVP_DigestUpdate(d->ctx, data, len) != 1)
        abort();
}

void digest_finish(struct digest *d, char hex[DIGEST_HEX])
{
    unsigned char raw[EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    if (EVP_DigestFinal_ex(d->ctx, raw, &len) != 1 || len != DIGEST_BYTES)
        abort();
    digest_hex(raw, hex);
    digest_free(d);
}

void digest_free(struct digest *d)
{
    if (!d)
        return;
    EVP_MD_CTX_free(d->ctx);
    free(d);
}
