/* Seeded randomness for property tests (splitmix64). The seed comes from AURABENCH_SEED, else from
 * the clock, and is printed, so that a failure can be repeated. */
#pragma once

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct prng {
    uint64_t state;
};

static inline struct prng prng_seeded(const char *test)
{
    const char *given = getenv("AURABENCH_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = given ? strtoull(given, NULL, 10)
                          : (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
    printf("%s: AURABENCH_SEED=%" PRIu64 "\n", test, seed);
    return (struct prng){seed};
}

static inline uint64_t prng_next(struct prng *p)
{
    uint64_t z = (p->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 .. below - 1 */
static inline size_t prng_below(struct prng *p, size_t below)
{
    return (size_t)(prng_next(p) % below);
}
