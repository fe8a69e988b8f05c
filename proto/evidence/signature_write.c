/* The half that needs a private key, apart: the client has none, and none of what makes one. */
#include <string.h>

#include "proto/evidence/signature.h"

void signature_write(struct buf *out, const struct key *k, const void *sums, size_t len)
{
    struct signature s;

    memcpy(s.public_hex, key_public(k), KEY_HEX);
    key_sign(k, sums, len, s.bytes);
    signature_line(out, &s);
}
