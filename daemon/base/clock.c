#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

int64_t clock_read_ns(clockid_t id)
{
    struct timespec ts;

    if (clock_gettime(id, &ts) < 0)
        return 0;
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_wall_ms(void)
{
    return clock_read_ns(CLOCK_REALTIME) / 1000000;
}

void clock_sleep_ns(int64_t ns)
{
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000),
                            .tv_nsec = (long)(ns % 1000000000)};

    while (ns > 0 && nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

char *clock_iso(int64_t wall_ms, char *out)
{
    time_t t = (time_t)(wall_ms / 1000);
    struct tm tm = {0};

    (void)gmtime_r(&t, &tm);
    (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
    return out;
}
