#include "value.h"

#include <stdio.h>
#include <stdlib.h>

enum { TAG_NONE, TAG_INTEGER };

/* Not inlined: each kind of work has a symbol of its own. */
#define WORK __attribute__((noinline))

static void fail(void)
{
    (void)fputs("calls: overflow\n", stderr);
    exit(1);
}

WORK void value_move(struct value *to, struct value *from)
{
    *to = *from;
    from->tag = TAG_NONE;
}

WORK void value_subtract(struct value *out, const struct value *a, int64_t b)
{
    out->tag = TAG_INTEGER;
    if (__builtin_sub_overflow(a->integer, b, &out->integer))
        fail();
}

WORK void value_add(struct value *out, const struct value *a, const struct value *b)
{
    out->tag = TAG_INTEGER;
    if (__builtin_add_overflow(a->integer, b->integer, &out->integer))
        fail();
}

WORK bool value_is_less(const struct value *a, int64_t b)
{
    return a->integer < b;
}
