/* Base 64 of RFC 4648 section 4 with padding, in one form: what base64_decode accepts is exactly
 * what base64_encode writes. Bulk data travels in it. */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* Appends the text of len bytes. */
void base64_encode(struct buf *out, const void *data, size_t len);

/* Appends the bytes of the text; 0, or -EINVAL (out is unchanged) on a length that is no multiple
 * of four, a character outside the alphabet, padding inside, or stray bits before the padding. */
int base64_decode(const char *text, size_t len, struct buf *out);
