/* What a lane prints as its samples: one line "SAMPLE name index value" for each, ended by a
 * newline, and nothing else. The indexes of a series are 0, 1, 2, ... in this order, as many as its
 * workload declares; the lines of different series may stand in any order. A value is a decimal
 * number of 0 to 2^53 - 1 without sign or leading zeros, in the unit of the series; a line has at
 * most 512 bytes with its newline. */
#pragma once

#include "base/arena.h"
#include "core/raw.h"

#define SAMPLE_LINE_MAX 512

/* Fills out with n series in the order of declared (n of them, with SAMPLES_MAX samples at most in
 * all). NULL, or the outcome that names what is wrong: "lane.line_too_long", "lane.sample_bad" (a
 * line that is none), "lane.sample_unknown" (a series that is not declared), "lane.sample_twice"
 * (an index that was there), "lane.sample_gap" (an index that is not the next), "lane.sample_extra"
 * (more than declared), "lane.sample_missing" (fewer than declared); then *got is the line, or the
 * name of the series, as text. All of it lives in a. */
const char *samples_parse(struct arena *a, const char *text, size_t len,
                          const struct sample_series *declared, size_t n, struct raw_samples **out,
                          const char **got);
