/* One JSON value -> a value of a type. The type says what is allowed: every field once, no other,
 * whole numbers only. Places in errors are those of the JSON text. */
#include <string.h>

#include "lang/state.h"

struct source {
    const char *start, *p, *end;
    const struct pk_tables *t;
    struct pk_arena *arena;
    struct pk_err *e;
};

static bool fail(struct source *s, const char *what)
{
    uint32_t line = 1;
    const char *row = s->start;
    for (const char *p = s->start; p < s->p; p++)
        if (*p == '\n') {
            line++;
            row = p + 1;
        }
    (void)pk_fail(s->e, line, (uint32_t)(s->p - row) + 1, "the input has %s", what);
    return false;
}

static void blanks(struct source *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
}

static bool next_is(struct source *s, char c)
{
    blanks(s);
    return s->p < s->end && *s->p == c;
}

static bool taken(struct source *s, char c)
{
    if (!next_is(s, c))
        return false;
    s->p++;
    return true;
}

static bool room(struct source *s, const void *p)
{
    return p || fail(s, "more than fits into memory");
}

static bool word(struct source *s, const char *w)
{
    size_t n = strlen(w);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, w, n) != 0)
        return false;
    s->p += n;
    return true;
}

/* ---- numbers and truth */

static bool read_int(struct source *s, struct pk_value *out)
{
    const bool minus = taken(s, '-');
    const char *start = s->p;
    uint64_t v = 0, most = (uint64_t)INT64_MAX + minus;
    while (s->p < s->end && *s->p >= '0' && *s->p <= '9') {
        uint64_t digit = (uint64_t)(*s->p - '0');
        if (v > (most - digit) / 10)
            return fail(s, "a number that is no 64-bit integer");
        v = v * 10 + digit;
        s->p++;
    }
    if (s->p == start || (*start == '0' && s->p - start > 1) ||
        (s->p < s->end && (*s->p == '.' || *s->p == 'e' || *s->p == 'E')))
        return fail(s, "no whole number where the program takes one");
    *out = (struct pk_value){.tag = PK_INT, .as.i = minus ? (int64_t)(0 - v) : (int64_t)v};
    return true;
}

static bool read_bool(struct source *s, struct pk_value *out)
{
    blanks(s);
    const bool yes = word(s, "true");
    if (!yes && !word(s, "false"))
        return fail(s, "neither true nor false where the program takes one of them");
    *out = (struct pk_value){.tag = PK_BOOL, .as.i = yes};
    return true;
}

/* ---- strings */

static bool hex4(struct source *s, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        char c = s->p < s->end ? *s->p++ : 0;
        int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0)
            return fail(s, "a \\u without four digits");
        *out = *out << 4 | (uint32_t)v;
    }
    return true;
}

static char *put_utf8(char *out, uint32_t c)
{
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint32_t marks[] = {0, 0xc0, 0xe0, 0xf0};
    *out++ = (char)(marks[more] | c >> (6 * more));
    for (int i = more - 1; i >= 0; i--)
        *out++ = (char)(0x80 | (c >> (6 * i) & 0x3f));
    return out;
}

static char *unicode(struct source *s, char *out)
{
    uint32_t c, low;
    if (!hex4(s, &c))
        return NULL;
    if (c >= 0xd800 && c <= 0xdbff) {
        if (!word(s, "\\u") || !hex4(s, &low) || low < 0xdc00 || low > 0xdfff) {
            (void)fail(s, "half of a pair of surrogates");
            return NULL;
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c == 0 || (c >= 0xd800 && c <= 0xdfff)) {
        (void)fail(s, "a \\u that is no character");
        return NULL;
    }
    return put_utf8(out, c);
}

static char *escape(struct source *s, char *out)
{
    static const char written[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = s->p < s->end ? *s->p++ : 0;
    if (c == 'u')
        return unicode(s, out);
    const char *found = c ? strchr(written, c) : NULL;
    if (!found) {
        (void)fail(s, "an unknown escape in a text");
        return NULL;
    }
    *out++ = meant[found - written];
    return out;
}

/* What a text means is never longer than what is written. */
static bool read_string(struct source *s, struct pk_value *out)
{
    if (!taken(s, '"'))
        return fail(s, "no text where the program takes one");
    const char *close = s->p;
    while (close < s->end && *close != '"')
        close += *close == '\\' && s->end - close > 1 ? 2 : 1;
    char *text = pk_alloc(s->arena, (size_t)(close - s->p) + 1), *to = text;
    if (!room(s, text))
        return false;
    while (s->p < s->end && *s->p != '"') {
        unsigned char c = (unsigned char)*s->p++;
        if (c < 0x20)
            return fail(s, "a control character in a text");
        if (c != '\\')
            *to++ = (char)c;
        else if ((to = escape(s, to)) == NULL)
            return false;
    }
    *out = (struct pk_value){.tag = PK_STRING, .n = (uint32_t)(to - text), .as.s = text};
    return taken(s, '"') || fail(s, "a text without an end");
}

/* ---- lists, maps, records */

static bool read_value(struct source *s, uint32_t type, struct pk_value *out);

/* What an empty list points to, so that a part of it can be taken. */
static const struct pk_value nothing;

/* Values as they come, doubling in the arena. */
struct growing {
    struct pk_value *v;
    size_t n, cap;
};

static struct pk_value *grow(struct source *s, struct growing *g, size_t more)
{
    if (g->cap - g->n < more) {
        size_t cap = g->cap ? 2 * g->cap : 8;
        struct pk_value *v = pk_alloc(s->arena, cap * sizeof *v);
        if (!room(s, v))
            return NULL;
        if (g->n)
            memcpy(v, g->v, g->n * sizeof *v);
        g->v = v;
        g->cap = cap;
    }
    g->n += more;
    return g->v + g->n - more;
}

/* Behind an item: true while there is another one. */
static bool goes_on(struct source *s, char close, bool *good)
{
    if (taken(s, ','))
        return true;
    *good = taken(s, close) || fail(s, "neither a comma nor an end behind a value");
    return false;
}

static bool read_list(struct source *s, const struct pk_type *t, struct pk_value *out)
{
    const uint32_t element = t->element;
    struct growing g = {0};
    bool good = true;
    if (!taken(s, '['))
        return fail(s, "no list where the program takes one");
    if (!taken(s, ']'))
        do {
            struct pk_value *item = grow(s, &g, 1);
            if (!item || !read_value(s, element, item))
                return false;
        } while (goes_on(s, ']', &good));
    if (good && g.n > PK_MAX_LIST_ITEMS)
        return fail(s, "a list with too many items");
    *out = (struct pk_value){.tag = PK_LIST, .n = (uint32_t)g.n, .as.v = g.v ? g.v : &nothing};
    return good;
}

static bool key_and_colon(struct source *s, struct pk_value *key)
{
    if (!read_string(s, key))
        return false;
    return taken(s, ':') || fail(s, "no colon behind a key");
}

/* The last pair to its place among those before it. */
static bool settle(struct source *s, struct growing *g)
{
    const struct pk_value pair[2] = {g->v[g->n - 2], g->v[g->n - 1]};
    const struct pk_value map = {.tag = PK_MAP, .n = (uint32_t)(g->n / 2 - 1), .as.v = g->v};
    bool there = false;
    size_t at = run_find(&map, &pair[0], &there);
    if (there)
        return fail(s, "the same key twice");
    memmove(g->v + 2 * at + 2, g->v + 2 * at, (g->n - 2 * at - 2) * sizeof *g->v);
    memcpy(g->v + 2 * at, pair, sizeof pair);
    return true;
}

static bool read_map(struct source *s, const struct pk_type *t, struct pk_value *out)
{
    const uint32_t element = t->element;
    struct growing g = {0};
    bool good = true;
    if (!taken(s, '{'))
        return fail(s, "no object where the program takes a map");
    if (!taken(s, '}'))
        do {
            struct pk_value *pair = grow(s, &g, 2);
            if (!pair || !key_and_colon(s, pair) || !read_value(s, element, pair + 1) ||
                !settle(s, &g))
                return false;
            if (g.n > 2 * (size_t)PK_MAX_LIST_ITEMS)
                return fail(s, "a map with too many keys");
        } while (goes_on(s, '}', &good));
    *out = (struct pk_value){.tag = PK_MAP, .n = (uint32_t)(g.n / 2), .as.v = g.v ? g.v : &nothing};
    return good;
}

static bool about(struct source *s, const char *what, struct pk_text name)
{
    char text[120];
    size_t n = strlen(what), more = name.n < 60 ? name.n : 60;
    memcpy(text, what, n);
    memcpy(text + n, name.p, more);
    text[n + more] = '\0';
    return fail(s, text);
}

static bool read_member(struct source *s, const struct pk_type *t, struct pk_value *items,
                        bool *seen)
{
    struct pk_value key;
    if (!key_and_colon(s, &key))
        return false;
    const struct pk_text name = {key.as.s, key.n};
    uint32_t i = pk_field_index(s->t, t, name);
    if (i == t->n)
        return about(s, "a field that the program does not take: ", name);
    if (seen[i])
        return about(s, "twice the field ", name);
    seen[i] = true;
    return read_value(s, t->fields[i].type, &items[i]);
}

static bool read_record(struct source *s, const struct pk_type *t, struct pk_value *out)
{
    bool seen[PK_MAX_FIELDS] = {false}, good = true;
    struct pk_value *items = pk_zalloc(s->arena, (t->n + 1) * sizeof *items);
    if (!room(s, items))
        return false;
    if (!taken(s, '{'))
        return fail(s, "no object where the program takes a record");
    if (!taken(s, '}'))
        do {
            if (!read_member(s, t, items, seen))
                return false;
        } while (goes_on(s, '}', &good));
    for (uint32_t i = 0; i < t->n && good; i++)
        if (!seen[i])
            return about(s, "no field ", s->t->strings[t->fields[i].name]);
    *out = (struct pk_value){.tag = PK_RECORD, .n = t->n, .as.v = items};
    return good;
}

static bool read_value(struct source *s, uint32_t type, struct pk_value *out)
{
    const struct pk_type *t = &s->t->types[type];
    switch (t->kind) {
    case PK_T_INT:
        return read_int(s, out);
    case PK_T_BOOL:
        return read_bool(s, out);
    case PK_T_STRING:
        return read_string(s, out);
    case PK_T_LIST:
        return read_list(s, t, out);
    case PK_T_MAP:
        return read_map(s, t, out);
    default:
        return read_record(s, t, out);
    }
}

int pk_input(struct pk_state *state, const struct pk_program *p, const struct pk_entry *entry,
             const char *json, size_t len, struct pk_value *out, struct pk_err *e)
{
    struct source s = {.start = json, .p = json, .end = json + len, .t = &p->tables};
    s.arena = &state->inputs;
    s.e = e;
    if (len > PK_MAX_INPUT_BYTES)
        return pk_fail(e, 0, 0, "the input is longer than %d bytes", PK_MAX_INPUT_BYTES);
    size_t good = pk_utf8(json, len);
    if (good < len) {
        s.p += good;
        (void)fail(&s, "bytes that are not UTF-8");
        return -1;
    }
    if (!read_value(&s, entry->input_type, out))
        return -1;
    blanks(&s);
    if (s.p < s.end)
        (void)fail(&s, "something behind its value");
    return s.p == s.end ? 0 : -1;
}
