/* Files of callgrind: https://valgrind.org/docs/manual/cl-format.html. Lines of cost belong to the
 * function and object named before them; the one behind "calls=" is what the called function cost,
 * and no cost of its own. Names are given once, "fn=(12) main", and referred to by number. */
#include <inttypes.h>
#include <string.h>

#include "proto/profile/profile_parts.h"

enum { NAME_FUNCTION = 1, NAME_OBJECT };

struct callgrind {
    struct profile_in in;
    struct profile_names names;
    struct piece function, object;
    int64_t cost;      /* of them, not told of yet */
    int64_t sum;       /* since the last totals */
    int positions;     /* columns before the costs */
    bool has_events;   /* what is counted was named */
    bool is_call;      /* the next line of cost is of a call */
    bool has_totals;   /* there was a line of totals */
    bool has_function; /* a function was named in this part */
};

static void tell(struct callgrind *c)
{
    const struct profile_sample sample = {
        .symbol = c->function, .object = c->object, .at_ns = -1, .count = c->cost};

    if (c->cost > 0)
        profile_tell(&c->in, &sample);
    c->cost = 0;
}

/* ---- names */

/* "(12) main" gives a number its name, "(12)" refers to it, anything else is the name itself. */
static struct piece take_name(struct callgrind *c, int kind, struct piece text)
{
    struct piece rest = text;
    int64_t id = 0;

    if (!piece_take(&rest, "(") || !piece_take_number(&rest, &id) || !piece_take(&rest, ")"))
        return text;
    piece_skip_blanks(&rest);
    if (rest.len > 0) {
        const struct profile_name name = {id, kind, rest, {0}};
        if (!profile_names_put(&c->names, &name))
            profile_fail(&c->in, "the number (%" PRId64 ") is given to two names", id);
        return rest;
    }
    const struct profile_name *name = profile_names_find(&c->names, kind, id);
    if (!name)
        profile_fail(&c->in, "(%" PRId64 ") refers to no name before it", id);
    return name ? name->a : rest;
}

/* Callgrind calls what it finds inside of fib, called from fib, "fib'2": it is fib all the same. */
static struct piece without_recursion(struct piece name)
{
    size_t len = name.len;

    while (len > 0 && name.at[len - 1] >= '0' && name.at[len - 1] <= '9')
        len--;
    return len > 1 && len < name.len && name.at[len - 1] == '\'' ? (struct piece){name.at, len - 1}
                                                                 : name;
}

static void take_function(struct callgrind *c, struct piece text)
{
    tell(c);
    c->function = profile_symbol(without_recursion(take_name(c, NAME_FUNCTION, text)));
    c->has_function = true;
}

static void take_object(struct callgrind *c, struct piece text)
{
    tell(c);
    c->object = profile_symbol(take_name(c, NAME_OBJECT, text));
}

static void take_calls(struct callgrind *c, struct piece text)
{
    (void)text;
    if (c->is_call)
        profile_fail(&c->in, "\"calls=\" twice without a line of cost between them");
    c->is_call = true;
}

/* A called function's name is of no interest; what it is a name for is. */
static void take_called(struct callgrind *c, struct piece text)
{
    (void)take_name(c, NAME_FUNCTION, text);
}

static void take_called_object(struct callgrind *c, struct piece text)
{
    (void)take_name(c, NAME_OBJECT, text);
}

static void take_nothing(struct callgrind *c, struct piece text)
{
    (void)c;
    (void)text;
}

/* ---- the head, and the sum at the end */

static void take_events(struct callgrind *c, struct piece text)
{
    piece_skip_blanks(&text);
    if (text.len == 0)
        profile_fail(&c->in, "\"events:\" names nothing that was counted");
    c->has_events = true;
}

static void take_positions(struct callgrind *c, struct piece text)
{
    c->positions = 0;
    for (piece_skip_blanks(&text); text.len > 0; piece_skip_blanks(&text)) {
        (void)piece_take_word(&text);
        c->positions++;
    }
    if (c->positions < 1 || c->positions > 2)
        profile_fail(&c->in, "\"positions:\" has %d columns instead of one or two", c->positions);
}

static void take_totals(struct callgrind *c, struct piece text)
{
    int64_t totals = -1;

    tell(c);
    piece_skip_blanks(&text);
    if (!piece_take_number(&text, &totals) || totals != c->sum)
        profile_fail(&c->in,
                     "the totals are not the sum of all lines, %" PRId64
                     "; the file is damaged, or not of callgrind",
                     c->sum);
    c->sum = 0;
    c->has_totals = true;
    c->has_function = false;
}

static const struct {
    const char *word;
    void (*take)(struct callgrind *c, struct piece text);
} words[] = {
    {"fn=", take_function},         {"ob=", take_object},         {"calls=", take_calls},
    {"cfn=", take_called},          {"cob=", take_called_object}, {"fl=", take_nothing},
    {"fi=", take_nothing},          {"fe=", take_nothing},        {"cfi=", take_nothing},
    {"cfl=", take_nothing},         {"jfi=", take_nothing},       {"jfn=", take_called},
    {"jump=", take_nothing},        {"jcnd=", take_nothing},      {"events:", take_events},
    {"positions:", take_positions}, {"totals:", take_totals},
};

/* Words of the head that say nothing of samples. */
static bool is_head(struct piece line)
{
    static const char *const heads[] = {"version:", "creator:", "pid:",   "cmd:",     "part:",
                                        "desc:",    "thread:",  "event:", "summary:", "#"};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (piece_begins(line, heads[i]))
            return true;
    return line.len == 0;
}

/* ---- lines of cost */

/* A number, or how far it is from that of the line before; both also hexadecimal. */
static bool is_position(struct piece word)
{
    uint64_t hex;
    int64_t number;

    if (piece_is(word, "*"))
        return true;
    if (!piece_take(&word, "+"))
        (void)piece_take(&word, "-");
    return (piece_take(&word, "0x") ? piece_take_hex(&word, &hex)
                                    : piece_take_number(&word, &number)) &&
           word.len == 0;
}

/* Costs left out at the end are 0. */
static void take_cost(struct callgrind *c, struct piece line)
{
    int64_t cost = 0;

    for (int i = 0; i < c->positions; i++) {
        if (!is_position(piece_take_word(&line))) {
            profile_fail(&c->in, "neither a name nor a line of cost");
            return;
        }
        piece_skip_blanks(&line);
    }
    if (line.len > 0 && !piece_take_number(&line, &cost)) {
        profile_fail(&c->in, "a cost that is no number");
        return;
    }
    if (!c->has_events || !c->has_function)
        profile_fail(&c->in, "a cost before \"events:\" and a function are named");
    bool is_own = !c->is_call;
    c->is_call = false;
    if (!is_own)
        return;
    if (cost > INT64_MAX / 2 - c->sum)
        profile_fail(&c->in, "the costs are too large to be added");
    else
        c->cost += cost, c->sum += cost;
}

static void take_line(struct callgrind *c, struct piece line)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (piece_take(&line, words[i].word)) {
            words[i].take(c, line);
            return;
        }
    if (!is_head(line))
        take_cost(c, line);
}

int profile_read_callgrind(const char *data, size_t len, const struct profile_seen *seen,
                           struct err *e)
{
    struct callgrind c = {.positions = 1};
    struct piece line;

    profile_in_init(&c.in, data, len, seen, e);
    while (profile_line(&c.in, &line))
        take_line(&c, line);
    if (c.in.rc == 0 && (!c.has_totals || c.sum > 0))
        profile_fail(&c.in, "the file does not end in a line \"totals:\"; callgrind was ended "
                            "before it was through, or the file is none of its");
    profile_names_deinit(&c.names);
    return c.in.rc;
}
