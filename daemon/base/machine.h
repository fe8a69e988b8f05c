/* How a machine is told from others: by a hash of its id, since the id itself is not for strangers.
 */
#pragma once

#include "base/digest.h"

/* id: the machine's own; NULL: it has none, and is told by its name, which the operator chose. */
void machine_hash(const char *id, const char *name, char hex[DIGEST_HEX]);
