/* SHA-256 of libmd, for the client: a process that lives for a millisecond has no time to load and
 * set up libcrypto, and hashes little. */
#include "base/digest.h"

#include <sha2.h>

#include "base/digest_hex.h"
#include "base/mem.h"

struct digest {
    SHA2_CTX ctx;
};

struct digest *digest_new(void)
{
    struct digest *d = mem_alloc(sizeof *d);

    SHA256Init(&d->ctx);
    return d;
}

void digest_add(struct digest *d, const void *data, size_t len)
{
    SHA256Update(&d->ctx, data, len);
}

void digest_finish(struct digest *d, char hex[DIGEST_HEX])
{
    unsigned char raw[DIGEST_BYTES];

    SHA256Final(raw, &d->ctx);
    digest_hex(raw, hex);
    digest_free(d);
}

void digest_free(struct digest *d)
{
    free(d);
}
