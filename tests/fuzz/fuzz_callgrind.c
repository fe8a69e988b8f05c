/* The end of a file that callgrind wrote: a total is taken only from its last line. */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/form/callgrind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    char *text = mem_alloc(in.left ? in.left : 1), digits[32];
    if (in.left)
        memcpy(text, in.at, in.left);
    int64_t total = callgrind_total(text, in.left);
    MUST(total >= -1 && total < (int64_t)1 << 53, "%lld", (long long)total);
    if (total >= 0) {
        fuzz_count_good();
        (void)snprintf(digits, sizeof digits, "%lld\n", (long long)total);
        MUST(in.left > strlen(digits) && text[in.left - 1] == '\n');
    }
    free(text);
    return 0;
}
