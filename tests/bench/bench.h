/* What the programs of the benchmarks share. A program prints its samples, one a line: the name of
 * a series and a number of nanoseconds; the driver (bench.py) pairs and judges them. Whatever goes
 * wrong ends the program with a sentence: a benchmark never measures a failure.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/err.h"

static inline int64_t bench_now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void bench_sample(const char *series, int64_t ns)
{
    (void)printf("%s %lld\n", series, (long long)ns);
}

static inline void bench_fail(const char *what, const char *why)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* A call that must succeed; e is its struct err. */
#define BENCH_OK(call, e)                                                                          \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            bench_fail(#call, (e)->text);                                                          \
    } while (0)

/* The whole number `text`, 1 to most. */
static inline int bench_count(const char *text, long most)
{
    char *end = NULL;
    long n = strtol(text, &end, 10);

    if (*text == '\0' || *end != '\0' || n < 1 || n > most)
        bench_fail(text, "is no count that this program takes");
    return (int)n;
}
