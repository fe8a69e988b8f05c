/* fib N: the naive recursion with checked additions; prints its result. */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_MAX = 40 };

/* Every call has to happen, as in a language that cannot see through it: a compiler that knew the
 * argument, or inlined the recursion into itself, would drop most of the calls. */
__attribute__((noinline)) static int64_t fib(int64_t n)
{
    int64_t sum;

    __asm__ volatile("" : "+r"(n));
    if (n < 2)
        return n;
    if (__builtin_add_overflow(fib(n - 1), fib(n - 2), &sum)) {
        (void)fputs("fib: overflow\n", stderr);
        exit(1);
    }
    return sum;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    long n = -1;

    errno = 0;
    if (argc == 2)
        n = strtol(argv[1], &end, 10);
    if (n < 0 || n > N_MAX || errno != 0 || end == argv[1] || *end != '\0') {
        (void)fprintf(stderr, "usage: fib N, with N from 0 to %d\n", N_MAX);
        return 2;
    }
    return printf("fib %ld %" PRId64 "\n", n, fib(n)) < 0;
}
