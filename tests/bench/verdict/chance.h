/* Chance that a seed fixes: splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number
 * Generators", 2014) and what follows from uniform numbers by inversion and by Box and Muller.
 */
#pragma once

#include <math.h>
#include <stdint.h>

/* Between 0 and 1, neither of them. */
static inline double chance_uniform(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15U;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static inline double chance_exponential(uint64_t *seed, double mean)
{
    return -mean * log(chance_uniform(seed));
}

/* Mean 0, standard deviation 1. */
static inline double chance_normal(uint64_t *seed)
{
    double radius = sqrt(-2 * log(chance_uniform(seed)));

    return radius * cos(2 * 3.14159265358979323846 * chance_uniform(seed));
}
