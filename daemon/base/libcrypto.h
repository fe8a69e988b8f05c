/* The functions of libcrypto that check a signature, found when they are needed: loading and
 * setting up libcrypto would take most of the time of every command of the client that needs none
 * of it. The daemon is linked with libcrypto anyway, and finds its own.
 */
#pragma once

#include <stdbool.h>

#include <openssl/evp.h>

struct libcrypto {
    void *handle;
    __typeof__(&EVP_PKEY_new_raw_public_key) new_raw_public_key;
    __typeof__(&EVP_PKEY_free) pkey_free;
    __typeof__(&EVP_MD_CTX_new) ctx_new;
    __typeof__(&EVP_MD_CTX_free) ctx_free;
    __typeof__(&EVP_DigestVerifyInit) verify_init;
    __typeof__(&EVP_DigestVerify) verify;
};

/* False: it is not on this machine, or another version. */
bool libcrypto_load(struct libcrypto *out);
void libcrypto_unload(struct libcrypto *c);
