#include "core/calendar/zone.h"

#include <errno.h>
#include <string.h>

#define TIME_LIMIT_S ((int64_t)1 << 59)

/* RFC 8536, section 3.1: the magic, the version, 15 unused bytes, six counts. */
#define HEADER_BYTES 44
#define VERSION_AT 4
#define COUNTS_AT 20
#define TYPE_BYTES 6

struct bytes {
    const uint8_t *p;
    uint64_t left;
};

/* In the order of the header. */
enum count { UT_FLAGS, STD_FLAGS, LEAPS, TIMES, TYPES, CHARS, N_COUNTS };

struct header {
    uint8_t version;
    uint32_t counts[N_COUNTS];
};

/* What is wrong, as the middle of a sentence; NULL: nothing. */
typedef const char *fault;

static const char too_short[] = "it ends too early";

static uint64_t big_endian(const uint8_t *p, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static int32_t int32_at(const uint8_t *p)
{
    return (int32_t)(uint32_t)big_endian(p, 4);
}

/* The next n bytes; NULL when there are not as many. */
static const uint8_t *take(struct bytes *in, uint64_t n)
{
    const uint8_t *p = in->p;
    if (n > in->left)
        return NULL;
    in->p += n;
    in->left -= n;
    return p;
}

static fault read_header(struct bytes *in, struct header *h)
{
    const uint8_t *p = take(in, HEADER_BYTES);
    if (!p || memcmp(p, "TZif", 4) != 0)
        return "it is not a TZif file";
    h->version = p[VERSION_AT];
    if (h->version < '2')
        return "it is of version 1, which has no rule for the future";
    for (size_t i = 0; i < N_COUNTS; i++)
        h->counts[i] = (uint32_t)big_endian(p + COUNTS_AT + 4 * i, 4);
    return NULL;
}

/* Section 3.2; times take 4 bytes in the first block and 8 in the second. Cannot overflow: six
 * numbers of 32 bits, each times 12 at most. */
static uint64_t block_bytes(const struct header *h, uint64_t time_bytes)
{
    const uint32_t *n = h->counts;
    return n[TIMES] * (time_bytes + 1) + (uint64_t)n[TYPES] * TYPE_BYTES + n[CHARS] +
           n[LEAPS] * (time_bytes + 4) + n[STD_FLAGS] + n[UT_FLAGS];
}

static fault read_changes(struct arena *a, const uint8_t *block, size_t n, const int32_t *offsets,
                          size_t n_types, struct zone *out)
{
    struct zone_change *changes = arena_array(a, n, sizeof *changes);
    for (size_t i = 0; i < n; i++) {
        int64_t at = (int64_t)big_endian(block + 8 * i, 8);
        size_t type = block[8 * n + i];
        if (type >= n_types)
            return "a change names a type that is not there";
        if (at < -TIME_LIMIT_S || at > TIME_LIMIT_S)
            return "the time of a change is out of range";
        if (i && at <= changes[i - 1].at_s)
            return "its changes are not in order";
        changes[i] = (struct zone_change){at, offsets[type]};
    }
    out->changes = changes;
    out->n_changes = n;
    return NULL;
}

static fault read_block(struct arena *a, struct bytes *in, const struct header *h, struct zone *out)
{
    size_t n_times = h->counts[TIMES], n_types = h->counts[TYPES];
    const uint8_t *block = take(in, block_bytes(h, 8));
    int32_t offsets[256] = {0};
    if (!block)
        return too_short;
    if (n_types == 0 || n_types > 256)
        return "it has no types, or more than can be named";
    if (h->counts[LEAPS])
        return "it counts leap seconds, which the clock here does not";
    for (size_t i = 0; i < n_types; i++) {
        offsets[i] = int32_at(block + 9 * n_times + TYPE_BYTES * i);
        if (offsets[i] < -ZONE_OFFSET_MAX_S || offsets[i] > ZONE_OFFSET_MAX_S)
            return "an offset from UTC is out of range";
    }
    out->first_offset_s = offsets[0];
    return read_changes(a, block, n_times, offsets, n_types, out);
}

/* Section 3.3: a TZ string, which may be empty, between two newlines. */
static fault read_footer(struct bytes *in, struct zone *out)
{
    const uint8_t *p = take(in, 1);
    if (!p || *p != '\n')
        return "its footer is missing";
    const uint8_t *end = in->left ? memchr(in->p, '\n', (size_t)in->left) : NULL;
    if (!end)
        return "its footer does not end";
    size_t len = (size_t)(end - in->p);
    out->has_rule = len > 0;
    if (len && !zone_rule_parse((const char *)in->p, len, &out->rule))
        return "the rule in its footer is not understood";
    return NULL;
}

static fault read_zone(struct arena *a, struct bytes *in, struct zone *out)
{
    struct header h;
    fault f = read_header(in, &h);
    /* The first block has times of 32 bits, for readers of version 1. */
    if (!f && !take(in, block_bytes(&h, 4)))
        f = too_short;
    if (!f)
        f = read_header(in, &h);
    if (!f)
        f = read_block(a, in, &h, out);
    return f ? f : read_footer(in, out);
}

int zone_parse(struct arena *a, const char *field, const char *name, const void *bytes, size_t len,
               struct zone *out, struct err *e)
{
    struct bytes in = {bytes, len};
    *out = (struct zone){0};
    fault f = read_zone(a, &in, out);
    if (!f)
        return 0;
    *out = (struct zone){0};
    return err_set(e, -EINVAL, "window.bad_zone", field,
                   "%s is \"%s\", whose file cannot be used: %s; name another zone, or install the "
                   "package tzdata anew.",
                   field, name, f);
}

static int64_t in_range(int64_t s)
{
    if (s < -TIME_LIMIT_S)
        return -TIME_LIMIT_S;
    return s > TIME_LIMIT_S ? TIME_LIMIT_S : s;
}

/* How many changes lie at or before an instant. */
static size_t changes_until(const struct zone *z, int64_t utc_s)
{
    size_t low = 0, high = z->n_changes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (z->changes[middle].at_s <= utc_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct zone_span span_at(const struct zone *z, int64_t utc_s)
{
    size_t i = changes_until(z, utc_s);
    struct zone_span span = {INT64_MIN, INT64_MAX, z->first_offset_s};
    if (i == z->n_changes && z->has_rule)
        span = zone_rule_span(&z->rule, utc_s);
    else if (i > 0)
        span.offset_s = z->changes[i - 1].offset_s;
    if (i > 0 && z->changes[i - 1].at_s > span.begin_s)
        span.begin_s = z->changes[i - 1].at_s;
    if (i < z->n_changes)
        span.end_s = z->changes[i].at_s;
    return span;
}

int32_t zone_offset_at(const struct zone *z, int64_t utc_s)
{
    return span_at(z, in_range(utc_s)).offset_s;
}

int64_t zone_wall_to_utc(const struct zone *z, int64_t wall_s, enum zone_pick pick)
{
    /* More than ZONE_OFFSET_MAX_S before, every clock shows an earlier time; as much after, a later
     * one. Between lie the stretches to look at, at least one. */
    wall_s = in_range(wall_s);
    struct zone_span span = span_at(z, wall_s - ZONE_OFFSET_MAX_S - 1);
    int64_t last = 0;
    for (;; span = span_at(z, span.end_s)) {
        int64_t reached = wall_s - span.offset_s;
        if (pick == ZONE_FIRST && reached < span.end_s)
            return reached > span.begin_s ? reached : span.begin_s;
        if (reached >= span.begin_s)
            last = reached < span.end_s ? reached : span.end_s;
        if (span.end_s > wall_s + ZONE_OFFSET_MAX_S)
            return last;
    }
}
