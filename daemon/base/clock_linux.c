#include "base/clock.h"

#define SUSPEND_TRIES 8

int64_t clock_mono_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC_RAW);
}

/* Two clocks cannot be read at once, and being scheduled away between the readings would look like
 * a suspend: the reading that was bracketed most narrowly counts. */
int64_t clock_suspend_ns(void)
{
    int64_t best_ns = 0, narrowest_ns = INT64_MAX;

    for (int i = 0; i < SUSPEND_TRIES; i++) {
        int64_t before_ns = clock_read_ns(CLOCK_MONOTONIC);
        int64_t boot_ns = clock_read_ns(CLOCK_BOOTTIME);
        int64_t bracket_ns = clock_read_ns(CLOCK_MONOTONIC) - before_ns;
        if (bracket_ns < narrowest_ns) {
            narrowest_ns = bracket_ns;
            best_ns = boot_ns - before_ns - bracket_ns / 2;
        }
    }
    return best_ns;
}

const char *clock_name(void)
{
    return "CLOCK_MONOTONIC_RAW";
}
