/* Instants as people write and read them: RFC 3339 in UTC, whole seconds. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define INSTANT_TEXT 32

/* "2026-12-01T01:00:00Z" as Unix time in ms; false, and *ms unchanged, for anything else: another
 * offset, a fraction, a date that the calendar does not have, before 1970 or after 9999. */
bool instant_parse(const char *text, int64_t *ms);
/* The same text again; what is less than a second is cut off. */
char *instant_text(int64_t ms, char out[INSTANT_TEXT]);
/* For people: "2026-12-01T01:00Z", with seconds only where they are not 0. */
char *instant_short(int64_t ms, char out[INSTANT_TEXT]);
