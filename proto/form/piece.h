/* Taking texts of other programs to pieces, which are never copied. */
#pragma once

#include "core/summary/attribution.h"

bool piece_is(struct piece p, const char *text);
bool piece_begins(struct piece p, const char *text);
/* Takes what stands at the beginning of p; false, and p as it was, when it is not there. */
bool piece_take(struct piece *p, const char *text);
bool piece_take_number(struct piece *p, int64_t *out); /* decimal digits, at most 2^53 - 1 */
bool piece_take_hex(struct piece *p, uint64_t *out);   /* 1 to 16 hexadecimal digits */
void piece_skip_blanks(struct piece *p);               /* blanks and tabs */
struct piece piece_take_word(struct piece *p);         /* up to a blank; empty at the end */
bool piece_ends(struct piece p, const char *text);
