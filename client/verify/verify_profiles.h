/* What the check of the files asks of that of the profiles. */
#pragma once

#include "client/verify/verify.h"

/* Is the file the tally of an observation? */
bool verify_is_tally(const struct verify *v, const char *path);
