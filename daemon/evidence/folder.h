/* A folder that appears whole or not at all: filled under a temporary name, settled (modes, fsync)
 * and renamed. Nothing is replaced. Internal to evidence/.
 */
#pragma once

#include "base/digest.h"
#include "base/err.h"
#include "base/keys.h"

/* Makes root/name; fill puts everything into dir, SHA256SUMS last. 0, or -errno with e filled
 * ("evidence.exists", "evidence.name", and those of fill); on failure nothing remains. */
typedef int (*folder_fill)(void *ctx, const char *dir, struct err *e);
int folder_make(const char *root, const char *name, folder_fill fill, void *ctx, struct err *e);

/* Writes SHA256SUMS over all that is in dir, and with a key its signature. */
int folder_put_sums(const char *dir, const struct key *key, char sums_sha256[DIGEST_HEX],
                    struct err *e);
