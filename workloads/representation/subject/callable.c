#include "callable.h"

#include "runtime.h"

#include <stdlib.h>
#include <string.h>

#if BOXED
struct callable callable_pack(const struct signature *signature, const int64_t *captures)
{
    size_t bytes = signature->captures * sizeof *captures;
    struct environment *environment = allocate(sizeof *environment + bytes, &counters.environments);

    environment->signature = signature;
    memcpy(environment->captures, captures, bytes);
    return (struct callable){environment};
}

int64_t callable_call(const struct callable *callable, int64_t argument)
{
    const struct environment *environment = callable->environment;

    return environment->signature->run(environment->captures, argument);
}

void callable_drop(struct callable *callable)
{
    free(callable->environment);
}
#else
static int is_wide(const struct callable *callable)
{
    return callable->signature->captures > CAPTURES_INLINE;
}

struct callable callable_pack(const struct signature *signature, const int64_t *captures)
{
    size_t bytes = signature->captures * sizeof *captures;
    struct callable callable = {.signature = signature};

    if (is_wide(&callable))
        callable.block = allocate(bytes, &counters.overflow_blocks);
    memcpy(is_wide(&callable) ? callable.block : callable.captures, captures, bytes);
    return callable;
}

int64_t callable_call(const struct callable *callable, int64_t argument)
{
    return callable->signature->run(is_wide(callable) ? callable->block : callable->captures,
                                    argument);
}

void callable_drop(struct callable *callable)
{
    if (is_wide(callable))
        free(callable->block);
}
#endif

struct callable callable_move(struct callable *from)
{
    struct callable to = *from;

    *from = (struct callable){0};
    return to;
}
