/* What `perf script` prints by default. An event is one line, or a line and one for each frame of
 * its calls, the innermost first, up to an empty line:
 *
 *     name 4711 [001] 12.345678: 1000000 cycles:u:  55d0 main+0x12 (/tmp/program)
 *     name 4711/4712 12.345678: cycles:u:
 *     <tab>55d0 main+0x12 (/tmp/program)
 *
 * The name may have blanks; the CPU, the process before the thread and the period may be missing.
 */
#include <string.h>

#include "proto/profile/profile_parts.h"

#define TIME_DIGITS_MAX 9
#define SECONDS_MAX 4000000000LL
#define UPPER_HALF 0x8000000000000000ULL

struct perf {
    struct profile_in in;
    struct profile_sample sample; /* whose frame is waited for */
    int64_t first_ns;             /* -1: there was no event yet */
    bool is_open;                 /* its frame has not come yet */
    bool is_in_calls;             /* lines of frames may follow */
};

static void tell(struct perf *p)
{
    if (p->is_open)
        profile_tell(&p->in, &p->sample);
    p->is_open = false;
}

/* ---- "main+0x12 (/tmp/program)" */

/* Where the offset begins, "+0x12" and a blank behind it; len: there is none. */
static size_t find_offset(struct piece text)
{
    for (size_t i = text.len; i-- > 0;) {
        struct piece rest = {text.at + i, text.len - i};
        uint64_t offset;
        if (piece_take(&rest, "+0x") && piece_take_hex(&rest, &offset) && piece_begins(rest, " ("))
            return i;
    }
    return text.len;
}

/* Where the blank before the object's bracket stands; len: there is none. A path may itself have
 * brackets, and so may a symbol, but no offset. */
static size_t find_object(struct piece text)
{
    size_t from = find_offset(text);

    if (from < text.len) {
        while (text.at[from] != ' ')
            from++;
        return from;
    }
    if (piece_begins(text, "[unknown] ("))
        return strlen("[unknown]");
    for (size_t i = text.len; i-- > 0;)
        if (text.at[i] == ' ' && i + 1 < text.len && text.at[i + 1] == '(')
            return i;
    return text.len;
}

static bool is_kernel(uint64_t address, struct piece object)
{
    if (piece_is(object, "[vdso]") || piece_is(object, "[vsyscall]"))
        return false;
    return address >= UPPER_HALF || piece_begins(object, "[kernel") ||
           piece_begins(object, "[guest.kernel");
}

/* False: it is no frame. */
static bool take_frame(struct piece text, struct profile_sample *s)
{
    uint64_t address = 0;

    if (!piece_take_hex(&text, &address) || !piece_begins(text, " "))
        return false;
    piece_skip_blanks(&text);
    size_t object = find_object(text), offset = find_offset(text);
    if (object == text.len || !piece_ends(text, ")"))
        return false;
    s->object = (struct piece){text.at + object + 2, text.len - object - 3};
    s->symbol = profile_symbol((struct piece){text.at, offset < object ? offset : object});
    s->is_kernel = is_kernel(address, s->object);
    if (piece_is(s->object, "[unknown]") || piece_is(s->object, "inlined"))
        s->object = (struct piece){0};
    return true;
}

/* ---- "name 4711/4712 [001] 12.345678: 1000000 cycles:u:" */

static bool take_time(struct piece *text, int64_t *ns)
{
    int64_t seconds, fraction;
    struct piece rest = *text;

    if (!piece_take_number(&rest, &seconds) || seconds > SECONDS_MAX || !piece_take(&rest, "."))
        return false;
    size_t digits = rest.len;
    if (!piece_take_number(&rest, &fraction))
        return false;
    digits -= rest.len;
    if (digits > TIME_DIGITS_MAX || !piece_take(&rest, ":"))
        return false;
    for (; digits < TIME_DIGITS_MAX; digits++)
        fraction *= 10;
    *ns = seconds * 1000000000 + fraction;
    *text = rest;
    return true;
}

/* Behind the name: threads, CPU and time. */
static bool take_place(struct piece *text, int64_t *ns)
{
    struct piece rest = *text;
    int64_t number;

    piece_skip_blanks(&rest);
    if (!piece_take_number(&rest, &number))
        return false;
    if (piece_take(&rest, "/") && !piece_take_number(&rest, &number))
        return false;
    piece_skip_blanks(&rest);
    if (piece_take(&rest, "[") && (!piece_take_number(&rest, &number) || !piece_take(&rest, "]")))
        return false;
    piece_skip_blanks(&rest);
    if (!take_time(&rest, ns))
        return false;
    *text = rest;
    return true;
}

/* The name ends where the first fitting place begins. */
static bool take_thread(struct piece *line, struct piece *name, int64_t *ns)
{
    piece_skip_blanks(line);
    for (size_t i = 1; i < line->len; i++) {
        struct piece rest = {line->at + i, line->len - i};
        if (*rest.at != ' ' || line->at[i - 1] == ' ' || !take_place(&rest, ns))
            continue;
        *name = (struct piece){line->at, i};
        *line = rest;
        return true;
    }
    return false;
}

/* The period, which may be missing, and the event, whose name ends in ':'. */
static bool take_event(struct piece *text)
{
    int64_t period;
    struct piece word, number;

    piece_skip_blanks(text);
    word = number = piece_take_word(text);
    if (piece_take_number(&number, &period) && number.len == 0) {
        piece_skip_blanks(text);
        word = piece_take_word(text);
    }
    piece_skip_blanks(text);
    return word.len > 1 && piece_ends(word, ":");
}

static void take_head(struct perf *p, struct piece line)
{
    struct profile_sample s = {.count = 1};
    int64_t ns = 0;

    if (!take_thread(&line, &s.thread, &ns) || !take_event(&line)) {
        profile_fail(&p->in, "no event as perf script prints it; write it with perf script's own "
                             "fields");
        return;
    }
    p->first_ns = p->first_ns < 0 ? ns : p->first_ns;
    s.at_ns = ns > p->first_ns ? ns - p->first_ns : 0;
    s.process = s.thread;
    if (line.len > 0 && !take_frame(line, &s))
        profile_fail(&p->in, "an event with neither a frame nor its end behind it");
    p->sample = s;
    p->is_open = true;
    p->is_in_calls = line.len == 0;
    if (!p->is_in_calls)
        tell(p);
}

/* Only the innermost frame ran; what called it, and lines of a source, are passed over. */
static void take_call(struct perf *p, struct piece line)
{
    struct profile_sample s = p->sample;

    piece_skip_blanks(&line);
    if (!p->is_open)
        return;
    if (!take_frame(line, &s))
        profile_fail(&p->in, "no frame as perf script prints it");
    p->sample = s;
    tell(p);
}

static void take_line(struct perf *p, struct piece line)
{
    if (line.len == 0) {
        tell(p);
        p->is_in_calls = false;
    } else if (p->is_in_calls && (*line.at == '\t' || *line.at == ' ')) {
        take_call(p, line);
    } else if (*line.at != '#') {
        tell(p);
        take_head(p, line);
    }
}

int profile_read_perf_script(const char *data, size_t len, const struct profile_seen *seen,
                             struct err *e)
{
    struct perf p = {.first_ns = -1};
    struct piece line;

    profile_in_init(&p.in, data, len, seen, e);
    while (profile_line(&p.in, &line))
        take_line(&p, line);
    tell(&p);
    return p.in.rc;
}
