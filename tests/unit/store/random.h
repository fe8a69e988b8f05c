/* Random records for the tests of round trips: members filled and compared by lists of their names.
 */
#pragma once

#include "tests/unit/store/unit.h"

#include <math.h>
#include <time.h>

/* ---- random members; the seed is printed and may be given in AURABENCH_SEED ---- */

static uint64_t seed;

static inline uint64_t rnd(uint64_t below)
{
    seed ^= seed << 13; /* xorshift64, Marsaglia 2003 */
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static inline int start_seed(void **ctx)
{
    const char *given = getenv("AURABENCH_SEED");
    seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 2654435761u;
    if (seed == 0)
        seed = 1;
    printf("AURABENCH_SEED=%llu\n", (unsigned long long)seed);
    (void)ctx;
    return 0;
}

/* Never NULL: any bytes but 0, quotes and newlines and broken UTF-8 among them. */
static inline const char *rnd_text(struct unit *u)
{
    size_t n = (size_t)rnd(40);
    char *s = arena_alloc(&u->arena, n + 1);
    for (size_t i = 0; i < n; i++)
        s[i] = (char)(1 + rnd(255));
    return s;
}

static inline const char *rnd_text_or_null(struct unit *u)
{
    return rnd(4) == 0 ? NULL : rnd_text(u);
}

static inline int64_t rnd_int64(void)
{
    switch (rnd(4)) {
    case 0:
        return -1; /* unknown */
    case 1:
        return 0;
    case 2:
        return INT64_MAX - (int64_t)rnd(1000);
    }
    return (int64_t)rnd(1000000000000);
}

static inline int rnd_int(void)
{
    return rnd(3) == 0 ? -1 : (int)rnd(INT32_MAX);
}

static inline double rnd_real(void)
{
    switch (rnd(4)) {
    case 0:
        return (double)NAN;
    case 1:
        return (double)rnd(100);
    }
    return (double)rnd(1u << 30) / 7.0;
}

static inline bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool same_real(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a <= b && a >= b);
}

/* For lists of members: fills the one of `x`, compares those of `x` and `y`. */
#define FILL_TEXT(m) x->m = rnd_text(u);
#define FILL_TEXT_OR_NULL(m) x->m = rnd_text_or_null(u);
#define FILL_INT64(m) x->m = rnd_int64();
#define FILL_INT(m) x->m = rnd_int();
#define FILL_REAL(m) x->m = rnd_real();
#define FILL_BOOL(m) x->m = rnd(2) == 0;
#define SAME_TEXT(m)                                                                               \
    if (!same_text(x->m, y->m))                                                                    \
        fail_msg("member %s differs", #m);
#define SAME_INT(m)                                                                                \
    if (x->m != y->m)                                                                              \
        fail_msg("member %s differs", #m);
#define SAME_REAL(m)                                                                               \
    if (!same_real(x->m, y->m))                                                                    \
        fail_msg("member %s differs", #m);
