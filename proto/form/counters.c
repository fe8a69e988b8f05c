#include "proto/form/counters.h"

#include <string.h>

#include "proto/form/printed.h"

#define WORD "COUNTER "

struct counters {
    struct arena *a;
    const struct args *names;
    struct raw_value *values; /* -1: not said yet */
    const char *got;
};

static struct raw_value *find(const struct counters *c, struct piece name)
{
    for (size_t i = 0; i < c->names->n; i++)
        if (piece_is(name, c->names->v[i]))
            return &c->values[i];
    return NULL;
}

/* One line without its newline. */
static const char *take_line(struct counters *c, struct piece line)
{
    struct piece name;

    c->got = printed_shown(c->a, line.at, line.len);
    if (!piece_take(&line, WORD) || !printed_word(&line, &name))
        return "lane.counter_bad";
    int64_t value = printed_number(line.at, line.len);
    if (value < 0)
        return "lane.counter_bad";
    struct raw_value *to = find(c, name);
    if (!to)
        return "lane.counter_unknown";
    if (to->value >= 0)
        return "lane.counter_twice";
    to->value = value;
    return NULL;
}

static const char *find_missing(struct counters *c)
{
    for (size_t i = 0; i < c->names->n; i++)
        if (c->values[i].value < 0) {
            c->got = c->values[i].name;
            return "lane.counter_missing";
        }
    return NULL;
}

const char *counters_parse(struct arena *a, const char *text, size_t len, const struct args *names,
                           struct raw_value **out, const char **got)
{
    struct counters c = {
        .a = a, .names = names, .values = arena_array(a, names->n, sizeof *c.values)};
    const char *fault = NULL;

    for (size_t i = 0; i < names->n; i++)
        c.values[i] = (struct raw_value){names->v[i], -1};
    for (size_t at = 0; !fault && at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t line = newline ? (size_t)(newline - (text + at)) : len - at;
        fault = take_line(&c, (struct piece){text + at, line});
        if (!fault && !newline)
            fault = "lane.counter_bad";
        at += line + 1;
    }
    if (!fault)
        fault = find_missing(&c);
    *out = fault ? NULL : c.values;
    *got = fault ? c.got : NULL;
    return fault;
}
