#include "lang/types.h"

#include <stdlib.h>
#include <string.h>

void pk_tables_init(struct pk_tables *t, struct pk_arena *arena)
{
    *t = (struct pk_tables){.arena = arena};
    for (int kind = 0; kind < PK_T_SIMPLE; kind++)
        (void)pk_type(t, &(struct pk_type){.kind = (enum pk_type_kind)kind});
}

void pk_tables_free(struct pk_tables *t)
{
    free(t->strings);
    free(t->types);
    *t = (struct pk_tables){0};
}

uint32_t pk_string(struct pk_tables *t, struct pk_text text)
{
    for (uint32_t i = 0; i < t->n_strings; i++)
        if (pk_text_is(t->strings[i], text))
            return i;
    if (t->n_strings == PK_MAX_STRINGS)
        return UINT32_MAX;
    if (t->n_strings == t->cap_strings) {
        t->cap_strings = t->cap_strings ? t->cap_strings * 2 : 32;
        t->strings = pk_grow(t->strings, t->cap_strings, sizeof *t->strings);
    }
    t->strings[t->n_strings] = text;
    return t->n_strings++;
}

static bool same(const struct pk_type *a, const struct pk_type *b)
{
    if (a->kind != b->kind || a->n != b->n)
        return false;
    if ((a->kind == PK_T_LIST || a->kind == PK_T_MAP) && a->element != b->element)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->fields[i].name != b->fields[i].name || a->fields[i].type != b->fields[i].type)
            return false;
    return true;
}

static uint32_t depth_of(const struct pk_tables *t, const struct pk_type *type)
{
    uint32_t deepest = 0;
    if (type->kind == PK_T_LIST || type->kind == PK_T_MAP)
        deepest = t->types[type->element].depth;
    for (uint32_t i = 0; i < type->n; i++) {
        uint32_t depth = t->types[type->fields[i].type].depth;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

uint32_t pk_type(struct pk_tables *t, const struct pk_type *like)
{
    for (uint32_t i = 0; i < t->n_types; i++)
        if (same(&t->types[i], like))
            return i;
    uint32_t depth = depth_of(t, like);
    if (t->n_types == PK_MAX_TYPES || depth > PK_MAX_NESTING)
        return PK_NO_TYPE;
    if (t->n_types == t->cap_types) {
        t->cap_types = t->cap_types ? t->cap_types * 2 : 16;
        t->types = pk_grow(t->types, t->cap_types, sizeof *t->types);
    }
    struct pk_type *type = &t->types[t->n_types];
    *type = *like;
    type->depth = depth;
    type->fields = NULL;
    if (like->n) {
        type->fields = pk_alloc(t->arena, like->n * sizeof *like->fields);
        if (!type->fields)
            return PK_NO_TYPE;
        memcpy(type->fields, like->fields, like->n * sizeof *like->fields);
    }
    return t->n_types++;
}

uint32_t pk_field_index(const struct pk_tables *t, const struct pk_type *record,
                        struct pk_text name)
{
    for (uint32_t i = 0; i < record->n; i++)
        if (pk_text_is(t->strings[record->fields[i].name], name))
            return i;
    return record->n;
}

/* ---- for people */

struct writer {
    char *out;
    size_t n;
};

static void put(struct writer *w, const char *p, size_t n)
{
    size_t room = PK_TYPE_TEXT - 1 - w->n;
    n = n < room ? n : room;
    memcpy(w->out + w->n, p, n);
    w->n += n;
}

static void write_type(struct writer *w, const struct pk_tables *t, uint32_t index)
{
    static const char *const names[] = {"int", "bool", "string", "list<", "map<", "{"};
    const struct pk_type *type = &t->types[index];
    if (w->n >= PK_TYPE_TEXT - 1)
        return;
    put(w, names[type->kind], strlen(names[type->kind]));
    if (type->kind == PK_T_LIST || type->kind == PK_T_MAP) {
        write_type(w, t, type->element);
        put(w, ">", 1);
    }
    if (type->kind != PK_T_RECORD)
        return;
    for (uint32_t i = 0; i < type->n && w->n < PK_TYPE_TEXT - 1; i++) {
        struct pk_text name = t->strings[type->fields[i].name];
        put(w, ", ", i ? 2 : 0);
        put(w, name.p, name.n);
        put(w, ": ", 2);
        write_type(w, t, type->fields[i].type);
    }
    put(w, "}", 1);
}

const char *pk_type_text(const struct pk_tables *t, uint32_t type, char out[PK_TYPE_TEXT])
{
    struct writer w = {out, 0};
    write_type(&w, t, type);
    if (w.n == PK_TYPE_TEXT - 1)
        memcpy(out + w.n - 3, "...", 3);
    out[w.n] = '\0';
    return out;
}
