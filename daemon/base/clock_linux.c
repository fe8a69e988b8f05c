#include "base/clock.h"

int64_t clock_mono_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC_RAW);
}

int64_t clock_suspend_ns(void)
{
    return clock_read_ns(CLOCK_BOOTTIME) - clock_read_ns(CLOCK_MONOTONIC);
}

const char *clock_name(void)
{
    return "CLOCK_MONOTONIC_RAW";
}
