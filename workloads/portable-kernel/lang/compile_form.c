/* Blocks, if, match, fold, loop. */
#include "lang/compiler.h"

static uint32_t form_block(struct compiler *c, const struct node *n, uint32_t want)
{
    const uint32_t visible = c->n_visible;
    for (const struct item *let = n->items.first; let; let = let->next) {
        uint32_t type = let->type;
        if (type == PK_NO_TYPE)
            type = compile_expr(c, let->value, PK_NO_TYPE);
        else if (!compile_need(c, let->value, type))
            return PK_NO_TYPE;
        uint32_t slot =
            type == PK_NO_TYPE ? UINT32_MAX : compile_local(c, let->value, let->name, type);
        if (slot == UINT32_MAX)
            return PK_NO_TYPE;
        (void)compile_emit(c, let->value, PK_OP_SET, slot);
    }
    uint32_t type = compile_expr(c, n->a, want);
    c->n_visible = visible;
    return type;
}

static uint32_t form_if(struct compiler *c, const struct node *n, uint32_t want)
{
    if (!compile_need(c, n->a, PK_T_BOOL))
        return PK_NO_TYPE;
    uint32_t otherwise = compile_emit(c, n, PK_OP_JUMP_FALSE, 0);
    uint32_t type = compile_expr(c, n->b, want);
    uint32_t end = compile_emit(c, n, PK_OP_JUMP, 0);
    compile_land(c, otherwise);
    if (type == PK_NO_TYPE || !compile_need(c, n->c, type))
        return PK_NO_TYPE;
    compile_land(c, end);
    return type;
}

static bool same_literal(const struct node *a, const struct node *b)
{
    return a->kind == b->kind && a->value == b->value && pk_text_is(a->text, b->text);
}

/* The jump that leaves the arm's test when it does not hold; UINT32_MAX after a failure. */
static uint32_t match_test(struct compiler *c, const struct node *n, const struct item *arm,
                           uint32_t slot, uint32_t type)
{
    for (const struct item *i = n->items.first; i != arm; i = i->next)
        if (same_literal(i->key, arm->key))
            return compile_fail(c, arm->key, "this value stands above already");
    (void)compile_emit(c, arm->key, PK_OP_LOCAL, slot);
    if (!compile_need(c, arm->key, type))
        return UINT32_MAX;
    (void)compile_emit(c, arm->key, PK_OP_EQUAL, 0);
    return compile_emit(c, arm->key, PK_OP_JUMP_FALSE, 0);
}

/* One arm; *type is that of the first. Chains the jumps to the end by their operands. */
static bool match_arm(struct compiler *c, const struct node *n, const struct item *arm,
                      uint32_t slot, uint32_t of, uint32_t *type, uint32_t *ends)
{
    uint32_t next = UINT32_MAX;
    if (arm->key) {
        next = match_test(c, n, arm, slot, of);
        if (next == UINT32_MAX)
            return false;
    }
    if (arm == n->items.first || *type == PK_NO_TYPE)
        *type = compile_expr(c, arm->value, *type);
    else if (!compile_need(c, arm->value, *type))
        return false;
    if (*type == PK_NO_TYPE)
        return false;
    if (arm->key) {
        *ends = compile_emit(c, arm->value, PK_OP_JUMP, *ends);
        compile_land(c, next);
    }
    return true;
}

static uint32_t form_match(struct compiler *c, const struct node *n, uint32_t want)
{
    const uint32_t visible = c->n_visible;
    uint32_t ends = UINT32_MAX, type = want;
    uint32_t of = compile_expr(c, n->a, PK_NO_TYPE);
    if (of == PK_NO_TYPE)
        return PK_NO_TYPE;
    if (of >= PK_T_SIMPLE)
        return compile_mismatch(c, n->a, "an int, a bool or a string behind match", of);
    uint32_t slot = compile_local(c, n, PK_HIDDEN, of);
    if (slot == UINT32_MAX)
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_SET, slot);
    for (const struct item *arm = n->items.first; arm; arm = arm->next)
        if (!match_arm(c, n, arm, slot, of, &type, &ends))
            return PK_NO_TYPE;
    while (!c->e->text[0] && ends < c->n_code) {
        uint32_t before = (uint32_t)c->code[ends].a;
        compile_land(c, ends);
        ends = before;
    }
    c->n_visible = visible;
    return type;
}

/* ---- repetition */

struct folding {
    uint32_t list, at, item, gathered;
};

static bool fold_start(struct compiler *c, const struct node *n, uint32_t want, struct folding *f,
                       uint32_t *type)
{
    uint32_t of = compile_expr(c, n->a, PK_NO_TYPE);
    if (of == PK_NO_TYPE)
        return false;
    if (type_at(c, of)->kind != PK_T_LIST)
        return compile_mismatch(c, n->a, "a list behind in", of) != PK_NO_TYPE;
    f->list = compile_local(c, n, PK_HIDDEN, of);
    (void)compile_emit(c, n, PK_OP_SET, f->list);
    *type = compile_expr(c, n->b, want);
    if (*type == PK_NO_TYPE)
        return false;
    f->gathered = compile_local(c, n, n->text2, *type);
    (void)compile_emit(c, n, PK_OP_SET, f->gathered);
    (void)compile_emit(c, n, PK_OP_INT, 0);
    f->at = compile_local(c, n, PK_HIDDEN, PK_T_INT);
    (void)compile_emit(c, n, PK_OP_SET, f->at);
    f->item = compile_local(c, n, n->text, type_at(c, of)->element);
    return !c->e->text[0];
}

static uint32_t form_fold(struct compiler *c, const struct node *n, uint32_t want)
{
    const uint32_t visible = c->n_visible;
    struct folding f = {0};
    uint32_t type = PK_NO_TYPE;
    if (!fold_start(c, n, want, &f, &type))
        return PK_NO_TYPE;
    const uint32_t top = compile_emit(c, n, PK_OP_LOCAL, f.at);
    (void)compile_emit(c, n, PK_OP_LOCAL, f.list);
    (void)compile_emit(c, n, PK_OP_BUILTIN, PK_B_LEN);
    (void)compile_emit(c, n, PK_OP_LESS, 0);
    const uint32_t end = compile_emit(c, n, PK_OP_JUMP_FALSE, 0);
    (void)compile_emit(c, n, PK_OP_LOCAL, f.list);
    (void)compile_emit(c, n, PK_OP_LOCAL, f.at);
    (void)compile_emit(c, n, PK_OP_INDEX, 0);
    (void)compile_emit(c, n, PK_OP_SET, f.item);
    if (!compile_need(c, n->c, type))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_SET, f.gathered);
    (void)compile_emit(c, n, PK_OP_LOCAL, f.at);
    (void)compile_emit(c, n, PK_OP_INT, 1);
    (void)compile_emit(c, n, PK_OP_ADD, 0);
    (void)compile_emit(c, n, PK_OP_SET, f.at);
    (void)compile_emit(c, n, PK_OP_JUMP, top);
    compile_land(c, end);
    (void)compile_emit(c, n, PK_OP_LOCAL, f.gathered);
    c->n_visible = visible;
    return type;
}

static uint32_t form_loop(struct compiler *c, const struct node *n, uint32_t want)
{
    const uint32_t visible = c->n_visible;
    uint32_t type = compile_expr(c, n->a, want);
    uint32_t slot = type == PK_NO_TYPE ? UINT32_MAX : compile_local(c, n, n->text, type);
    if (slot == UINT32_MAX)
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_SET, slot);
    const uint32_t top = c->n_code;
    if (!compile_need(c, n->b, PK_T_BOOL))
        return PK_NO_TYPE;
    const uint32_t end = compile_emit(c, n, PK_OP_JUMP_FALSE, 0);
    if (!compile_need(c, n->c, type))
        return PK_NO_TYPE;
    (void)compile_emit(c, n, PK_OP_SET, slot);
    (void)compile_emit(c, n, PK_OP_JUMP, top);
    compile_land(c, end);
    (void)compile_emit(c, n, PK_OP_LOCAL, slot);
    c->n_visible = visible;
    return type;
}

uint32_t compile_form(struct compiler *c, const struct node *n, uint32_t want)
{
    switch (n->kind) {
    case NODE_BLOCK:
        return form_block(c, n, want);
    case NODE_IF:
        return form_if(c, n, want);
    case NODE_MATCH:
        return form_match(c, n, want);
    case NODE_FOLD:
        return form_fold(c, n, want);
    default:
        return form_loop(c, n, want);
    }
}
