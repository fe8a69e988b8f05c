#include "proto/form/samples.h"

#include <string.h>

#include "proto/form/printed.h"

#define WORD "SAMPLE "

struct parsing {
    struct arena *a;
    const struct sample_series *declared;
    size_t n;
    struct raw_samples *out;
    const char *got;
};

static const struct sample_series *find(const struct parsing *p, struct piece name)
{
    for (size_t i = 0; i < p->n; i++)
        if (piece_is(name, p->declared[i].name))
            return &p->declared[i];
    return NULL;
}

static const char *take_sample(const struct parsing *p, const struct sample_series *of,
                               int64_t index, int64_t value)
{
    struct raw_samples *to = &p->out[of - p->declared];

    if (index < (int64_t)to->n)
        return "lane.sample_twice";
    if (index >= of->max)
        return "lane.sample_extra";
    if (index > (int64_t)to->n)
        return "lane.sample_gap";
    to->v[to->n++] = value;
    return NULL;
}

/* One line without its newline. */
static const char *take_line(const struct parsing *p, struct piece line)
{
    struct piece name, index;

    if (line.len + 1 > SAMPLE_LINE_MAX)
        return "lane.line_too_long";
    if (!piece_take(&line, WORD) || !printed_word(&line, &name) || !printed_word(&line, &index))
        return "lane.sample_bad";
    int64_t place = printed_number(index.at, index.len);
    int64_t value = printed_number(line.at, line.len);
    if (place < 0 || value < 0)
        return "lane.sample_bad";
    const struct sample_series *of = find(p, name);
    return of ? take_sample(p, of, place, value) : "lane.sample_unknown";
}

static const char *find_missing(struct parsing *p)
{
    for (size_t i = 0; i < p->n; i++)
        if ((int64_t)p->out[i].n < p->declared[i].min) {
            p->got = p->declared[i].name;
            return "lane.sample_missing";
        }
    return NULL;
}

const char *samples_parse(struct arena *a, const char *text, size_t len,
                          const struct sample_series *declared, size_t n, struct raw_samples **out,
                          const char **got)
{
    struct parsing p = {.a = a, .declared = declared, .n = n};
    const char *fault = NULL;

    p.out = arena_array(a, n, sizeof *p.out);
    for (size_t i = 0; i < n; i++)
        p.out[i] =
            (struct raw_samples){.name = declared[i].name,
                                 .v = arena_array(a, (size_t)declared[i].max, sizeof *p.out[i].v)};
    for (size_t at = 0; !fault && at < len;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t line = newline ? (size_t)(newline - (text + at)) : len - at;
        fault = take_line(&p, (struct piece){text + at, line});
        if (!fault && !newline)
            fault = "lane.sample_bad";
        if (fault)
            p.got = printed_shown(a, text + at, line);
        at += line + 1;
    }
    if (!fault)
        fault = find_missing(&p);
    *out = fault ? NULL : p.out;
    *got = fault ? p.got : NULL;
    return fault;
}
