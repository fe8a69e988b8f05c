/* What the integer loops do besides looping: start, print a number, end. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

int main(void)
{
    if (printf("%" PRId64 "\n", (int64_t)0) < 0 || fflush(stdout) != 0) {
        (void)fprintf(stderr, "startup: cannot write to stdout\n");
        return 1;
    }
    return 0;
}
