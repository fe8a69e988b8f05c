/* SHA256SUMS.sig: who sealed an evidence folder, as one line of text:
 *
 *     aurabench-ed25519 1 <public key, 64 hex digits> <signature, base 64>
 *
 * The signature is plain Ed25519 (RFC 8032) over the bytes of SHA256SUMS. The form is strict: what
 * signature_parse accepts is exactly what signature_write writes.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/keys.h"

#define SIGNATURE_TEXT_MAX 256

struct signature {
    char public_hex[KEY_HEX];
    unsigned char bytes[KEY_SIGNATURE_BYTES];
};

/* Appends the line for sums signed by k. */
void signature_write(struct buf *out, const struct key *k, const void *sums, size_t len);
/* Appends the line of a signature that was made before. */
void signature_line(struct buf *out, const struct signature *s);
/* 0, or -EINVAL with e filled ("signature.bad"). */
int signature_parse(const char *text, size_t len, struct signature *out, struct err *e);
