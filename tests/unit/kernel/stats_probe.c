/* Asked by wasm.mjs: the statistics of samples that both make, as hex of the struct's bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "core/kernel/kernel.h"

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    struct arena a = {0};
    int64_t *ns = arena_array(&a, n, sizeof *ns);
    struct kernel_stats stats;
    uint32_t x = 12345;

    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        ns[i] = (int64_t)(x >> 4);
    }
    kernel_stats_of(&a, ns, n, &stats);
    for (size_t i = 0; i < sizeof stats; i++)
        (void)printf("%02x", ((const unsigned char *)&stats)[i]);
    arena_deinit(&a);
    return puts("") < 0;
}
