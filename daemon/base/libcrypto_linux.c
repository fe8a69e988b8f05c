#include "base/libcrypto.h"

#include <dlfcn.h>
#include <string.h>

#define TEXT(x) #x
#define NAME(version) "libcrypto.so." TEXT(version)

/* dlsym gives a pointer to data; POSIX has it hold that of a function. */
static bool find(void *handle, const char *name, void *slot)
{
    void *address = dlsym(handle, name);

    memcpy(slot, &address, sizeof address);
    return address != NULL;
}

bool libcrypto_load(struct libcrypto *out)
{
    void *h = dlopen(NAME(OPENSSL_SHLIB_VERSION), RTLD_LAZY | RTLD_LOCAL);

    if (!h)
        return false;
    out->handle = h;
    if (find(h, "EVP_PKEY_new_raw_public_key", &out->new_raw_public_key) &&
        find(h, "EVP_PKEY_free", &out->pkey_free) && find(h, "EVP_MD_CTX_new", &out->ctx_new) &&
        find(h, "EVP_MD_CTX_free", &out->ctx_free) &&
        find(h, "EVP_DigestVerifyInit", &out->verify_init) &&
        find(h, "EVP_DigestVerify", &out->verify))
        return true;
    libcrypto_unload(out);
    return false;
}

void libcrypto_unload(struct libcrypto *c)
{
    (void)dlclose(c->handle);
}
