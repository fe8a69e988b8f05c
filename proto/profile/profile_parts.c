#include "proto/profile/profile_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "proto/json/json.h"

void profile_in_init(struct profile_in *in, const char *data, size_t len,
                     const struct profile_seen *seen, struct err *e)
{
    *in = (struct profile_in){
        .at = data, .end = data + len, .line_max = PROFILE_LINE_MAX, .seen = seen, .e = e};
}

int profile_fail(struct profile_in *in, const char *fmt, ...)
{
    char text[256], field[32];
    va_list ap;

    if (in->rc)
        return in->rc;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    /* Bytes of the profile may be in it. */
    for (char *p = text; *p; p++)
        *p = *p >= ' ' && *p <= '~' ? *p : '?';
    (void)snprintf(field, sizeof field, "line %" PRId64, in->line);
    in->rc = err_set(in->e, -EBADMSG, "profile.bad", field, "%s: %s", field, text);
    return in->rc;
}

bool profile_line(struct profile_in *in, struct piece *line)
{
    if (in->rc || in->at == in->end)
        return false;
    in->line++;
    const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
    if (!newline) {
        profile_fail(in, "the last line has no newline; the profile was cut off, write it anew");
        return false;
    }
    *line = (struct piece){in->at, (size_t)(newline - in->at)};
    in->at = newline + 1;
    if (line->len > in->line_max)
        profile_fail(in, "a line of more than %zu bytes", in->line_max);
    else if (memchr(line->at, '\0', line->len))
        profile_fail(in, "a NUL in a text; name the right format");
    return in->rc == 0;
}

void profile_tell(struct profile_in *in, const struct profile_sample *sample)
{
    if (in->rc == 0 && !in->seen->sample(in->seen->of, sample))
        profile_fail(in, "the profile has more samples than can be counted; record less");
}

struct piece profile_symbol(struct piece name)
{
    struct piece rest = name;
    uint64_t address;
    bool is_address = piece_take(&rest, "0x") && piece_take_hex(&rest, &address) && rest.len == 0;

    if (name.len == 0 || is_address || piece_is(name, "???") || piece_is(name, "[unknown]") ||
        piece_is(name, "<deduplicated_symbol>"))
        return (struct piece){0};
    return name;
}

/* ---- names */

void profile_names_deinit(struct profile_names *names)
{
    free(names->slots);
    *names = (struct profile_names){0};
}

/* Where it is, or where it would be; cap is a power of two and never full. */
static struct profile_name *slot(struct profile_name *slots, size_t cap, int kind, int64_t id)
{
    uint64_t hash = ((uint64_t)id * 31 + (uint64_t)kind) * 0x9e3779b97f4a7c15ULL;
    size_t i = (size_t)(hash >> 20) & (cap - 1);

    while (slots[i].kind && (slots[i].kind != kind || slots[i].id != id))
        i = (i + 1) & (cap - 1);
    return &slots[i];
}

const struct profile_name *profile_names_find(const struct profile_names *names, int kind,
                                              int64_t id)
{
    const struct profile_name *s = names->cap ? slot(names->slots, names->cap, kind, id) : NULL;
    return s && s->kind ? s : NULL;
}

static void grow(struct profile_names *names)
{
    size_t cap = names->cap ? names->cap * 2 : 64;
    struct profile_name *slots = mem_alloc(cap * sizeof *slots);

    for (size_t i = 0; i < names->cap; i++)
        if (names->slots[i].kind)
            *slot(slots, cap, names->slots[i].kind, names->slots[i].id) = names->slots[i];
    free(names->slots);
    names->slots = slots;
    names->cap = cap;
}

bool profile_names_put(struct profile_names *names, const struct profile_name *name)
{
    if (names->n * 2 >= names->cap)
        grow(names);
    struct profile_name *s = slot(names->slots, names->cap, name->kind, name->id);
    if (s->kind)
        return false;
    *s = *name;
    names->n++;
    return true;
}
