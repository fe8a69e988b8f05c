/* Inventories and conditions for people: who makes noise, and what the policy made of the host. */
#pragma once

#include "client/view/term.h"
#include "core/quiet/inventory.h"
#include "core/quiet/qualify.h"

/* "quiet", or "not quiet: 2 competing processes", or "unknown: ...": one line without its end. */
void inventory_line(const struct inventory *inv, struct buf *out);
/* The competitors (with hints: also the closest under the limits) as a table; nothing when there
 * are none. */
void inventory_table(const struct inventory *inv, bool hints, const struct term *term,
                     struct buf *out);
/* "and 8 more competitors" on a line: those that the daemon did not name. */
void inventory_left_out(int64_t n, struct buf *out);
/* "stress-ng (pid 4242) 100 %, cc1 (pid 7) 61 %": at most three, for one line. */
void inventory_names(const struct inventory *inv, struct buf *out);
/* The conditions that are not PASS or NOT_APPLICABLE (all: every one) as a table. */
void conditions_table(const struct condition_result results[COND_COUNT], bool all,
                      const struct term *term, struct buf *out);
/* "PASS" green, "FAIL" red, "UNKNOWN" yellow. */
enum term_style tri_style(enum tri t);
