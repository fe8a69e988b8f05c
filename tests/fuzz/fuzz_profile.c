/* Profiles of all formats: what is read adds up, and so does its tally; what is refused names its
 * line. The first byte is the format. */
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/profile/profile_tally.h"

struct seen {
    enum profile_format format;
    int64_t count;
    int samples;
};

static void must_lie_somewhere(struct piece p)
{
    volatile char sum = 0; /* a sanitizer looks at each byte */

    MUST(p.at || p.len == 0);
    for (size_t i = 0; i < p.len; i++)
        sum = (char)(sum ^ p.at[i]);
}

static bool sample(void *of, const struct profile_sample *s)
{
    struct seen *seen = of;

    must_lie_somewhere(s->symbol);
    must_lie_somewhere(s->object);
    must_lie_somewhere(s->process);
    must_lie_somewhere(s->thread);
    MUST(s->count > 0);
    MUST(!s->symbol.at || s->symbol.len > 0);
    MUST((s->at_ns >= 0) == (seen->format != PROFILE_CALLGRIND));
    MUST(seen->format != PROFILE_CALLGRIND || !(s->is_kernel || s->is_suspended));
    seen->samples++;
    seen->count += s->count;
    return seen->count < ((int64_t)1 << 53);
}

static struct attribution rules_of(enum profile_format format)
{
    static const char *fn[] = {"m*n", "?", "*::*", NULL}, *lib[] = {"libc*", "*/f*", NULL};
    static struct category categories[] = {{"fn", {fn, 3}, {NULL, 0}},
                                           {"lib", {NULL, 0}, {lib, 2}}};

    return (struct attribution){.format = format,
                                .categories = categories,
                                .n_categories = ARRAY_LEN(categories),
                                .process = format == PROFILE_CALLGRIND ? NULL : "*",
                                .from_ms = format == PROFILE_XCTRACE ? 5 : -1,
                                .to_ms = -1};
}

struct tallying {
    struct profile_tally tally;
    const struct attribution *rules;
};

static bool add(void *of, const struct profile_sample *s)
{
    struct tallying *t = of;
    return profile_tally_add(&t->tally, t->rules, s);
}

/* A tally of few bytes' worth of samples is never too large. */
static void must_tally(const struct attribution *rules, const char *text, size_t len,
                       const int64_t *counts)
{
    int64_t again[2 + ATTRIBUTION_VALUES] = {0};
    struct tallying t = {.rules = rules};
    const struct profile_seen seen = {add, &t};
    struct buf tally = {0};
    struct err e = {0};

    if (len > 1 << 12)
        return;
    MUST(profile_read(rules->format, text, len, &seen, &e) == 0, "%s", e.text);
    profile_tally_write(&t.tally, &tally);
    profile_tally_deinit(&t.tally);
    MUST(profile_tally_attribute(rules, tally.data, tally.len, again, &e) == 0, "%s", e.text);
    MUST(memcmp(again, counts, sizeof again) == 0);
    buf_deinit(&tally);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct seen told = {(enum profile_format)(fuzz_byte(&in) % (PROFILE_XCTRACE + 1)), 0, 0};
    const struct profile_seen seen = {sample, &told};
    const struct attribution rules = rules_of(told.format);
    int64_t counts[2 + ATTRIBUTION_VALUES] = {0};
    struct err e = {0};
    size_t len = in.left;
    char *text = mem_alloc(len ? len : 1);

    if (len)
        memcpy(text, in.at, len);
    int rc = profile_read(told.format, text, len, &seen, &e);
    if (fuzz_accepted(rc, &e)) {
        fuzz_count_good();
        MUST(profile_attribute(&rules, text, len, counts, &e) == 0, "%s", e.text);
        MUST(attribution_adds_up(&rules, counts));
        MUST(counts[2 + ATTRIBUTION_SAMPLES] == told.count);
        MUST(attribution_recovered(&rules, counts) <= told.count);
        must_tally(&rules, text, len, counts);
    } else {
        MUST(strcmp(e.code, "profile.bad") == 0 && strncmp(e.field, "line ", 5) == 0);
    }
    free(text);
    return 0;
}
