/* Literals, fields, operators. */
#include <string.h>

#include "lang/compiler.h"

static uint32_t expr_string(struct compiler *c, const struct node *n)
{
    uint32_t index = pk_string(c->tables, n->text);
    if (index == UINT32_MAX)
        return compile_fail(c, n, "there are more than %d texts and names", PK_MAX_STRINGS);
    (void)compile_emit(c, n, PK_OP_STRING, index);
    return PK_T_STRING;
}

static uint32_t expr_name(struct compiler *c, const struct node *n)
{
    for (uint32_t i = c->n_visible; i-- > 0;)
        if (pk_text_is(c->locals[i].name, n->text)) {
            (void)compile_emit(c, n, PK_OP_LOCAL, c->locals[i].slot);
            return c->locals[i].type;
        }
    return compile_fail(c, n, "%.*s is not known here", (int)(n->text.n < 60 ? n->text.n : 60),
                        n->text.p);
}

/* ---- lists, maps, records */

static uint32_t expr_collection(struct compiler *c, const struct node *n, uint32_t want)
{
    const bool map = n->kind == NODE_MAP;
    struct pk_type type = {.kind = map ? PK_T_MAP : PK_T_LIST, .element = PK_NO_TYPE};
    if (want != PK_NO_TYPE && type_at(c, want)->kind == type.kind)
        type.element = type_at(c, want)->element;
    else if (n->items.n == 0)
        return compile_fail(c, n, "what an empty %s holds does not follow from here",
                            map ? "map" : "list");
    for (const struct item *i = n->items.first; i; i = i->next) {
        if (map && !compile_need(c, i->key, PK_T_STRING))
            return PK_NO_TYPE;
        if (type.element == PK_NO_TYPE)
            type.element = compile_expr(c, i->value, PK_NO_TYPE);
        else if (!compile_need(c, i->value, type.element))
            return PK_NO_TYPE;
        if (type.element == PK_NO_TYPE)
            return PK_NO_TYPE;
    }
    (void)compile_emit(c, n, map ? PK_OP_MAP : PK_OP_LIST, n->items.n);
    return compile_type(c, n, &type);
}

static const struct item *item_of(const struct node *n, struct pk_text name)
{
    const struct item *i = n->items.first;
    while (i && !pk_text_is(i->name, name))
        i = i->next;
    return i;
}

static bool twice(struct compiler *c, const struct node *n)
{
    for (const struct item *i = n->items.first; i; i = i->next)
        if (item_of(n, i->name) != i)
            return pk_fail(c->e, i->line, i->column, "the field %.*s is there twice",
                           (int)(i->name.n < 60 ? i->name.n : 60), i->name.p) != 0;
    return false;
}

/* The items of a record by name, and the names' numbers. */
static bool sorted_items(struct compiler *c, const struct node *n, const struct item **out,
                         struct pk_field *fields)
{
    uint32_t count = 0;
    for (const struct item *i = n->items.first; i; i = i->next) {
        uint32_t at = count++;
        for (; at > 0 && pk_text_order(out[at - 1]->name, i->name) > 0; at--)
            out[at] = out[at - 1];
        out[at] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        fields[i].name = pk_string(c->tables, out[i]->name);
        if (fields[i].name == UINT32_MAX)
            return compile_fail(c, n, "there are too many texts and names") != PK_NO_TYPE;
    }
    return true;
}

/* What the wanted record has under this name; PK_NO_TYPE: nothing is wanted of it. */
static uint32_t wanted_field(const struct compiler *c, uint32_t want, struct pk_text name)
{
    if (want == PK_NO_TYPE || type_at(c, want)->kind != PK_T_RECORD)
        return PK_NO_TYPE;
    uint32_t i = pk_field_index(c->tables, type_at(c, want), name);
    return i < type_at(c, want)->n ? type_at(c, want)->fields[i].type : PK_NO_TYPE;
}

static uint32_t expr_record(struct compiler *c, const struct node *n, uint32_t want)
{
    const struct item *items[PK_MAX_FIELDS];
    struct pk_field fields[PK_MAX_FIELDS];
    struct pk_type type = {.kind = PK_T_RECORD, .n = n->items.n, .fields = fields};
    if (twice(c, n) || !sorted_items(c, n, items, fields))
        return PK_NO_TYPE;
    for (uint32_t i = 0; i < type.n; i++) {
        fields[i].type = compile_expr(c, items[i]->value, wanted_field(c, want, items[i]->name));
        if (fields[i].type == PK_NO_TYPE)
            return PK_NO_TYPE;
    }
    (void)compile_emit(c, n, PK_OP_RECORD, type.n);
    return compile_type(c, n, &type);
}

/* The number of the field; UINT32_MAX after a failure. */
static uint32_t field_of(struct compiler *c, const struct node *n, uint32_t record,
                         struct pk_text name)
{
    char text[PK_TYPE_TEXT];
    const int shown = (int)(name.n < 60 ? name.n : 60);
    uint32_t i = 0;
    if (type_at(c, record)->kind == PK_T_RECORD)
        i = pk_field_index(c->tables, type_at(c, record), name);
    if (i < type_at(c, record)->n)
        return i;
    return compile_fail(c, n, "%s has no field %.*s", pk_type_text(c->tables, record, text), shown,
                        name.p);
}

static uint32_t expr_field(struct compiler *c, const struct node *n)
{
    uint32_t record = compile_expr(c, n->a, PK_NO_TYPE);
    uint32_t i = record == PK_NO_TYPE ? UINT32_MAX : field_of(c, n, record, n->text);
    if (i == UINT32_MAX)
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_FIELD, i);
    return type_at(c, record)->fields[i].type;
}

static uint32_t expr_with(struct compiler *c, const struct node *n, uint32_t want)
{
    uint32_t record = compile_expr(c, n->a, want);
    if (record == PK_NO_TYPE || twice(c, n))
        return PK_NO_TYPE;
    for (const struct item *item = n->items.first; item; item = item->next) {
        uint32_t i = field_of(c, item->value, record, item->name);
        if (i == UINT32_MAX || !compile_need(c, item->value, type_at(c, record)->fields[i].type))
            return PK_NO_TYPE;
        (void)compile_emit(c, item->value, PK_OP_REPLACE, i);
    }
    return record;
}

static uint32_t expr_index(struct compiler *c, const struct node *n)
{
    uint32_t of = compile_expr(c, n->a, PK_NO_TYPE);
    if (of == PK_NO_TYPE)
        return PK_NO_TYPE;
    const enum pk_type_kind kind = type_at(c, of)->kind;
    if (kind != PK_T_LIST && kind != PK_T_MAP)
        return compile_mismatch(c, n->a, "a list or a map in front of [", of);
    if (!compile_need(c, n->b, kind == PK_T_LIST ? PK_T_INT : PK_T_STRING))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_INDEX, 0);
    return type_at(c, of)->element;
}

/* ---- operators */

/* a and b: a false a is the answer, else b is. */
static uint32_t expr_logic(struct compiler *c, const struct node *n)
{
    const bool both = n->op == OP_AND;
    if (!compile_need(c, n->a, PK_T_BOOL))
        return PK_NO_TYPE;
    if (!both)
        (void)compile_emit(c, n, PK_OP_NOT, 0);
    uint32_t decided = compile_emit(c, n, PK_OP_JUMP_FALSE, 0);
    if (!compile_need(c, n->b, PK_T_BOOL))
        return PK_NO_TYPE;
    uint32_t end = compile_emit(c, n, PK_OP_JUMP, 0);
    compile_land(c, decided);
    (void)compile_emit(c, n, both ? PK_OP_FALSE : PK_OP_TRUE, 0);
    compile_land(c, end);
    return PK_T_BOOL;
}

static uint32_t expr_concat(struct compiler *c, const struct node *n, uint32_t want)
{
    uint32_t type = compile_expr(c, n->a, want);
    if (type == PK_NO_TYPE)
        return PK_NO_TYPE;
    if (type != PK_T_STRING && type_at(c, type)->kind != PK_T_LIST)
        return compile_mismatch(c, n->a, "a string or a list in front of ++", type);
    if (!compile_need(c, n->b, type))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_CONCAT, 0);
    return type;
}

static uint32_t expr_comparison(struct compiler *c, const struct node *n)
{
    const bool ordered = n->op != PK_OP_EQUAL && n->op != PK_OP_DIFFERENT;
    uint32_t type = compile_expr(c, n->a, PK_NO_TYPE);
    if (type == PK_NO_TYPE)
        return PK_NO_TYPE;
    if (ordered && type != PK_T_INT && type != PK_T_STRING)
        return compile_mismatch(c, n->a, "an int or a string, which have an order,", type);
    if (!compile_need(c, n->b, type))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, (enum pk_op)n->op, 0);
    return PK_T_BOOL;
}

static uint32_t expr_binary(struct compiler *c, const struct node *n, uint32_t want)
{
    if (n->op == OP_AND || n->op == OP_OR)
        return expr_logic(c, n);
    if (n->op == PK_OP_CONCAT)
        return expr_concat(c, n, want);
    if (n->op >= PK_OP_EQUAL)
        return expr_comparison(c, n);
    if (!compile_need(c, n->a, PK_T_INT) || !compile_need(c, n->b, PK_T_INT))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, (enum pk_op)n->op, 0);
    return PK_T_INT;
}

static uint32_t expr_unary(struct compiler *c, const struct node *n)
{
    const bool negate = n->kind == NODE_NEGATE;
    if (!compile_need(c, n->a, negate ? PK_T_INT : PK_T_BOOL))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, negate ? PK_OP_NEGATE : PK_OP_NOT, 0);
    return negate ? PK_T_INT : PK_T_BOOL;
}

static uint32_t expr_literal(struct compiler *c, const struct node *n)
{
    if (n->kind == NODE_STRING)
        return expr_string(c, n);
    if (n->kind == NODE_INT)
        (void)compile_emit(c, n, PK_OP_INT, n->value);
    else
        (void)compile_emit(c, n, n->value ? PK_OP_TRUE : PK_OP_FALSE, 0);
    return n->kind == NODE_INT ? PK_T_INT : PK_T_BOOL;
}

uint32_t compile_expr(struct compiler *c, const struct node *n, uint32_t want)
{
    if (c->e->text[0])
        return PK_NO_TYPE;
    switch (n->kind) {
    case NODE_INT:
    case NODE_BOOL:
    case NODE_STRING:
        return expr_literal(c, n);
    case NODE_NAME:
        return expr_name(c, n);
    case NODE_LIST:
    case NODE_MAP:
        return expr_collection(c, n, want);
    case NODE_RECORD:
        return expr_record(c, n, want);
    case NODE_FIELD:
        return expr_field(c, n);
    case NODE_INDEX:
        return expr_index(c, n);
    case NODE_WITH:
        return expr_with(c, n, want);
    case NODE_CALL:
        return compile_call(c, n);
    case NODE_NEGATE:
    case NODE_NOT:
        return expr_unary(c, n);
    case NODE_BINARY:
        return expr_binary(c, n, want);
    default:
        return compile_form(c, n, want);
    }
}
