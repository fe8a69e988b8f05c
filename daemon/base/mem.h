/* Memory: allocation that cannot fail to its caller, scope-exit cleanup, growing arrays.
 *
 * Every size in this program is bounded before it is allocated, so a failed malloc means that the
 * machine is out of memory; the process then says so and aborts, and the store is intact by design.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

void *mem_alloc(size_t bytes); /* zeroed; never NULL */
void *mem_realloc_array(void *p, size_t count, size_t size);
char *mem_strdup(const char *s); /* NULL in, NULL out */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Scope-exit cleanup: `CLEANUP(mem_freep) char *s = ...;` */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

static inline void mem_freep(void *p)
{
    free(*(void **)p);
    *(void **)p = NULL;
}

static inline void mem_closep(const int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

/* Moves a pointer out of a cleaned-up variable. */
#define MEM_STEAL(p)                                                                               \
    __extension__({                                                                                \
        __typeof__(p) stolen_ = (p);                                                               \
        (p) = NULL;                                                                                \
        stolen_;                                                                                   \
    })

/* The same for a descriptor; the variable is -1 then. */
#define MEM_STEAL_FD(fd)                                                                           \
    __extension__({                                                                                \
        int stolen_ = (fd);                                                                        \
        (fd) = -1;                                                                                 \
        stolen_;                                                                                   \
    })

/* Makes room for one more item in the growing array (items, count, cap). */
#define MEM_GROW(items, count, cap)                                                                \
    do {                                                                                           \
        if ((count) == (cap)) {                                                                    \
            (cap) = (cap) ? (cap)*2 : 8;                                                           \
            (items) = mem_realloc_array((items), (cap), sizeof *(items));                          \
        }                                                                                          \
    } while (0)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
