/* What a lane prints as its samples: what is taken is exactly what was printed, series by series,
 * and a line that is shown in a refusal can be. The first byte says how many series are declared.
 */
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/form/samples.h"

static const struct sample_series declared[] = {
    {.name = "overshoot", .unit = SAMPLE_NS, .min = 2, .max = 6, .p99_max = -1},
    {.name = "arm_span", .unit = SAMPLE_NS, .min = 1, .max = 1, .p99_max = -1},
    {.name = "a", .unit = SAMPLE_COUNT, .min = 0, .max = 3, .p99_max = -1},
};

static bool is_known(const char *code)
{
    static const char *const codes[] = {
        "lane.line_too_long", "lane.sample_bad",   "lane.sample_unknown", "lane.sample_twice",
        "lane.sample_gap",    "lane.sample_extra", "lane.sample_missing"};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        if (strcmp(code, codes[i]) == 0)
            return true;
    return false;
}

/* As many bytes as were printed, and as many samples as are asked for. */
static void must_be_all(const struct raw_samples *samples, size_t n, size_t len)
{
    struct buf again = {0};
    for (size_t i = 0; i < n; i++) {
        const struct raw_samples *s = &samples[i];
        MUST(s->name == declared[i].name && (int64_t)s->n >= declared[i].min &&
             (int64_t)s->n <= declared[i].max);
        for (size_t k = 0; k < s->n; k++) {
            MUST(s->v[k] >= 0);
            buf_printf(&again, "SAMPLE %s %zu %lld\n", s->name, k, (long long)s->v[k]);
        }
    }
    MUST(again.len == len, "%s", buf_str(&again));
    buf_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    size_t n = 1 + fuzz_below(&in, 3);
    struct arena a = {0};
    struct raw_samples *samples = NULL;
    const char *got = NULL;
    char *text = mem_alloc(in.left ? in.left : 1);
    if (in.left)
        memcpy(text, in.at, in.left);
    const char *code = samples_parse(&a, text, in.left, declared, n, &samples, &got);
    if (code) {
        MUST(is_known(code) && got && !samples, "%s", code);
        fuzz_must_be_text(got);
    } else {
        fuzz_count_good();
        MUST(!got && samples);
        must_be_all(samples, n, in.left);
    }
    free(text);
    arena_deinit(&a);
    return 0;
}
