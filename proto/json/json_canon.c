#include "proto/json/json.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "proto/json/json_text.h"

/* The text is checked before it is walked, so nothing here looks for errors but duplicate keys. */
struct canon {
    const char *p, *end;
    struct buf *out;
    struct buf keys; /* decoded keys of the open objects, NUL-terminated, used as a stack */
    struct err *e;
};

struct member {
    size_t key_at;
    const char *key; /* set once keys no longer moves */
    size_t at, len;  /* the canonical value in out */
};

static int canon_value(struct canon *c);

/* The end matters where a number is the whole text. */
static bool is_one_of(const struct canon *c, const char *set)
{
    return c->p < c->end && memchr(set, *c->p, strlen(set));
}

static void skip_space(struct canon *c)
{
    while (is_one_of(c, " \n\r\t"))
        c->p++;
}

static void canon_string(struct canon *c)
{
    struct buf text = {0};
    c->p = json_unquote(c->p, &text);
    json_quote(c->out, buf_str(&text), text.len);
    buf_deinit(&text);
}

static void canon_scalar(struct canon *c)
{
    const char *from = c->p;
    while (c->p < c->end && !is_one_of(c, ",]} \n\r\t"))
        c->p++;
    buf_add(c->out, from, (size_t)(c->p - from));
}

static int compare_members(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static int find_duplicate(struct canon *c, const struct member *m, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!strcmp(m[i - 1].key, m[i].key))
            return err_set(c->e, -EINVAL, "json.duplicate_key", "",
                           "a key appears twice in one object; keep one of them");
    return 0;
}

/* Replaces the values that stand behind from in out by the whole object, its keys sorted. */
static int write_sorted(struct canon *c, struct member *members, size_t n, size_t from)
{
    for (size_t i = 0; i < n; i++)
        members[i].key = c->keys.data + members[i].key_at;
    if (n > 1)
        qsort(members, n, sizeof *members, compare_members);
    if (find_duplicate(c, members, n))
        return -EINVAL;

    struct buf values = {0};
    if (n)
        buf_add(&values, c->out->data + from, c->out->len - from);
    c->out->len = from;
    buf_putc(c->out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_putc(c->out, ',');
        json_quote(c->out, members[i].key, strlen(members[i].key));
        buf_putc(c->out, ':');
        buf_add(c->out, values.data + (members[i].at - from), members[i].len);
    }
    buf_putc(c->out, '}');
    buf_deinit(&values);
    return 0;
}

static int read_member(struct canon *c, struct member *m)
{
    skip_space(c);
    m->key_at = c->keys.len;
    c->p = json_unquote(c->p, &c->keys);
    buf_putc(&c->keys, '\0');
    skip_space(c);
    c->p++; /* the colon */
    m->at = c->out->len;
    int rc = canon_value(c);
    m->len = c->out->len - m->at;
    return rc;
}

static int canon_object(struct canon *c)
{
    CLEANUP(mem_freep) struct member *members = NULL;
    size_t n = 0, cap = 0, from = c->out->len, keys_from = c->keys.len;
    c->p++;
    skip_space(c);
    while (!is_one_of(c, "}")) {
        MEM_GROW(members, n, cap);
        if (read_member(c, &members[n++]))
            return -EINVAL;
        if (is_one_of(c, ","))
            c->p++;
    }
    c->p++;
    int rc = write_sorted(c, members, n, from);
    c->keys.len = keys_from;
    return rc;
}

static int canon_array(struct canon *c)
{
    buf_putc(c->out, '[');
    c->p++;
    skip_space(c);
    while (!is_one_of(c, "]")) {
        if (canon_value(c))
            return -EINVAL;
        if (is_one_of(c, ",")) {
            buf_putc(c->out, ',');
            c->p++;
        }
    }
    buf_putc(c->out, ']');
    c->p++;
    return 0;
}

static int canon_value(struct canon *c)
{
    int rc = 0;
    skip_space(c);
    if (is_one_of(c, "{"))
        rc = canon_object(c);
    else if (is_one_of(c, "["))
        rc = canon_array(c);
    else if (is_one_of(c, "\""))
        canon_string(c);
    else
        canon_scalar(c);
    skip_space(c);
    return rc;
}

int json_canonical(const char *data, size_t len, struct buf *out, struct err *e)
{
    if (json_check(data, len, SIZE_MAX, e))
        return -EINVAL;
    size_t before = out->len;
    struct canon c = {.p = data, .end = data + len, .out = out, .e = e};
    int rc = canon_value(&c);
    buf_deinit(&c.keys);
    if (rc) {
        out->len = before;
        if (out->data)
            out->data[before] = '\0';
        return rc;
    }
    buf_putc(out, '\n');
    return 0;
}
