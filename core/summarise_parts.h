/* Inside of summarise: the comparisons, which fill a file of their own. */
#pragma once

#include "core/summarise.h"

/* Fills comparisons and n_comparisons of s. */
void summarise_comparisons(struct arena *a, const struct raw *raw, struct summary *s);
