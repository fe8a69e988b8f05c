/* Random raw reports that a decoder accepts: every member of every flat record takes values from
 * its whole range, strings hold what JSON and terminals find hard, and any part may be missing.
 * Filled through the tables of proto/doc/doc_raw.h, so that a new member is covered at once. */
#pragma once

#include "../core/prng.h"
#include "base/arena.h"
#include "core/raw.h"

struct raw *random_raw(struct arena *a, struct prng *p);
