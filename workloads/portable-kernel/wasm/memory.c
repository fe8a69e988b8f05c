/* What base/mem gives, for a machine that has no stderr: out of memory is a trap. */
#include "base/mem.h"

#include <stdlib.h>

void *mem_alloc(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p)
        abort();
    return p;
}
