/* A function with captured integers. Either four words, of which three hold captures and a wider
 * environment takes one block, or, with BOXED, a pointer to an environment of its own. */
#ifndef CALLABLE_H
#define CALLABLE_H

#include <stddef.h>
#include <stdint.h>

enum { CAPTURES_INLINE = 3, CAPTURES_MAX = 8 };

typedef int64_t (*function)(const int64_t *captures, int64_t argument);

/* What is known of a callable's function while it is compiled. */
struct signature {
    function run;
    size_t captures; /* at most CAPTURES_MAX */
};

#if BOXED
struct environment {
    const struct signature *signature;
    int64_t captures[];
};

struct callable {
    struct environment *environment;
};
#else
struct callable {
    const struct signature *signature;
    union {
        int64_t captures[CAPTURES_INLINE];
        int64_t *block; /* where the signature has more captures than that */
    };
};
#endif

/* The signature must live as long as the callable. */
struct callable callable_pack(const struct signature *signature, const int64_t *captures);

int64_t callable_call(const struct callable *callable, int64_t argument);

/* *from is empty afterwards: it must neither be called nor dropped. */
struct callable callable_move(struct callable *from);

void callable_drop(struct callable *callable);

#endif
