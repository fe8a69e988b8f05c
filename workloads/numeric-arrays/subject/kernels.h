/* The operations on arrays that are measured. Those that make an array return a fresh one of n
 * elements, which the caller frees; none changes its input. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stddef.h>
#include <stdint.h>

double *float64_add(const double *a, const double *b, size_t n);
int32_t *int32_add(const int32_t *a, const int32_t *b, size_t n);
int64_t *int64_add(const int64_t *a, const int64_t *b, size_t n);

/* The low bits of each product. */
int32_t *int32_mul(const int32_t *a, const int32_t *b, size_t n);
int64_t *int64_mul(const int64_t *a, const int64_t *b, size_t n);

/* From left to right, so that the result does not depend on the machine. */
double float64_sum(const double *a, size_t n);
int64_t int32_sum(const int32_t *a, size_t n);
int64_t int64_sum(const int64_t *a, size_t n);

/* n is at least 1. */
int32_t int32_max(const int32_t *a, size_t n);
int64_t int64_max(const int64_t *a, size_t n);

#endif
