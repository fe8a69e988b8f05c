/* Calls: of the program's own functions, and of those that are always there. */
#include <string.h>

#include "lang/compiler.h"

static bool arguments(struct compiler *c, const struct node *n, uint32_t wanted)
{
    if (n->items.n == wanted)
        return true;
    return compile_fail(c, n, "%.*s takes %u, found %u values",
                        (int)(n->text.n < 60 ? n->text.n : 60), n->text.p, wanted,
                        n->items.n) != PK_NO_TYPE;
}

static uint32_t call_function(struct compiler *c, const struct node *n, uint32_t index)
{
    const struct pk_function *f = &c->program->functions[index];
    uint32_t k = 0;
    if (!arguments(c, n, f->n_parameters))
        return PK_NO_TYPE;
    for (const struct item *i = n->items.first; i; i = i->next)
        if (!compile_need(c, i->value, f->parameters[k++]))
            return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_CALL, index);
    return f->result;
}

uint32_t compile_call(struct compiler *c, const struct node *n)
{
    for (uint32_t i = 0; i < PK_BUILTINS; i++)
        if (strlen(pk_builtins[i].name) == n->text.n &&
            memcmp(pk_builtins[i].name, n->text.p, n->text.n) == 0)
            return compile_builtin(c, n, i);
    for (uint32_t i = 0; i < c->program->n_functions; i++)
        if (pk_text_is(c->tables->strings[c->program->functions[i].name], n->text))
            return call_function(c, n, i);
    return compile_fail(c, n, "there is no function %.*s", (int)(n->text.n < 60 ? n->text.n : 60),
                        n->text.p);
}

/* The first value, which must be a list or map; its type. */
static uint32_t first(struct compiler *c, const struct node *n, enum pk_type_kind kind)
{
    const struct node *value = n->items.first->value;
    uint32_t type = compile_expr(c, value, PK_NO_TYPE);
    if (type != PK_NO_TYPE && type_at(c, type)->kind != kind)
        return compile_mismatch(c, value, kind == PK_T_LIST ? "a list" : "a map", type);
    return type;
}

/* The values behind the first. */
static bool others(struct compiler *c, const struct node *n, uint32_t second, uint32_t third)
{
    const struct item *i = n->items.first->next;
    if (!compile_need(c, i->value, second))
        return false;
    return third == PK_NO_TYPE || compile_need(c, i->next->value, third);
}

static uint32_t builtin_len(struct compiler *c, const struct node *n)
{
    const struct node *value = n->items.first->value;
    uint32_t type = compile_expr(c, value, PK_NO_TYPE);
    if (type == PK_NO_TYPE)
        return PK_NO_TYPE;
    enum pk_type_kind kind = type_at(c, type)->kind;
    if (kind != PK_T_LIST && kind != PK_T_MAP && kind != PK_T_STRING)
        return compile_mismatch(c, value, "a list, a map or a string", type);
    return PK_T_INT;
}

static uint32_t builtin_list(struct compiler *c, const struct node *n, uint32_t builtin)
{
    uint32_t list = first(c, n, PK_T_LIST);
    if (list == PK_NO_TYPE)
        return PK_NO_TYPE;
    bool good = builtin == PK_B_PUSH ? others(c, n, type_at(c, list)->element, PK_NO_TYPE)
                                     : others(c, n, PK_T_INT, PK_T_INT);
    return good ? list : PK_NO_TYPE;
}

static uint32_t builtin_map(struct compiler *c, const struct node *n, uint32_t builtin)
{
    uint32_t map = first(c, n, PK_T_MAP);
    if (map == PK_NO_TYPE)
        return PK_NO_TYPE;
    uint32_t element = type_at(c, map)->element;
    if (builtin == PK_B_KEYS)
        return compile_type(c, n, &(struct pk_type){.kind = PK_T_LIST, .element = PK_T_STRING});
    if (!others(c, n, PK_T_STRING, builtin == PK_B_HAS ? PK_NO_TYPE : element))
        return PK_NO_TYPE;
    return builtin == PK_B_HAS ? PK_T_BOOL : builtin == PK_B_GET ? element : map;
}

static uint32_t builtin_ints(struct compiler *c, const struct node *n, uint32_t builtin)
{
    for (const struct item *i = n->items.first; i; i = i->next)
        if (!compile_need(c, i->value, PK_T_INT))
            return PK_NO_TYPE;
    if (builtin == PK_B_STR)
        return PK_T_STRING;
    if (builtin == PK_B_RANGE)
        return compile_type(c, n, &(struct pk_type){.kind = PK_T_LIST, .element = PK_T_INT});
    return PK_T_INT;
}

static uint32_t builtin_values(struct compiler *c, const struct node *n, uint32_t builtin)
{
    switch (builtin) {
    case PK_B_LEN:
        return builtin_len(c, n);
    case PK_B_PUSH:
    case PK_B_SLICE:
        return builtin_list(c, n, builtin);
    case PK_B_HAS:
    case PK_B_GET:
    case PK_B_PUT:
    case PK_B_KEYS:
        return builtin_map(c, n, builtin);
    default:
        return builtin_ints(c, n, builtin);
    }
}

uint32_t compile_builtin(struct compiler *c, const struct node *n, uint32_t builtin)
{
    if (!arguments(c, n, pk_builtins[builtin].arguments))
        return PK_NO_TYPE;
    uint32_t type = builtin_values(c, n, builtin);
    if (type != PK_NO_TYPE)
        (void)compile_emit(c, n, PK_OP_BUILTIN, builtin);
    return type;
}
