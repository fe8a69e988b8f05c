/* reproduce.sh: a plain sh script that measures again what its evidence folder reports. It needs
 * the folder, git and aurabench; which daemon measures is up to the caller's options. A pure
 * function of the raw report.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/raw.h"

/* Appends the script. has_bundle: the folder holds commits.bundle; a job with sources cannot be
 * repeated without it, and the script then says so. */
int reproduce_script(const struct raw *raw, bool has_bundle, struct buf *out, struct err *e);
