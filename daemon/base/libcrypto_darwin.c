/* libcrypto lies wherever it was installed, in no folder that is searched: linked as usual. */
#include "base/libcrypto.h"

bool libcrypto_load(struct libcrypto *out)
{
    *out = (struct libcrypto){.new_raw_public_key = EVP_PKEY_new_raw_public_key,
                              .pkey_free = EVP_PKEY_free,
                              .ctx_new = EVP_MD_CTX_new,
                              .ctx_free = EVP_MD_CTX_free,
                              .verify_init = EVP_DigestVerifyInit,
                              .verify = EVP_DigestVerify};
    return true;
}

void libcrypto_unload(struct libcrypto *c)
{
    (void)c;
}
