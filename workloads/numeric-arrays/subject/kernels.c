#include "kernels.h"

#include "record.h"

#include <stdlib.h>

static void *fresh(size_t n, size_t size)
{
    void *result = malloc(n * size);

    if (result == NULL)
        fail("arrays: there is no memory for %zu elements", n);
    return result;
}

#define ADD(name, type)                                                                            \
    type *name(const type *a, const type *b, size_t n)                                             \
    {                                                                                              \
        type *restrict result = fresh(n, sizeof *result);                                          \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            result[i] = a[i] + b[i];                                                               \
        return result;                                                                             \
    }

ADD(float64_add, double)
ADD(int32_add, int32_t)
ADD(int64_add, int64_t)

/* Unsigned, because there it is defined that the high bits go. */
#define MUL(name, type, wide)                                                                      \
    type *name(const type *a, const type *b, size_t n)                                             \
    {                                                                                              \
        type *restrict result = fresh(n, sizeof *result);                                          \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            result[i] = (type)((wide)a[i] * (wide)b[i]);                                           \
        return result;                                                                             \
    }

MUL(int32_mul, int32_t, uint32_t)
MUL(int64_mul, int64_t, uint64_t)

#define SUM(name, type, total)                                                                     \
    total name(const type *a, size_t n)                                                            \
    {                                                                                              \
        total sum = 0;                                                                             \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            sum += a[i];                                                                           \
        return sum;                                                                                \
    }

SUM(float64_sum, double, double)
SUM(int32_sum, int32_t, int64_t)
SUM(int64_sum, int64_t, int64_t)

#define MAX(name, type)                                                                            \
    type name(const type *a, size_t n)                                                             \
    {                                                                                              \
        type most = a[0];                                                                          \
                                                                                                   \
        for (size_t i = 1; i < n; i++)                                                             \
            most = a[i] > most ? a[i] : most;                                                      \
        return most;                                                                               \
    }

MAX(int32_max, int32_t)
MAX(int64_max, int64_t)
