/* Durations, instants and dates as people write them, names of zones, ids: what is read is written
 * the same, what is not is left alone. Input: one word a line. */
#include <string.h>

#include "base/digest.h"
#include "base/ids.h"
#include "base/keys.h"
#include "base/zonefile.h"
#include "core/calendar/civil.h"
#include "core/calendar/zone_rule.h"
#include "fuzz/fuzz.h"
#include "proto/form/duration.h"
#include "proto/form/instant.h"

#define UNTOUCHED (-77)

static void try_duration(const char *word)
{
    char text[DURATION_TEXT];
    int64_t ms = UNTOUCHED, again = UNTOUCHED;

    if (!duration_parse(word, &ms)) {
        MUST(ms == UNTOUCHED);
        return;
    }
    fuzz_count_good();
    MUST(ms >= 0 && ms <= DURATION_MAX_MS);
    MUST(duration_parse(duration_text(ms, text), &again) && again == ms, "%s", text);
    MUST(strlen(duration_format(ms, text)) < sizeof text);
    fuzz_must_be_text(text);
}

static void try_instant(const char *word)
{
    char text[INSTANT_TEXT];
    int64_t ms = UNTOUCHED;

    if (!instant_parse(word, &ms)) {
        MUST(ms == UNTOUCHED);
        return;
    }
    fuzz_count_good();
    MUST(ms >= 0 && ms % 1000 == 0);
    MUST(strcmp(instant_text(ms, text), word) == 0, "%s", text);
    MUST(strncmp(instant_short(ms, text), word, 16) == 0, "%s", text);
}

/* Letters, digits and a few signs; no way out of the folder of zones. */
static void try_zone_name(const char *word)
{
    if (!zonefile_name_valid(word))
        return;
    fuzz_count_good();
    MUST(word[0] && word[0] != '/' && strlen(word) <= ZONEFILE_NAME_MAX);
    MUST(!strstr(word, "..") && !strstr(word, "//") && !strchr(word, '.'));
    fuzz_must_be_text(word);
}

static void try_rule(const char *word)
{
    struct zone_rule rule;

    if (!zone_rule_parse(word, strlen(word), &rule))
        return;
    fuzz_count_good();
    MUST(rule.std_s >= -ZONE_OFFSET_MAX_S && rule.std_s <= ZONE_OFFSET_MAX_S);
    for (int64_t t = -((int64_t)1 << 58); t < (int64_t)1 << 58; t += (int64_t)1 << 55) {
        struct zone_span span = zone_rule_span(&rule, t);
        MUST(span.begin_s <= t && t < span.end_s);
        MUST(span.offset_s == rule.std_s || (rule.has_dst && span.offset_s == rule.dst_s));
    }
}

static void try_ids(const char *word)
{
    size_t len = strlen(word);

    MUST(!ulid_valid(word) || (len == ULID_LEN && !strpbrk(word, "ILOUilou")));
    MUST(digest_valid(word) == (len == 64 && strspn(word, "0123456789abcdef") == 64));
    MUST(key_valid(word) == digest_valid(word));
}

static void try_date(struct fuzz_in *in)
{
    int64_t day = (int64_t)fuzz_number(in, 6) - ((int64_t)1 << 47);
    struct civil c = civil_date(day), next = civil_date(day + 1);

    MUST(civil_days(c.year, c.month, c.day) == day);
    MUST(c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= civil_month_days(c.year, c.month));
    MUST(next.day == c.day + 1 || next.day == 1);
    MUST(civil_weekday(day + 1) == (civil_weekday(day) + 1) % 7);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};

    while (in.left) {
        CLEANUP(mem_freep) char *word = fuzz_line(&in);
        try_duration(word);
        try_instant(word);
        try_zone_name(word);
        try_rule(word);
        try_ids(word);
    }
    in = (struct fuzz_in){data, size};
    try_date(&in);
    return 0;
}
