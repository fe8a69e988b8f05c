#include "core/summary/attribution.h"

#include <math.h>
#include <stdio.h>

#include "core/names.h"

#define SAMPLES_MAX (((int64_t)1 << 53) - 1)

static const char *const profile_format_names[] = {
    [PROFILE_CALLGRIND] = "callgrind",
    [PROFILE_PERF_SCRIPT] = "perf-script",
    [PROFILE_XCTRACE] = "xctrace",
};
NAMES(profile_format, profile_format);

static const char *const attribution_value_names[] = {
    [ATTRIBUTION_OTHER] = "other",
    [ATTRIBUTION_NOT_RUNNING] = "excluded_not_running",
    [ATTRIBUTION_OTHER_PROCESS] = "excluded_other_process",
    [ATTRIBUTION_OTHER_THREAD] = "excluded_other_thread",
    [ATTRIBUTION_OUTSIDE_WINDOW] = "excluded_outside_window",
    [ATTRIBUTION_KERNEL] = "excluded_kernel",
    [ATTRIBUTION_NO_SYMBOL] = "excluded_no_symbol",
    [ATTRIBUTION_SAMPLES] = "samples",
};
NAMES(attribution_value, attribution_value);

const char *attribution_reason(enum attribution_value v)
{
    static const char *const reasons[ATTRIBUTION_VALUES] = {
        [ATTRIBUTION_NOT_RUNNING] = "not running",
        [ATTRIBUTION_OTHER_PROCESS] = "another process",
        [ATTRIBUTION_OTHER_THREAD] = "another thread",
        [ATTRIBUTION_OUTSIDE_WINDOW] = "outside the window",
        [ATTRIBUTION_KERNEL] = "in the kernel",
        [ATTRIBUTION_NO_SYMBOL] = "no symbol",
    };
    return (size_t)v < ATTRIBUTION_VALUES ? reasons[v] : NULL;
}

size_t attribution_count(const struct attribution *rules)
{
    return rules->n_categories + ATTRIBUTION_VALUES;
}

const char *attribution_name(const struct attribution *rules, size_t index)
{
    return index < rules->n_categories
               ? rules->categories[index].name
               : attribution_value_name((enum attribution_value)(index - rules->n_categories));
}

/* ---- patterns */

/* The latest star takes one byte more whenever the rest does not fit: no recursion. */
static bool matches(const char *pattern, struct piece text)
{
    const char *star = NULL;
    size_t i = 0, mark = 0;

    while (i < text.len) {
        if (*pattern == '*') {
            star = ++pattern;
            mark = i;
        } else if (*pattern == '?' || (*pattern && *pattern == text.at[i])) {
            pattern++;
            i++;
        } else if (star) {
            pattern = star;
            i = ++mark;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static bool matches_one(const struct args *patterns, struct piece text)
{
    for (size_t i = 0; text.at && i < patterns->n; i++)
        if (matches(patterns->v[i], text))
            return true;
    return false;
}

static struct piece last_part(struct piece path)
{
    for (size_t i = path.len; path.at && i > 0; i--)
        if (path.at[i - 1] == '/')
            return (struct piece){path.at + i, path.len - i};
    return path;
}

static bool is_of(const struct category *c, const struct profile_sample *s)
{
    return matches_one(&c->symbols, s->symbol) || matches_one(&c->objects, s->object) ||
           matches_one(&c->objects, last_part(s->object));
}

/* ---- one sample */

/* NULL takes all; what has no name is taken by no pattern. */
static bool is_wanted(const char *pattern, struct piece name)
{
    return !pattern || (name.at && matches(pattern, name));
}

bool attribution_in_window(const struct attribution *rules, const struct profile_sample *s)
{
    if (s->window != SAMPLE_BY_TIME)
        return s->window == SAMPLE_INSIDE;
    if (s->at_ns < 0)
        return rules->from_ms < 0 && rules->to_ms < 0;
    return (rules->from_ms < 0 || s->at_ns >= rules->from_ms * 1000000) &&
           (rules->to_ms < 0 || s->at_ns < rules->to_ms * 1000000);
}

static enum attribution_value exclusion(const struct attribution *rules,
                                        const struct profile_sample *s)
{
    if (s->is_suspended)
        return ATTRIBUTION_NOT_RUNNING;
    if (!is_wanted(rules->process, s->process))
        return ATTRIBUTION_OTHER_PROCESS;
    if (!is_wanted(rules->thread, s->thread))
        return ATTRIBUTION_OTHER_THREAD;
    if (!attribution_in_window(rules, s))
        return ATTRIBUTION_OUTSIDE_WINDOW;
    if (s->is_kernel && !rules->kernel)
        return ATTRIBUTION_KERNEL;
    return s->symbol.at ? ATTRIBUTION_OTHER : ATTRIBUTION_NO_SYMBOL;
}

size_t attribution_place(const struct attribution *rules, const struct profile_sample *s)
{
    enum attribution_value v = exclusion(rules, s);

    for (size_t i = 0; v == ATTRIBUTION_OTHER && i < rules->n_categories; i++)
        if (is_of(&rules->categories[i], s))
            return i;
    return rules->n_categories + (size_t)v;
}

bool attribution_add(const struct attribution *rules, const struct profile_sample *sample,
                     int64_t *counts)
{
    int64_t *samples = &counts[rules->n_categories + ATTRIBUTION_SAMPLES];

    if (sample->count < 0 || sample->count > SAMPLES_MAX - *samples)
        return false;
    *samples += sample->count;
    counts[attribution_place(rules, sample)] += sample->count;
    return true;
}

/* ---- what follows */

void attribution_tally_name(int seq, char out[ATTRIBUTION_TALLY_MAX])
{
    (void)snprintf(out, ATTRIBUTION_TALLY_MAX, ATTRIBUTION_TALLIES "/%d.tsv", seq);
}

int64_t attribution_recovered(const struct attribution *rules, const int64_t *counts)
{
    int64_t recovered = 0;

    for (size_t i = 0; i <= rules->n_categories + ATTRIBUTION_OTHER; i++)
        recovered += counts[i];
    return recovered;
}

double attribution_share_pct(int64_t count, int64_t recovered)
{
    return recovered > 0 ? 100.0 * (double)count / (double)recovered : (double)NAN;
}

bool attribution_adds_up(const struct attribution *rules, const int64_t *counts)
{
    size_t samples = rules->n_categories + ATTRIBUTION_SAMPLES;
    int64_t left = counts[samples];

    for (size_t i = 0; i < samples; i++) {
        if (counts[i] < 0 || counts[i] > left)
            return false;
        left -= counts[i];
    }
    return left == 0;
}

bool attribution_equal(const struct attribution *a, const struct attribution *b)
{
    if (!a || !b)
        return a == b;
    if (a->format != b->format || !text_equal(a->process, b->process) ||
        !text_equal(a->thread, b->thread) || a->kernel != b->kernel || a->from_ms != b->from_ms ||
        a->to_ms != b->to_ms || a->n_categories != b->n_categories)
        return false;
    for (size_t i = 0; i < a->n_categories; i++)
        if (!text_equal(a->categories[i].name, b->categories[i].name) ||
            !args_equal(&a->categories[i].symbols, &b->categories[i].symbols) ||
            !args_equal(&a->categories[i].objects, &b->categories[i].objects))
            return false;
    return true;
}
