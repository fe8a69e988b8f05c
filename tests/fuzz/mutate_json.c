/* Changes to JSON text that keep it JSON: most inputs of blind changes would be refused before they
 * reach a document's rules. A value is replaced by another one of the text or by a nasty one, taken
 * out, doubled, or changed in its bytes; one change in three is libFuzzer's own, anywhere.
 *
 * Only the text is looked at, so that it also works on several documents in one input.
 */
#include <string.h>

#include "fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

#define VALUES_MAX 4096
#define VALUE_BYTES_MAX 256 /* of what is changed in its bytes */

struct value {
    size_t from, to; /* without the key */
    size_t key;      /* where its key begins; from: it has none */
};

struct text {
    const uint8_t *p;
    size_t len;
    struct value v[VALUES_MAX];
    size_t n;
};

static size_t end_of_string(const struct text *t, size_t at)
{
    for (at++; at < t->len && t->p[at] != '"'; at++)
        at += t->p[at] == '\\';
    return at < t->len ? at + 1 : t->len;
}

static bool is_scalar(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
           c == 'E';
}

/* Notes every value, containers at their end: a container's place is kept on a stack meanwhile. */
static void find_values(struct text *t)
{
    struct value open[64];
    size_t depth = 0, key = SIZE_MAX;

    for (size_t at = 0, from; at < t->len && t->n < VALUES_MAX;) {
        uint8_t c = t->p[at];
        struct value v = {at, at + 1, key < at ? key : at};
        from = at;
        if (c == '"')
            at = end_of_string(t, at);
        else if (is_scalar(c))
            while (at < t->len && is_scalar(t->p[at]))
                at++;
        else
            at++;
        if (c == '"' && at < t->len && t->p[at] == ':') {
            key = from;
            at++;
            continue;
        }
        if ((c == '{' || c == '[') && depth < ARRAY_LEN(open)) {
            open[depth++] = v;
        } else if ((c == '}' || c == ']') && depth > 0) {
            v = open[--depth];
            v.to = at;
            t->v[t->n++] = v;
        } else if (c == '"' || is_scalar(c)) {
            v.to = at;
            t->v[t->n++] = v;
        }
        key = SIZE_MAX;
    }
}

/* Puts with in place of [from, to). The new length; the old one when there is no room. */
static size_t splice(uint8_t *data, size_t size, size_t max_size, size_t from, size_t to,
                     const uint8_t *with, size_t len)
{
    if (size - (to - from) + len > max_size)
        return size;
    memmove(data + from + len, data + to, size - to);
    memcpy(data + from, with, len);
    return size - (to - from) + len;
}

static const char *const nasty[] = {
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "2",
    "1.5",
    "-0.0",
    "1e308",
    "4.9e-324",
    "2147483647",
    "2147483648",
    "9007199254740991",
    "-9007199254740991",
    "\"9007199254740992\"",
    "\"9223372036854775807\"",
    "\"-9223372036854775808\"",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[[]]",
    "\"\\u001b[31m\"",
    "\"\xc2\x9b\"",
    "\"\xe2\x80\xae\"",
    "\"a\\nb\"",
    "\"|\"",
    "\"<b>\"",
    "\"'\\\\''; x\"",
    "\"%s%n\"",
    "\"{source}\"",
    "\"../x\"",
    "\"/\"",
    "\"10m\"",
    "\"366d\"",
    "\"2026-12-01T01:00:00Z\"",
    "\"PASS\"",
    "\"UNKNOWN\"",
    "\"before\"",
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "\"01KB9XK3Q8Z4T1V7N5M2C0D6EF\"",
    "\"0123456789abcdef0123456789abcdef01234567\"",
};

struct change {
    uint8_t *data;
    size_t size, max_size;
    const struct value *v, *other; /* two values of the text, perhaps the same */
    unsigned random;
};

static bool is_number(uint8_t c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

/* Mostly of the same type: others are refused at once. */
static bool is_alike(uint8_t was, uint8_t is)
{
    return was == is || (is_number(was) && is_number(is)) ||
           ((was == 't' || was == 'f') && (is == 't' || is == 'f'));
}

static size_t replace_by_nasty(const struct change *c)
{
    const char *with = nasty[c->random % ARRAY_LEN(nasty)];

    for (unsigned i = 0; c->random % 8 && i < ARRAY_LEN(nasty); i++) {
        if (is_alike(c->data[c->v->from], (uint8_t)with[0]))
            break;
        with = nasty[(c->random + i * 7) % ARRAY_LEN(nasty)];
    }
    return splice(c->data, c->size, c->max_size, c->v->from, c->v->to, (const uint8_t *)with,
                  strlen(with));
}

static size_t replace_by_other(const struct change *c)
{
    size_t len = c->other->to - c->other->from;
    CLEANUP(mem_freep) uint8_t *copy = mem_alloc(len + 1);

    memcpy(copy, c->data + c->other->from, len);
    return splice(c->data, c->size, c->max_size, c->v->from, c->v->to, copy, len);
}

/* With its key and one comma beside it. */
static size_t take_out(const struct change *c)
{
    size_t from = c->v->key, to = c->v->to;

    if (to < c->size && c->data[to] == ',')
        to++;
    else if (from > 0 && c->data[from - 1] == ',')
        from--;
    return splice(c->data, c->size, c->max_size, from, to, (const uint8_t *)"", 0);
}

/* Twice in a row: an item of an array, or a key that then stands there twice. */
static size_t double_it(const struct change *c)
{
    size_t len = c->v->to - c->v->key;
    CLEANUP(mem_freep) uint8_t *copy = mem_alloc(len + 1);

    copy[0] = ',';
    memcpy(copy + 1, c->data + c->v->key, len);
    return splice(c->data, c->size, c->max_size, c->v->to, c->v->to, copy, len + 1);
}

/* Between its quotes, or its digits. */
static size_t change_bytes(const struct change *c)
{
    size_t quote = c->data[c->v->from] == '"' && c->v->to - c->v->from >= 2;
    size_t from = c->v->from + quote, len = c->v->to - quote - from;
    uint8_t bytes[VALUE_BYTES_MAX + 16];

    if (len > VALUE_BYTES_MAX)
        return replace_by_nasty(c);
    memcpy(bytes, c->data + from, len);
    size_t now = LLVMFuzzerMutate(bytes, len, sizeof bytes);
    return splice(c->data, c->size, c->max_size, from, from + len, bytes, now);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    static size_t (*const changes[])(const struct change *) = {
        replace_by_nasty, replace_by_other, take_out, double_it, change_bytes, change_bytes};
    static struct text t;

    t.p = data;
    t.len = size;
    t.n = 0;
    if (seed % 3 > 0)
        find_values(&t);
    if (t.n == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    unsigned r = seed / 3 * 2654435761U;
    const struct value *v = &t.v[(r >> 8) % t.n], *other = &t.v[(r >> 3) % t.n];
    for (size_t i = 0; i < t.n && !is_alike(data[v->from], data[other->from]); i++)
        other = &t.v[((r >> 3) + i) % t.n];
    struct change c = {data, size, max_size, v, other, r >> 12};
    size_t now = changes[r % ARRAY_LEN(changes)](&c);
    return now ? now : LLVMFuzzerMutate(data, size, max_size);
}
