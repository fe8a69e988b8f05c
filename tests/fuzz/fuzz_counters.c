/* What a lane prints as its counters: taken are exactly the declared ones, and a line that is shown
 * in a refusal can be. The first byte says how many are declared. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/form/counters.h"

static const char *names_v[] = {"allocations", "retains", "releases", "a"};

static bool is_known(const char *code)
{
    return strcmp(code, "lane.counter_bad") == 0 || strcmp(code, "lane.counter_unknown") == 0 ||
           strcmp(code, "lane.counter_twice") == 0 || strcmp(code, "lane.counter_missing") == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    const struct args names = {names_v, 1 + fuzz_below(&in, 4)};
    struct arena a = {0};
    struct raw_value *values = NULL;
    const char *got = NULL;
    char *text = mem_alloc(in.left ? in.left : 1);
    if (in.left)
        memcpy(text, in.at, in.left);
    const char *code = counters_parse(&a, text, in.left, &names, &values, &got);
    if (code) {
        MUST(is_known(code) && got && !values, "%s", code);
        fuzz_must_be_text(got);
    } else {
        struct buf again = {0};
        fuzz_count_good();
        MUST(!got && values);
        for (size_t i = 0; i < names.n; i++) {
            MUST(values[i].name == names.v[i] && values[i].value >= 0);
            buf_printf(&again, "COUNTER %s %lld\n", values[i].name, (long long)values[i].value);
        }
        MUST(again.len == in.left, "%s", buf_str(&again));
        buf_deinit(&again);
    }
    free(text);
    arena_deinit(&a);
    return 0;
}
