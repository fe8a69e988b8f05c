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

static struct raw_value *find(const struct counters *c, const char *name, size_t len)
{
    for (size_t i = 0; i < c->names->n; i++)
        if (strlen(c->names->v[i]) == len && memcmp(c->names->v[i], name, len) == 0)
            return &c->values[i];
    return NULL;
}

/* One line without its newline. */
static const char *take_line(struct counters *c, const char *line, size_t len)
{
    size_t word = strlen(WORD);
    const char *space =
        len > word && memcmp(line, WORD, word) == 0 ? memchr(line + word, ' ', len - word) : NULL;

    c->got = printed_shown(c->a, line, len);
    if (!space)
        return "lane.counter_bad";
    const char *name = line + word;
    size_t name_len = (size_t)(space - name);
    int64_t value = printed_number(space + 1, len - word - name_len - 1);
    if (value < 0 || name_len == 0)
        return "lane.counter_bad";
    struct raw_value *to = find(c, name, name_len);
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
        fault = take_line(&c, text + at, line);
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
