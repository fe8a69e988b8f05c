/* Where two JSON documents differ first, for a person. */
#pragma once

#include <stddef.h>

#include "base/arena.h"

/* "grade.value", "workloads[0].rows[1].wall.median_ns"; "the spelling" when they say the same, "all
 * of it" when one is no JSON. Lives in a. */
const char *json_difference(struct arena *a, const char *one, size_t one_len, const char *other,
                            size_t other_len);
