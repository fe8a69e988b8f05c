/* Which share of a profiler's samples belongs to which category.
 *
 * A sample is one of three things: of a category (the first in the declared order that one of its
 * patterns matches), "other" (known, and matched by none), or excluded for one reason (the first of
 * the reasons below that holds). What is not excluded is recovered; shares are of that, so that
 * those of all categories and of "other" make 100 %. Counts are exact and add up: categories, other
 * and exclusions are all samples. Pure.
 */
#pragma once

#include "core/types.h"

/* What a profile is written in. */
enum profile_format { PROFILE_CALLGRIND, PROFILE_PERF_SCRIPT, PROFILE_XCTRACE };
const char *profile_format_name(enum profile_format f); /* "callgrind", "perf-script", "xctrace" */
int profile_format_parse(const char *s);

/* Some bytes of a text; at is NULL where there is none. */
struct piece {
    const char *at;
    size_t len;
};

/* Does it lie in the window that the rules name? A tally keeps the answer instead of the time. */
enum sample_window { SAMPLE_BY_TIME, SAMPLE_INSIDE, SAMPLE_OUTSIDE };

/* One sample, or several that are alike. */
struct profile_sample {
    struct piece symbol; /* of the function that ran */
    struct piece object; /* program or library that it lies in, with its path */
    struct piece process, thread;
    int64_t at_ns;     /* from the profile's beginning; -1: it has no times */
    int64_t count;     /* how many; callgrind: instructions */
    bool is_kernel;    /* it ran in the kernel */
    bool is_suspended; /* its thread did not run */
    enum sample_window window;
};

#define CATEGORIES_MAX 32
#define CATEGORY_PATTERNS_MAX 64
#define PATTERN_BYTES_MAX 256
#define ATTRIBUTION_TO_MAX_MS 86400000

/* Patterns: '*' is any bytes, '?' one byte, everything else itself. */
struct category {
    const char *name;
    struct args symbols; /* of the function */
    struct args objects; /* of the program or library: its path, or the last part of it */
};

struct attribution {
    enum profile_format format;
    struct category *categories; /* in the order in which they are asked */
    size_t n_categories;
    const char *process, *thread; /* patterns; NULL: all are counted */
    bool kernel;                  /* samples of the kernel are counted too */
    int64_t from_ms, to_ms;       /* counted from the profile's beginning; -1: all */
};

/* The counts behind those of the categories. */
enum attribution_value {
    ATTRIBUTION_OTHER,
    ATTRIBUTION_NOT_RUNNING, /* from here the reasons of exclusion, in the order they are asked */
    ATTRIBUTION_OTHER_PROCESS,
    ATTRIBUTION_OTHER_THREAD,
    ATTRIBUTION_OUTSIDE_WINDOW,
    ATTRIBUTION_KERNEL,
    ATTRIBUTION_NO_SYMBOL,
    ATTRIBUTION_SAMPLES, /* all that the profile has */
    ATTRIBUTION_VALUES
};
/* "other", "excluded_not_running", ..., "samples" */
const char *attribution_value_name(enum attribution_value v);
int attribution_value_parse(const char *s);
/* Why a sample was excluded, for people; NULL: the value is no exclusion. */
const char *attribution_reason(enum attribution_value v);

/* The values of a profile: those of the categories, then the ones above. */
size_t attribution_count(const struct attribution *rules);
const char *attribution_name(const struct attribution *rules, size_t index);

/* Of all samples: is it in the window? Without one in the rules all are. */
bool attribution_in_window(const struct attribution *rules, const struct profile_sample *sample);
/* The value that the sample is counted as, but for "samples". */
size_t attribution_place(const struct attribution *rules, const struct profile_sample *sample);
/* Adds the sample to counts, which has attribution_count(rules) of them. False, and nothing is
 * added, when there would be more than 2^53 - 1 samples. */
bool attribution_add(const struct attribution *rules, const struct profile_sample *sample,
                     int64_t *counts);

/* What counts were made of is kept as a file of the evidence (proto/profile/profile_tally.h), which
 * is the one output of its observation. */
#define ATTRIBUTION_TALLIES "profiles"
#define ATTRIBUTION_TALLY_MAX 32
void attribution_tally_name(int seq, char out[ATTRIBUTION_TALLY_MAX]); /* "profiles/12.tsv" */

/* Samples that are not excluded. */
int64_t attribution_recovered(const struct attribution *rules, const int64_t *counts);
/* Of a category or "other": count / recovered in percent; NaN when nothing was recovered. */
double attribution_share_pct(int64_t count, int64_t recovered);

/* Whether the counts add up to the samples. */
bool attribution_adds_up(const struct attribution *rules, const int64_t *counts);
bool attribution_equal(const struct attribution *a, const struct attribution *b); /* NULL too */
