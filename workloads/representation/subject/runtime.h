/* What the runtime counts of its own work, and its memory. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <stddef.h>
#include <stdint.h>

struct counters {
    uint64_t union_boxes;     /* allocations that hold the member of a union */
    uint64_t environments;    /* allocations that hold all captures of a callable */
    uint64_t overflow_blocks; /* allocations for captures that do not fit into a callable */
    uint64_t retains, releases;
};

extern struct counters counters;

/* Says why on stderr and ends the program with status 1. */
_Noreturn void fail(const char *why);

/* Never NULL; counted in *counter. */
void *allocate(size_t bytes, uint64_t *counter);

#endif
