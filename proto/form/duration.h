/* Durations as people write and read them: one number and one unit in documents ("10m"), the two
 * largest units in output ("9m 50s").
 *
 * duration_parse reads back the very milliseconds that duration_text wrote, up to DURATION_MAX_MS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DURATION_TEXT 48                          /* room for any text written here */
#define DURATION_MAX_MS ((int64_t)366 * 86400000) /* longer ones are refused */

/* "250ms", "90s", "10m", "2h", "1d": decimal digits without a sign, no space. *ms is unchanged and
 * false returned for anything else. */
bool duration_parse(const char *text, int64_t *ms);

/* The largest unit that divides ms (not negative): 600000 is "10m", 90000 "90s", 0 "0s". */
char *duration_text(int64_t ms, char out[DURATION_TEXT]);

/* For people, rounded down: "250ms", "9s", "9m 50s", "3h 5m", "2d 3h"; negative is "0s". */
char *duration_format(int64_t ms, char out[DURATION_TEXT]);
