/* An arena: many small allocations with one lifetime, freed together.
 *
 * Decoded documents (suite, job, policy, raw report, summary) live in one: every string and array
 * that hangs from such a struct is owned by its arena, and nothing in it is freed alone.
 */
#pragma once

#include <stddef.h>

struct arena {
    struct arena_block *blocks;
};

/* How far an arena was filled; good as long as no earlier mark of it has been gone back to. */
struct arena_mark {
    struct arena_block *block, *next;
    size_t used;
};

/* A zeroed struct arena is ready to use. */
void arena_deinit(struct arena *a); /* frees all; the arena is then empty and usable again */
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, const struct arena_mark *mark); /* frees what came after it */
void *arena_alloc(struct arena *a, size_t bytes); /* zeroed, aligned for any type; never NULL */
void *arena_array(struct arena *a, size_t count, size_t size); /* zeroed; NULL if count is 0 */
char *arena_strdup(struct arena *a, const char *s);            /* NULL in, NULL out */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
