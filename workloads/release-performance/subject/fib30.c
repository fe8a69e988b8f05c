/* Naive recursive fib(30) with checked additions. */
#include "record.h"

#include <inttypes.h>
#include <stdint.h>

/* Every call has to happen, as in a language that cannot see through it. Left alone, a compiler
 * inlines the recursion into itself and drops most of the calls because it knows their results;
 * then this would not be the naive recursion any more. */
__attribute__((noinline)) static int64_t fib(int64_t n)
{
    int64_t sum;

    __asm__ volatile("" : "+r"(n));
    if (n < 2)
        return n;
    if (__builtin_add_overflow(fib(n - 1), fib(n - 2), &sum))
        fail("fib30: overflow in fib(%" PRId64 ")", n);
    return sum;
}

int main(void)
{
    /* Volatile, so that the compiler cannot know the argument. */
    volatile int64_t n = 30;

    record_start("READY release-performance fib30 30", "GO release-performance fib30");
    record_finish("DONE release-performance fib30 %" PRId64, fib(n));
    return 0;
}
