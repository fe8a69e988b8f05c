/* arrays KERNEL ELEMENTS OPERATIONS: one kernel over and over, on arrays that stand before READY.
 */
#include "kernels.h"
#include "record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 200, STRIDE = 7919 };

struct input {
    void *a, *b;
    size_t n;
};

struct kernel {
    const char *name;
    void *(*fill)(size_t n, uint64_t salt);
    /* The kernel, operations times; returns the checksum. */
    uint64_t (*run)(struct input *input, size_t operations);
};

/* ---- what the arrays hold */

/* Whole numbers from 0 to 999: sums of them are exact in every type, in every order. */
static uint64_t small(size_t i, uint64_t salt)
{
    return (i * 7 + salt) % 1000;
}

/* All bits, for products that do not fit. */
static uint64_t wide(size_t i, uint64_t salt)
{
    return (i + salt) * UINT64_C(0x9e3779b97f4a7c15);
}

#define FILL(name, type, value)                                                                    \
    static void *name(size_t n, uint64_t salt)                                                     \
    {                                                                                              \
        type *result = malloc(n * sizeof *result);                                                 \
                                                                                                   \
        if (result == NULL)                                                                        \
            fail("arrays: there is no memory for %zu elements", n);                                \
        for (size_t i = 0; i < n; i++)                                                             \
            result[i] = (type)(value);                                                             \
        return result;                                                                             \
    }

FILL(fill_float64, double, small(i, salt))
FILL(fill_int32, int32_t, small(i, salt))
FILL(fill_int64, int64_t, small(i, salt))
FILL(fill_wide_int32, int32_t, wide(i, salt) >> 32)
FILL(fill_wide_int64, int64_t, wide(i, salt))

/* ---- how often a kernel runs */

/* The compiler has to assume that the arrays change here, so that each operation is done. */
static void forget(struct input *input)
{
    __asm__ volatile("" : "+r"(input->a), "+r"(input->b) : : "memory");
}

/* Of each fresh array one element counts, and of the last one all do. */
#define RUN_FRESH(name, type, kernel)                                                              \
    static uint64_t name(struct input *input, size_t operations)                                   \
    {                                                                                              \
        uint64_t check = 0;                                                                        \
                                                                                                   \
        for (size_t k = 0; k < operations; k++) {                                                  \
            forget(input);                                                                         \
            type *result = kernel(input->a, input->b, input->n);                                   \
            check += (uint64_t)(int64_t)result[k * STRIDE % input->n];                             \
            for (size_t i = 0; k + 1 == operations && i < input->n; i++)                           \
                check += (uint64_t)(int64_t)result[i];                                             \
            free(result);                                                                          \
        }                                                                                          \
        return check;                                                                              \
    }

#define RUN_REDUCE(name, kernel)                                                                   \
    static uint64_t name(struct input *input, size_t operations)                                   \
    {                                                                                              \
        uint64_t check = 0;                                                                        \
                                                                                                   \
        for (size_t k = 0; k < operations; k++) {                                                  \
            forget(input);                                                                         \
            check += (uint64_t)(int64_t)kernel(input->a, input->n);                                \
        }                                                                                          \
        return check;                                                                              \
    }

RUN_FRESH(run_float64_add, double, float64_add)
RUN_FRESH(run_int32_add, int32_t, int32_add)
RUN_FRESH(run_int64_add, int64_t, int64_add)
RUN_FRESH(run_int32_mul, int32_t, int32_mul)
RUN_FRESH(run_int64_mul, int64_t, int64_mul)
RUN_REDUCE(run_float64_sum, float64_sum)
RUN_REDUCE(run_int32_sum, int32_sum)
RUN_REDUCE(run_int64_sum, int64_sum)
RUN_REDUCE(run_int32_max, int32_max)
RUN_REDUCE(run_int64_max, int64_max)

static const struct kernel kernels[] = {
    {"float64_add", fill_float64, run_float64_add}, {"float64_sum", fill_float64, run_float64_sum},
    {"int32_add", fill_int32, run_int32_add},       {"int32_sum", fill_int32, run_int32_sum},
    {"int32_max", fill_int32, run_int32_max},       {"int32_mul", fill_wide_int32, run_int32_mul},
    {"int64_add", fill_int64, run_int64_add},       {"int64_sum", fill_int64, run_int64_sum},
    {"int64_max", fill_int64, run_int64_max},       {"int64_mul", fill_wide_int64, run_int64_mul},
};

/* ---- arguments */

static size_t parse_count(const char *text)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] == '-' || value < 1 || value > 1000000000)
        fail("arrays: %s is not a number from 1 to 1000000000", text);
    return (size_t)value;
}

static const struct kernel *find_kernel(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    fail("arrays: there is no kernel %s", name);
}

int main(int argc, char **argv)
{
    char ready[LINE_BYTES];
    char go[LINE_BYTES];
    struct input input;
    const struct kernel *kernel;
    size_t operations;

    if (argc != 4)
        fail("usage: arrays KERNEL ELEMENTS OPERATIONS");
    kernel = find_kernel(argv[1]);
    input.n = parse_count(argv[2]);
    operations = parse_count(argv[3]);
    input.a = kernel->fill(input.n, 1);
    input.b = kernel->fill(input.n, 2);
    (void)kernel->run(&input, 1); /* warm: code, data and the allocator */

    (void)snprintf(ready, sizeof ready, "READY numeric-arrays %s %zu %zu", kernel->name, input.n,
                   operations);
    (void)snprintf(go, sizeof go, "GO numeric-arrays %s", kernel->name);
    record_start(ready, go);
    record_finish("DONE numeric-arrays %s %zu %" PRIu64, kernel->name, operations,
                  kernel->run(&input, operations));
    free(input.a);
    free(input.b);
    return 0;
}
