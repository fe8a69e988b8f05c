/* calls N: the naive recursion as a compiler of a language with a runtime would write it, each call
 * with a frame, its argument and its result moved; prints its result. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "frame.h"
#include "value.h"

enum { N_MAX = 40 };

static const struct frame_descriptor descriptor = {"fib", "benchmarks/programs/fib.src", 3};

__attribute__((noinline)) static void fib(struct value *result, struct value *argument)
{
    struct frame frame;
    struct value n, one, two, less, sum;

    frame_push(&frame, &descriptor);
    value_move(&n, argument);
    if (value_is_less(&n, 2)) {
        value_move(result, &n);
    } else {
        value_subtract(&less, &n, 1);
        fib(&one, &less);
        value_subtract(&less, &n, 2);
        fib(&two, &less);
        value_add(&sum, &one, &two);
        value_move(result, &sum);
    }
    frame_pop(&frame);
}

int main(int argc, char **argv)
{
    struct value result, argument = {1, -1};
    char *end = NULL;
    long n = -1;

    errno = 0;
    if (argc == 2)
        n = strtol(argv[1], &end, 10);
    if (n < 0 || n > N_MAX || errno != 0 || end == argv[1] || *end != '\0') {
        (void)fprintf(stderr, "usage: calls N, with N from 0 to %d\n", N_MAX);
        return 2;
    }
    argument.integer = n;
    fib(&result, &argument);
    return printf("calls %ld %" PRId64 "\n", n, result.integer) < 0;
}
