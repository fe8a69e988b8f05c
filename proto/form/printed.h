/* Lines of figures that a lane prints: what the parsers of counters and samples share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "proto/form/piece.h"

/* A line as text for people, at most 120 bytes of it: what is no printable ASCII becomes '?'. */
const char *printed_shown(struct arena *a, const char *line, size_t len);

/* What stands before the next blank, which is taken too. False: there is no blank, or nothing
 * before it. */
bool printed_word(struct piece *rest, struct piece *word);

/* A decimal number of 0 to 2^53 - 1 without sign or leading zeros; -1: it is none. */
int64_t printed_number(const char *text, size_t len);
