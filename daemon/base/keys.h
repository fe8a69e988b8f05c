/* Ed25519 keys (libcrypto): a host signs what it has sealed, and anyone can check who did.
 *
 * A public key is 32 raw bytes and travels as 64 lower-case hex digits; its id, for people, is the
 * first 16 hex digits of the SHA-256 of these bytes. The private key lies in one file, PKCS #8 as
 * PEM, which only its owner may read; it is made once and never overwritten.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define KEY_BYTES 32
#define KEY_HEX 65
#define KEY_ID 17
#define KEY_SIGNATURE_BYTES 64

struct key; /* a private key */

/* Loads the private key at path, or makes it there when there is none (fsynced, mode 0600). The
 * public part is kept beside it: public_path holds its hex digits and a newline. 0 or -errno with e
 * filled: key.exposed (others could read or write the file), key.bad (it is no Ed25519 key),
 * system.*. */
int key_load(const char *path, const char *public_path, struct key **out, struct err *e);
void key_free(struct key *k);

const char *key_public(const struct key *k); /* hex; lives as long as k */
void key_sign(const struct key *k, const void *data, size_t len,
              unsigned char signature[KEY_SIGNATURE_BYTES]);

/* True when the signature over data was made by the key whose public part is public_hex. */
bool key_verify(const char *public_hex, const void *data, size_t len,
                const unsigned char signature[KEY_SIGNATURE_BYTES]);
/* False: what checks is not there, and no signature is found good. */
bool key_can_verify(void);
bool key_valid(const char *public_hex);                             /* 64 lower-case hex digits */
void key_raw(const char *public_hex, unsigned char raw[KEY_BYTES]); /* of a valid one */
void key_id(const char *public_hex, char id[KEY_ID]);
