#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>

struct counters counters;

void fail(const char *why)
{
    (void)fprintf(stderr, "representation: %s\n", why);
    exit(1);
}

void *allocate(size_t bytes, uint64_t *counter)
{
    void *memory = malloc(bytes);

    if (memory == NULL)
        fail("there is no memory");
    ++*counter;
    return memory;
}
