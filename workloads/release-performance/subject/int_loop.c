/* Counts to 10,000,000 by checked additions of one. INT_LOOP_TYPE is int32_t or int64_t. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

enum { ITERATIONS = 10000000 };

int main(void)
{
    INT_LOOP_TYPE counter = 0;

    while (counter < ITERATIONS) {
        if (__builtin_add_overflow(counter, (INT_LOOP_TYPE)1, &counter)) {
            (void)fprintf(stderr, "int_loop: the counter overflowed\n");
            return 1;
        }
        /* The compiler has to assume that this changes the counter, so every addition and
         * every check is done; the counter stays in its register. */
        __asm__ volatile("" : "+r"(counter));
    }
    if (printf("%" PRId64 "\n", (int64_t)counter) < 0 || fflush(stdout) != 0) {
        (void)fprintf(stderr, "int_loop: cannot write to stdout\n");
        return 1;
    }
    return 0;
}
