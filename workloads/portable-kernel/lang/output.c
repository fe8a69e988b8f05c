/* A value of a type -> canonical JSON. The type says what the fields are called. */
#include "lang/program.h"

struct writer {
    const struct pk_tables *t;
    struct pk_bytes *out;
    struct pk_err *e;
};

static void put_escaped(struct pk_bytes *out, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *named = c == '\n'   ? "\\n"
                        : c == '\t' ? "\\t"
                        : c == '\r' ? "\\r"
                        : c == '\b' ? "\\b"
                        : c == '\f' ? "\\f"
                        : c == '"'  ? "\\\""
                        : c == '\\' ? "\\\\"
                                    : NULL;
    const char hex[6] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    pk_add(out, named ? named : hex, named ? 2 : sizeof hex);
}

static void put_string(struct pk_bytes *out, const char *s, uint32_t n)
{
    uint32_t start = 0;
    pk_add_u8(out, '"');
    for (uint32_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        pk_add(out, s + start, i - start);
        put_escaped(out, c);
        start = i + 1;
    }
    pk_add(out, s + start, n - start);
    pk_add_u8(out, '"');
}

static bool put(struct writer *w, const struct pk_value *v, uint32_t type);

/* Which kind of value a type has: their enums are in the same order. */
static bool is_of(const struct pk_value *v, const struct pk_type *t)
{
    return v->tag == (uint32_t)t->kind && (t->kind != PK_T_RECORD || v->n == t->n);
}

static bool put_items(struct writer *w, const struct pk_value *v, const struct pk_type *t)
{
    pk_add_u8(w->out, t->kind == PK_T_LIST ? '[' : '{');
    for (uint32_t i = 0; i < v->n; i++) {
        const struct pk_value *item = &v->as.v[t->kind == PK_T_MAP ? 2 * (size_t)i + 1 : i];
        uint32_t type = t->element;
        if (i)
            pk_add_u8(w->out, ',');
        if (t->kind == PK_T_MAP) {
            put_string(w->out, item[-1].as.s, item[-1].n);
        } else if (t->kind == PK_T_RECORD) {
            struct pk_text name = w->t->strings[t->fields[i].name];
            put_string(w->out, name.p, name.n);
            type = t->fields[i].type;
        }
        if (t->kind != PK_T_LIST)
            pk_add_u8(w->out, ':');
        if (!put(w, item, type))
            return false;
    }
    pk_add_u8(w->out, t->kind == PK_T_LIST ? ']' : '}');
    return true;
}

static bool put(struct writer *w, const struct pk_value *v, uint32_t type)
{
    const struct pk_type *t = &w->t->types[type];
    char digits[PK_INT_TEXT];
    if (!is_of(v, t))
        return pk_fail(w->e, 0, 0, "the result is not of the type that the artifact names") == 0;
    if (w->out->n > PK_MAX_OUTPUT_BYTES)
        return pk_fail(w->e, 0, 0, "the result is longer than %d bytes", PK_MAX_OUTPUT_BYTES) == 0;
    if (t->kind == PK_T_INT)
        pk_add(w->out, digits, pk_int_text(v->as.i, digits));
    else if (t->kind == PK_T_BOOL)
        pk_add(w->out, v->as.i ? "true" : "false", v->as.i ? 4 : 5);
    else if (t->kind == PK_T_STRING)
        put_string(w->out, v->as.s, v->n);
    else
        return put_items(w, v, t);
    return true;
}

int pk_output(const struct pk_program *p, const struct pk_entry *entry,
              const struct pk_value *value, struct pk_bytes *out, struct pk_err *e)
{
    struct writer w = {&p->tables, out, e};
    return put(&w, value, entry->output_type) ? 0 : -1;
}

static bool same(const struct pk_value *a, const struct pk_value *b, uint32_t depth)
{
    if (a->tag != b->tag || a->n != b->n || depth > PK_MAX_NESTING)
        return false;
    if (a->tag == PK_INT || a->tag == PK_BOOL)
        return a->as.i == b->as.i;
    if (a->tag == PK_STRING)
        return pk_text_is((struct pk_text){a->as.s, a->n}, (struct pk_text){b->as.s, b->n});
    const size_t n = a->tag == PK_MAP ? 2 * (size_t)a->n : a->n;
    for (size_t i = 0; i < n; i++)
        if (!same(&a->as.v[i], &b->as.v[i], depth + 1))
            return false;
    return true;
}

bool pk_same(const struct pk_value *a, const struct pk_value *b)
{
    return same(a, b, 0);
}
