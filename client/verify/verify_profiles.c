/* What attribution was counted from: each observation's tally is there as raw.json names it, and by
 * the rules of raw.json gives the counts of raw.json. */
#include <string.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/verify/verify.h"
#include "client/verify/verify_profiles.h"
#include "core/summary/observations.h"
#include "proto/profile/profile_tally.h"

/* The tally that raw.json says the observation has; NULL: none. */
static const struct raw_output *tally_of(const struct raw *raw, const struct raw_observation *o)
{
    return observation_profile(raw, o) && o->n_outputs > 0 ? &o->outputs[0] : NULL;
}

bool verify_is_tally(const struct verify *v, const char *path)
{
    char name[ATTRIBUTION_TALLY_MAX];
    bool may_be = strncmp(path, ATTRIBUTION_TALLIES "/", strlen(ATTRIBUTION_TALLIES "/")) == 0;

    for (size_t i = 0; may_be && v->raw && i < v->raw->n_observations; i++) {
        const struct raw_observation *o = &v->raw->observations[i];
        attribution_tally_name(o->seq, name);
        if (tally_of(v->raw, o) && strcmp(path, name) == 0)
            return true;
    }
    return false;
}

/* ---- one tally */

static bool is_as_named(const struct raw_output *tally, const struct buf *text)
{
    char hex[DIGEST_HEX];

    digest_bytes(buf_str(text), text->len, hex);
    return (int64_t)text->len == tally->bytes && tally->sha256 && strcmp(hex, tally->sha256) == 0;
}

static const char *count_again(struct verify *v, const struct raw_observation *o,
                               const struct buf *text)
{
    const struct attribution *rules = observation_profile(v->raw, o);
    int64_t counts[CATEGORIES_MAX + ATTRIBUTION_VALUES] = {0};
    struct err e = {0};

    if (profile_tally_attribute(rules, buf_str(text), text->len, counts, &e) < 0)
        return arena_strdup(&v->a, e.text);
    for (size_t i = 0; i < attribution_count(rules); i++)
        if (i >= o->n_values || o->values[i].value != counts[i])
            return arena_printf(&v->a, "it gives another count of %s than raw.json",
                                attribution_name(rules, i));
    return NULL;
}

static const char *tally_fault(struct verify *v, const struct raw_observation *o, const char *name)
{
    const struct raw_output *tally = tally_of(v->raw, o);
    CLEANUP(mem_freep) char *path = file_join(v->dir, name);
    CLEANUP(buf_deinit) struct buf text = {0};
    struct stat st;

    if (!tally)
        return "raw.json does not name it";
    if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return "it is missing";
    if (file_read(path, PROFILE_TALLY_BYTES_MAX, &text, NULL) < 0)
        return "it cannot be read, or is larger than a tally";
    if (!is_as_named(tally, &text))
        return "it is not the one that raw.json names";
    return count_again(v, o, &text);
}

/* ---- all of them */

static bool is_counted(const struct raw *raw, const struct raw_observation *o)
{
    return observation_profile(raw, o) && strcmp(o->outcome, "ok") == 0;
}

void verify_profiles(struct verify *v)
{
    char name[ATTRIBUTION_TALLY_MAX];
    size_t n = 0;

    for (size_t i = 0; v->raw && i < v->raw->n_observations; i++) {
        const struct raw_observation *o = &v->raw->observations[i];
        if (!is_counted(v->raw, o))
            continue;
        n++;
        attribution_tally_name(o->seq, name);
        const char *fault = tally_fault(v, o, name);
        if (!fault)
            continue;
        verify_say(v, "profiles", TRI_FAIL, "%s: %s", name, fault);
        return;
    }
    if (n)
        verify_say(v, "profiles", TRI_PASS, "the rules applied again to %zu tall%s, all equal", n,
                   n == 1 ? "y" : "ies");
}
