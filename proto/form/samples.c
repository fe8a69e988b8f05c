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

/* What stands before the next blank, which is taken too. */
struct word {
    const char *at;
    size_t len;
};

/* False: there is no blank, or nothing before it. */
static bool take_word(const char **at, const char *end, struct word *out)
{
    const char *blank = memchr(*at, ' ', (size_t)(end - *at));

    if (!blank || blank == *at)
        return false;
    *out = (struct word){*at, (size_t)(blank - *at)};
    *at = blank + 1;
    return true;
}

static const struct sample_series *find(const struct parsing *p, const struct word *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strlen(p->declared[i].name) == name->len &&
            memcmp(p->declared[i].name, name->at, name->len) == 0)
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
static const char *take_line(const struct parsing *p, const char *line, size_t len)
{
    size_t word = strlen(WORD);
    const char *at = line + word, *end = line + len;
    struct word name, index;

    if (len + 1 > SAMPLE_LINE_MAX)
        return "lane.line_too_long";
    if (len <= word || memcmp(line, WORD, word) != 0 || !take_word(&at, end, &name) ||
        !take_word(&at, end, &index))
        return "lane.sample_bad";
    int64_t place = printed_number(index.at, index.len);
    int64_t value = printed_number(at, (size_t)(end - at));
    if (place < 0 || value < 0)
        return "lane.sample_bad";
    const struct sample_series *of = find(p, &name);
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
        fault = take_line(&p, text + at, line);
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
