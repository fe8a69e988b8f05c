/* SHA-256. Digests travel as 64 lower-case hex digits.
 *
 * Two files know how: digest_evp.c (libcrypto) is in the base library; a program that brings
 * digest_md.c (libmd) as a source of its own uses that one instead. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DIGEST_HEX 65

struct digest; /* a running computation */

struct digest *digest_new(void);
void digest_add(struct digest *d, const void *data, size_t len);
void digest_finish(struct digest *d, char hex[DIGEST_HEX]); /* frees d */
void digest_free(struct digest *d);

void digest_bytes(const void *data, size_t len, char hex[DIGEST_HEX]);
/* Hashes a regular file; *bytes (may be NULL) is its length. -errno with e filled on failure. */
int digest_file(const char *path, char hex[DIGEST_HEX], int64_t *bytes, struct err *e);
int digest_fd(int fd, char hex[DIGEST_HEX], int64_t *bytes);
bool digest_valid(const char *hex);
