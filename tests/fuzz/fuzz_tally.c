/* Tallies: what is read and written again is the same text, and it counts as it says; what is
 * refused names its line. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/profile/profile_tally.h"

static const char *fn[] = {"m*n", "?", NULL}, *lib[] = {"libc*", NULL};
static struct category categories[] = {{"fn", {fn, 2}, {NULL, 0}}, {"lib", {NULL, 0}, {lib, 1}}};
static const struct attribution rules = {.format = PROFILE_XCTRACE,
                                         .categories = categories,
                                         .n_categories = ARRAY_LEN(categories),
                                         .process = "*",
                                         .from_ms = 5,
                                         .to_ms = -1};

struct seen {
    struct profile_tally again;
    int64_t count;
};

static bool sample(void *of, const struct profile_sample *s)
{
    struct seen *seen = of;
    int64_t left = (((int64_t)1 << 53) - 1) - seen->count;

    MUST(s->count > 0 && s->at_ns == -1 && s->window != SAMPLE_BY_TIME);
    MUST(!s->symbol.at || !memchr(s->symbol.at, '\0', s->symbol.len));
    if (s->count > left)
        return false;
    seen->count += s->count;
    return profile_tally_add(&seen->again, &rules, s);
}

static void must_be_the_same(struct seen *seen, const char *text, size_t len)
{
    int64_t counts[2 + ATTRIBUTION_VALUES] = {0};
    struct buf again = {0};
    struct err e = {0};

    profile_tally_write(&seen->again, &again);
    MUST(again.len == len && memcmp(again.data, text, len) == 0);
    buf_deinit(&again);
    MUST(profile_is_tally(text, len));
    MUST(profile_tally_attribute(&rules, text, len, counts, &e) == 0, "%s", e.text);
    MUST(attribution_adds_up(&rules, counts));
    MUST(counts[2 + ATTRIBUTION_SAMPLES] == seen->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen told = {0};
    const struct profile_seen seen = {sample, &told};
    struct err e = {0};
    char *text = mem_alloc(size ? size : 1);

    if (size)
        memcpy(text, data, size);
    int rc = profile_read_tally(text, size, &seen, &e);
    if (fuzz_accepted(rc, &e)) {
        fuzz_count_good();
        must_be_the_same(&told, text, size);
    } else {
        MUST(strcmp(e.code, "profile.bad") == 0 && strncmp(e.field, "line ", 5) == 0);
    }
    profile_tally_deinit(&told.again);
    free(text);
    return 0;
}
