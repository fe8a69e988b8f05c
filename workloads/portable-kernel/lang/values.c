/* What is done with lists, maps, records and strings. Nothing is changed: each makes a new one. */
#include <string.h>

#include "lang/state.h"

static bool wrong(struct run *r)
{
    return run_fail(r, "the artifact takes a value of another type here");
}

static bool leave(struct run *r, uint32_t taken, struct pk_value v)
{
    r->sp -= taken;
    *r->sp++ = v;
    return true;
}

static bool leave_int(struct run *r, uint32_t taken, enum pk_tag tag, int64_t v)
{
    return leave(r, taken, (struct pk_value){.tag = tag, .as.i = v});
}

static bool leave_items(struct run *r, uint32_t taken, enum pk_tag tag, uint32_t n,
                        const struct pk_value *items)
{
    return leave(r, taken, (struct pk_value){.tag = tag, .n = n, .as.v = items});
}

static void copy(struct pk_value *to, const struct pk_value *from, size_t n)
{
    if (n)
        memcpy(to, from, n * sizeof *to);
}

/* ---- comparing */

int run_order(const struct pk_value *a, const struct pk_value *b)
{
    if (a->tag == PK_STRING)
        return pk_text_order((struct pk_text){a->as.s, a->n}, (struct pk_text){b->as.s, b->n});
    return (a->as.i > b->as.i) - (a->as.i < b->as.i);
}

bool run_equal(struct run *r, const struct pk_value *a, const struct pk_value *b, uint32_t depth,
               bool *same)
{
    *same = a->tag == b->tag && a->n == b->n;
    if (!*same)
        return true;
    if (a->tag <= PK_STRING) {
        *same = run_order(a, b) == 0;
        return a->tag != PK_STRING || run_pay(r, a->n);
    }
    if (depth == PK_MAX_NESTING)
        return run_fail(r, "the values are too deep to be compared");
    size_t n = a->tag == PK_MAP ? 2 * (size_t)a->n : a->n;
    if (!run_pay(r, n))
        return false;
    for (size_t i = 0; i < n && *same; i++)
        if (!run_equal(r, &a->as.v[i], &b->as.v[i], depth + 1, same))
            return false;
    return true;
}

uint32_t run_find(const struct pk_value *map, const struct pk_value *key, bool *there)
{
    uint32_t low = 0, high = map->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = run_order(&map->as.v[2 * (size_t)middle], key);
        if (order == 0) {
            *there = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = false;
    return low;
}

/* ---- making */

/* Into a map that has n pairs and room for one more. */
static bool insert(struct run *r, struct pk_value *pairs, uint32_t n, const struct pk_value *pair)
{
    const struct pk_value map = {.tag = PK_MAP, .n = n, .as.v = pairs};
    bool there = false;
    uint32_t at = run_find(&map, pair, &there);
    if (there)
        return run_fail(r, "a key is in this map twice");
    memmove(pairs + 2 * at + 2, pairs + 2 * at, 2 * (size_t)(n - at) * sizeof *pairs);
    copy(pairs + 2 * at, pair, 2);
    return run_pay(r, n - at);
}

static bool gather_map(struct run *r, uint32_t n)
{
    const struct pk_value *from = r->sp - 2 * n;
    struct pk_value *pairs = run_values(r, 2 * (size_t)n);
    if (!pairs)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (from[2 * i].tag != PK_STRING)
            return wrong(r);
        if (!insert(r, pairs, i, &from[2 * i]))
            return false;
    }
    return leave_items(r, 2 * n, PK_MAP, n, pairs);
}

bool run_gather(struct run *r, enum pk_tag tag, uint32_t n)
{
    if (tag == PK_MAP)
        return gather_map(r, n);
    struct pk_value *items = run_values(r, n);
    if (!items)
        return false;
    copy(items, r->sp - n, n);
    return leave_items(r, n, tag, n, items);
}

bool run_replace(struct run *r, uint32_t field)
{
    const struct pk_value *record = r->sp - 2;
    if (record->tag != PK_RECORD || field >= record->n)
        return wrong(r);
    struct pk_value *items = run_values(r, record->n);
    if (!items)
        return false;
    copy(items, record->as.v, record->n);
    items[field] = r->sp[-1];
    return leave_items(r, 2, PK_RECORD, record->n, items);
}

static bool concat_strings(struct run *r, const struct pk_value *a, const struct pk_value *b)
{
    const size_t n = (size_t)a->n + b->n;
    char *s = run_pay(r, n) && n <= PK_MAX_OUTPUT_BYTES ? pk_alloc(&r->s->memory, n + 1) : NULL;
    if (!s)
        return run_fail(r, "the memory that one dispatch may have is used up");
    if (a->n)
        memcpy(s, a->as.s, a->n);
    if (b->n)
        memcpy(s + a->n, b->as.s, b->n);
    return leave(r, 2, (struct pk_value){.tag = PK_STRING, .n = (uint32_t)n, .as.s = s});
}

bool run_concat(struct run *r)
{
    const struct pk_value *a = r->sp - 2, *b = r->sp - 1;
    if (a->tag == PK_STRING && b->tag == PK_STRING)
        return concat_strings(r, a, b);
    if (a->tag != PK_LIST || b->tag != PK_LIST)
        return wrong(r);
    if ((size_t)a->n + b->n > PK_MAX_LIST_ITEMS)
        return run_fail(r, "a list has too many items");
    struct pk_value *items = run_values(r, (size_t)a->n + b->n);
    if (!items)
        return false;
    copy(items, a->as.v, a->n);
    copy(items + a->n, b->as.v, b->n);
    return leave_items(r, 2, PK_LIST, a->n + b->n, items);
}

bool run_index(struct run *r)
{
    const struct pk_value *of = r->sp - 2, *key = r->sp - 1;
    bool there = false;
    if (of->tag == PK_LIST && key->tag == PK_INT) {
        if (key->as.i < 0 || key->as.i >= of->n)
            return run_fail(r, "the list has no item with this number");
        return leave(r, 2, of->as.v[key->as.i]);
    }
    if (of->tag != PK_MAP || key->tag != PK_STRING)
        return wrong(r);
    uint32_t at = run_find(of, key, &there);
    return there ? leave(r, 2, of->as.v[2 * (size_t)at + 1])
                 : run_fail(r, "the map has no such key; ask with has, or use get");
}

/* ---- the functions that are always there: the arguments are a[0], a[1], ... */

static bool builtin_push(struct run *r, const struct pk_value *a)
{
    if (a[0].tag != PK_LIST)
        return wrong(r);
    if (a[0].n == PK_MAX_LIST_ITEMS)
        return run_fail(r, "a list has too many items");
    struct pk_value *items = run_values(r, (size_t)a[0].n + 1);
    if (!items)
        return false;
    copy(items, a[0].as.v, a[0].n);
    items[a[0].n] = a[1];
    return leave_items(r, 2, PK_LIST, a[0].n + 1, items);
}

/* Items are never changed: a part of a list is a part of its memory. */
static bool builtin_slice(struct run *r, const struct pk_value *a)
{
    if (a[0].tag != PK_LIST || a[1].tag != PK_INT || a[2].tag != PK_INT)
        return wrong(r);
    if (a[1].as.i < 0 || a[2].as.i < a[1].as.i || a[2].as.i > a[0].n)
        return run_fail(r, "slice takes a part from 0 to the length of the list");
    return leave_items(r, 3, PK_LIST, (uint32_t)(a[2].as.i - a[1].as.i), a[0].as.v + a[1].as.i);
}

static bool builtin_range(struct run *r, const struct pk_value *a)
{
    if (a[0].tag != PK_INT || a[1].tag != PK_INT)
        return wrong(r);
    int64_t from = a[0].as.i, to = a[1].as.i, n = 0;
    if (to > from && (__builtin_sub_overflow(to, from, &n) || n > PK_MAX_LIST_ITEMS))
        return run_fail(r, "a list has too many items");
    struct pk_value *items = run_values(r, (size_t)n);
    if (!items)
        return false;
    for (int64_t i = 0; i < n; i++)
        items[i] = (struct pk_value){.tag = PK_INT, .as.i = from + i};
    return leave_items(r, 2, PK_LIST, (uint32_t)n, items);
}

static bool builtin_get(struct run *r, const struct pk_value *a, bool only_whether)
{
    bool there = false;
    if (a[0].tag != PK_MAP || a[1].tag != PK_STRING)
        return wrong(r);
    uint32_t at = run_find(&a[0], &a[1], &there);
    if (only_whether)
        return leave_int(r, 2, PK_BOOL, there);
    return leave(r, 3, there ? a[0].as.v[2 * (size_t)at + 1] : a[2]);
}

static bool builtin_put(struct run *r, const struct pk_value *a)
{
    bool there = false;
    if (a[0].tag != PK_MAP || a[1].tag != PK_STRING)
        return wrong(r);
    const size_t at = 2 * (size_t)run_find(&a[0], &a[1], &there), n = 2 * (size_t)a[0].n;
    const size_t skip = there ? 2 : 0;
    if (!there && a[0].n == PK_MAX_LIST_ITEMS)
        return run_fail(r, "a map has too many keys");
    struct pk_value *pairs = run_values(r, n + 2 - skip);
    if (!pairs)
        return false;
    copy(pairs, a[0].as.v, at);
    pairs[at] = a[1];
    pairs[at + 1] = a[2];
    copy(pairs + at + 2, a[0].as.v + at + skip, n - at - skip);
    return leave_items(r, 3, PK_MAP, a[0].n + !there, pairs);
}

static bool builtin_keys(struct run *r, const struct pk_value *a)
{
    if (a[0].tag != PK_MAP)
        return wrong(r);
    struct pk_value *items = run_values(r, a[0].n);
    if (!items)
        return false;
    for (uint32_t i = 0; i < a[0].n; i++)
        items[i] = a[0].as.v[2 * (size_t)i];
    return leave_items(r, 1, PK_LIST, a[0].n, items);
}

static bool builtin_str(struct run *r, const struct pk_value *a)
{
    if (a[0].tag != PK_INT)
        return wrong(r);
    char *s = pk_alloc(&r->s->memory, PK_INT_TEXT);
    if (!s)
        return run_fail(r, "the memory that one dispatch may have is used up");
    uint32_t n = (uint32_t)pk_int_text(a[0].as.i, s);
    return leave(r, 1, (struct pk_value){.tag = PK_STRING, .n = n, .as.s = s});
}

static bool builtin_of_two(struct run *r, const struct pk_value *a, bool larger)
{
    if (a[0].tag != PK_INT || a[1].tag != PK_INT)
        return wrong(r);
    return leave(r, 2, (a[0].as.i > a[1].as.i) == larger ? a[0] : a[1]);
}

bool run_builtin(struct run *r, uint32_t builtin)
{
    const struct pk_value *a = r->sp - pk_builtins[builtin].arguments;
    switch (builtin) {
    case PK_B_LEN:
        if (a->tag != PK_LIST && a->tag != PK_MAP && a->tag != PK_STRING)
            return wrong(r);
        return leave_int(r, 1, PK_INT, a->n);
    case PK_B_PUSH:
        return builtin_push(r, a);
    case PK_B_SLICE:
        return builtin_slice(r, a);
    case PK_B_RANGE:
        return builtin_range(r, a);
    case PK_B_HAS:
        return builtin_get(r, a, true);
    case PK_B_GET:
        return builtin_get(r, a, false);
    case PK_B_PUT:
        return builtin_put(r, a);
    case PK_B_KEYS:
        return builtin_keys(r, a);
    case PK_B_STR:
        return builtin_str(r, a);
    default:
        return builtin_of_two(r, a, builtin == PK_B_MAX);
    }
}
