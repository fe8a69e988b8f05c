/* The clocks. One clock times (it does not count suspend: CLOCK_MONOTONIC_RAW on Linux,
 * CLOCK_UPTIME_RAW on macOS); wall-clock time is for people only. */
#pragma once

#include <stdint.h>
#include <time.h>

int64_t clock_mono_ns(void);         /* the timing clock */
int64_t clock_suspend_ns(void);      /* time spent suspended since boot, as far as the system tells;
                                        grows by a suspend, constant otherwise (within about 1 ms) */
int64_t clock_read_ns(clockid_t id); /* any clock of the system; 0 when it has none such */
int64_t clock_wall_ms(void);         /* Unix time in ms */
void clock_sleep_ns(int64_t ns);
const char *clock_name(void); /* "CLOCK_MONOTONIC_RAW" */
/* "2026-11-30T17:35:52Z" into out (at least 32 bytes). */
char *clock_iso(int64_t wall_ms, char *out);
