/* Instructions of a program that ran under valgrind's tool callgrind: the files that it left, one a
 * process, each ending in a line "totals: N". */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The total of one file, from its end: its last bytes, at least 64 of them where it has so many.
 * -1: it does not end as such a file does. */
int64_t callgrind_total(const char *tail, size_t len);
