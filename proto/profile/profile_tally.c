#include "proto/profile/profile_tally.h"

#include <inttypes.h>
#include <string.h>

#include "proto/profile/profile_parts.h"

static const char HEAD[] = "samples\tstate\tsymbol\tobject\tprocess\tthread\n";
static const char NO_NAME[] = "\\-";

#define COUNT_BYTES_MAX 18 /* sixteen digits, a tab and a newline */
#define NAMES 4

/* By their bits. */
enum { IS_KERNEL = 1, IS_SUSPENDED = 2, IS_OUTSIDE = 4 };
static const char *const states[] = {
    "-",       "kernel",         "suspended",         "kernel,suspended",
    "outside", "kernel,outside", "suspended,outside", "kernel,suspended,outside",
};

/* ---- writing */

static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '\\';
}

static void put_name(struct buf *out, struct piece name)
{
    size_t from = 0;

    buf_putc(out, '\t');
    if (!name.at) {
        buf_puts(out, NO_NAME);
        return;
    }
    for (size_t i = 0; i < name.len; i++) {
        if (is_plain(name.at[i]))
            continue;
        buf_add(out, name.at + from, i - from);
        buf_printf(out, "\\x%02x", (unsigned)(unsigned char)name.at[i]);
        from = i + 1;
    }
    buf_add(out, name.at + from, name.len - from);
}

static const char *state_of(const struct attribution *rules, const struct profile_sample *s)
{
    return states[(s->is_kernel ? IS_KERNEL : 0) | (s->is_suspended ? IS_SUSPENDED : 0) |
                  (attribution_in_window(rules, s) ? 0 : IS_OUTSIDE)];
}

void profile_tally_deinit(struct profile_tally *t)
{
    tally_deinit(&t->lines);
    buf_deinit(&t->line);
}

bool profile_tally_add(struct profile_tally *t, const struct attribution *rules,
                       const struct profile_sample *s)
{
    const struct piece names[NAMES] = {s->symbol, s->object, s->process, s->thread};

    buf_clear(&t->line);
    buf_puts(&t->line, state_of(rules, s));
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i].len > PROFILE_TALLY_BYTES_MAX)
            return false;
        put_name(&t->line, names[i]);
    }
    tally_add(&t->lines, t->line.data, t->line.len, s->count);
    return sizeof HEAD + t->lines.bytes + t->lines.n * COUNT_BYTES_MAX <= PROFILE_TALLY_BYTES_MAX;
}

void profile_tally_write(struct profile_tally *t, struct buf *out)
{
    tally_sort(&t->lines, TALLY_BY_TEXT);
    buf_puts(out, HEAD);
    for (size_t i = 0; i < t->lines.n; i++) {
        buf_printf(out, "%" PRId64 "\t", t->lines.entries[i].count);
        buf_puts(out, t->lines.entries[i].text);
        buf_putc(out, '\n');
    }
}

/* ---- reading */

struct reading {
    struct profile_in in;
    struct piece before; /* the line before, behind its count */
    char *names;         /* of the line, as they were */
    size_t used;
};

/* What stands in text up to the next tab, which goes too. */
static struct piece take_column(struct piece *text)
{
    const char *tab = memchr(text->at, '\t', text->len);
    struct piece column = {text->at, tab ? (size_t)(tab - text->at) : text->len};
    size_t gone = column.len + (tab ? 1 : 0);

    *text = (struct piece){text->at + gone, text->len - gone};
    return column;
}

static bool take_count(struct piece *line, int64_t *count)
{
    return !piece_begins(*line, "0") && piece_take_number(line, count) && piece_take(line, "\t");
}

static bool take_state(struct piece *line, struct profile_sample *s)
{
    struct piece word = take_column(line);

    for (unsigned i = 0; i < ARRAY_LEN(states); i++) {
        if (!piece_is(word, states[i]))
            continue;
        s->is_kernel = (i & IS_KERNEL) != 0;
        s->is_suspended = (i & IS_SUSPENDED) != 0;
        s->window = (i & IS_OUTSIDE) ? SAMPLE_OUTSIDE : SAMPLE_INSIDE;
        return true;
    }
    return false;
}

/* One byte of a name as it was written. */
static bool take_byte(struct piece *text, char *out)
{
    uint64_t code;

    if (is_plain(text->at[0])) {
        *out = text->at[0];
        *text = (struct piece){text->at + 1, text->len - 1};
        return true;
    }
    if (!piece_take(text, "\\x") || text->len < 2)
        return false;
    struct piece digits = {text->at, 2};
    if (memchr("0123456789abcdef", digits.at[0], 16) == NULL ||
        memchr("0123456789abcdef", digits.at[1], 16) == NULL || !piece_take_hex(&digits, &code))
        return false;
    *out = (char)(unsigned char)code;
    *text = (struct piece){text->at + 2, text->len - 2};
    return *out && !is_plain(*out); /* no profile has a NUL */
}

static bool take_name(struct reading *r, struct piece *line, struct piece *out)
{
    struct piece text = take_column(line);

    *out = (struct piece){0};
    if (piece_is(text, NO_NAME))
        return true;
    *out = (struct piece){r->names + r->used, 0};
    while (text.len > 0) {
        if (!take_byte(&text, &r->names[r->used]))
            return false;
        r->used++;
        out->len++;
    }
    return true;
}

/* Does it come behind the line before it? */
static bool ascends(const struct reading *r, struct piece rest)
{
    size_t least = rest.len < r->before.len ? rest.len : r->before.len;
    int order = r->before.at ? memcmp(r->before.at, rest.at, least) : -1;

    return order < 0 || (order == 0 && r->before.len < rest.len);
}

static size_t count_tabs(struct piece text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\t';
    return n;
}

static void take_line(struct reading *r, struct piece line)
{
    struct profile_sample s = {.at_ns = -1};
    struct piece *const names[NAMES] = {&s.symbol, &s.object, &s.process, &s.thread};
    size_t columns = count_tabs(line) + 1;

    if (columns != NAMES + 2)
        profile_fail(&r->in, "%zu columns instead of %d", columns, NAMES + 2);
    else if (!take_count(&line, &s.count))
        profile_fail(&r->in, "a count that is no number from 1 on");
    else if (!ascends(r, line))
        profile_fail(&r->in, "it does not come behind the line before it");
    r->before = line;
    if (r->in.rc == 0 && !take_state(&line, &s))
        profile_fail(&r->in, "an unknown state");
    r->used = 0;
    for (size_t i = 0; r->in.rc == 0 && i < NAMES; i++)
        if (!take_name(r, &line, names[i]))
            profile_fail(&r->in, "a name that is not written as names are in a tally");
    profile_tell(&r->in, &s);
}

bool profile_is_tally(const char *data, size_t len)
{
    return len >= sizeof HEAD - 1 && memcmp(data, HEAD, sizeof HEAD - 1) == 0;
}

int profile_read_tally(const char *data, size_t len, const struct profile_seen *seen, struct err *e)
{
    struct reading r = {0};
    struct piece line;

    profile_in_init(&r.in, data, len, seen, e);
    r.in.line = 1;
    if (len > PROFILE_TALLY_BYTES_MAX)
        return profile_fail(&r.in, "a tally of more than %zu bytes", PROFILE_TALLY_BYTES_MAX);
    if (!profile_is_tally(data, len))
        return profile_fail(&r.in, "no head of a tally");
    r.in.at += sizeof HEAD - 1;
    r.in.line_max = PROFILE_TALLY_BYTES_MAX;
    r.names = mem_alloc(len);
    while (profile_line(&r.in, &line))
        take_line(&r, line);
    free(r.names);
    return r.in.rc;
}

/* ---- counting again */

struct counting {
    const struct attribution *rules;
    int64_t *counts;
    bool is_elsewhere; /* something lies outside of no window */
};

static bool count(void *of, const struct profile_sample *s)
{
    struct counting *c = of;

    if (s->window == SAMPLE_OUTSIDE && c->rules->from_ms < 0 && c->rules->to_ms < 0)
        c->is_elsewhere = true;
    return !c->is_elsewhere && attribution_add(c->rules, s, c->counts);
}

int profile_tally_attribute(const struct attribution *rules, const char *data, size_t len,
                            int64_t *counts, struct err *e)
{
    struct counting c = {rules, counts, false};
    const struct profile_seen seen = {count, &c};
    struct err why = {0};
    int rc = profile_read_tally(data, len, &seen, &why);

    if (rc == 0)
        return 0;
    return err_set(e, rc, why.code, why.field, "%s%s", c.is_elsewhere ? why.field : why.text,
                   c.is_elsewhere ? ": samples outside of a window that the rules do not have"
                                  : "");
}
