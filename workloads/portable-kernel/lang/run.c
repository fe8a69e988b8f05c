/* The execution: a stack of values, instructions one after the other, fuel for each. */
#include <stdlib.h>
#include <string.h>

#include "lang/state.h"

/* ---- states */

#define INPUT_ARENA ((size_t)1 << 30)

struct pk_state *pk_state_new(void)
{
    struct pk_state *s = pk_grow(NULL, 1, sizeof *s);
    memset(s, 0, sizeof *s);
    s->inputs.limit = INPUT_ARENA;
    s->fuel = PK_MAX_FUEL;
    s->memory.limit = PK_MAX_MEMORY;
    s->stack = pk_grow(NULL, PK_MAX_STACK, sizeof *s->stack);
    return s;
}

void pk_state_fuel(struct pk_state *s, int64_t steps)
{
    s->fuel = steps < PK_MAX_FUEL ? steps : PK_MAX_FUEL;
}

void pk_state_clear(struct pk_state *s)
{
    pk_arena_reset(&s->inputs);
    pk_arena_reset(&s->memory);
}

void pk_state_free(struct pk_state *s)
{
    if (!s)
        return;
    pk_arena_free(&s->inputs);
    pk_arena_free(&s->memory);
    free(s->stack);
    free(s);
}

/* ---- shared */

bool run_fail(struct run *r, const char *what)
{
    (void)pk_fail(r->e, r->now->at >> 12, r->now->at & 4095, "%s", what);
    return false;
}

bool run_pay(struct run *r, size_t n)
{
    r->fuel -= (int64_t)(n / 8) + 1;
    return r->fuel >= 0 || run_fail(r, "the steps that one dispatch may take are used up");
}

struct pk_value *run_values(struct run *r, size_t n)
{
    struct pk_value *v = NULL;
    if (n > 2 * (size_t)PK_MAX_LIST_ITEMS)
        (void)run_fail(r, "a list or map has too many items");
    else if (run_pay(r, n))
        v = pk_alloc(&r->s->memory, (n ? n : 1) * sizeof *v);
    if (!v)
        (void)run_fail(r, "the memory that one dispatch may have is used up");
    return v;
}

/* ---- arithmetic */

static bool wrong_kind(struct run *r)
{
    return run_fail(r, "the artifact takes a value of another type here");
}

static bool divide(struct run *r, int64_t a, int64_t b, bool remainder, int64_t *out)
{
    if (b == 0)
        return run_fail(r, "division by zero");
    if (a == INT64_MIN && b == -1) {
        *out = 0;
        return remainder || run_fail(r, "the result is no 64-bit integer");
    }
    *out = remainder ? a % b : a / b;
    return true;
}

static bool arithmetic(struct run *r, uint32_t op)
{
    struct pk_value *a = r->sp - 2, *b = r->sp - 1;
    bool over = false;
    if (a->tag != PK_INT || b->tag != PK_INT)
        return wrong_kind(r);
    if (op == PK_OP_ADD)
        over = __builtin_add_overflow(a->as.i, b->as.i, &a->as.i);
    else if (op == PK_OP_SUBTRACT)
        over = __builtin_sub_overflow(a->as.i, b->as.i, &a->as.i);
    else if (op == PK_OP_MULTIPLY)
        over = __builtin_mul_overflow(a->as.i, b->as.i, &a->as.i);
    else if (!divide(r, a->as.i, b->as.i, op == PK_OP_REMAINDER, &a->as.i))
        return false;
    r->sp--;
    return !over || run_fail(r, "the result is no 64-bit integer");
}

static bool unary(struct run *r, uint32_t op)
{
    struct pk_value *a = r->sp - 1;
    if (a->tag != (op == PK_OP_NEGATE ? PK_INT : PK_BOOL))
        return wrong_kind(r);
    if (op == PK_OP_NOT)
        a->as.i = !a->as.i;
    else if (__builtin_sub_overflow((int64_t)0, a->as.i, &a->as.i))
        return run_fail(r, "the result is no 64-bit integer");
    return true;
}

static bool comparison(struct run *r, uint32_t op)
{
    struct pk_value *a = r->sp - 2, *b = r->sp - 1;
    bool answer = false;
    if (op == PK_OP_EQUAL || op == PK_OP_DIFFERENT) {
        if (!run_equal(r, a, b, 0, &answer))
            return false;
        answer = answer == (op == PK_OP_EQUAL);
    } else {
        if (a->tag != b->tag || (a->tag != PK_INT && a->tag != PK_STRING))
            return wrong_kind(r);
        int order = run_order(a, b);
        answer = op == PK_OP_LESS         ? order < 0
                 : op == PK_OP_LESS_EQUAL ? order <= 0
                 : op == PK_OP_GREATER    ? order > 0
                                          : order >= 0;
    }
    *a = (struct pk_value){.tag = PK_BOOL, .as.i = answer};
    r->sp--;
    return true;
}

static bool field(struct run *r, uint32_t index)
{
    struct pk_value *a = r->sp - 1;
    if (a->tag != PK_RECORD || index >= a->n)
        return wrong_kind(r);
    *a = a->as.v[index];
    return true;
}

/* ---- frames */

static bool enter(struct run *r, struct frame *frame, const struct pk_function *f)
{
    struct pk_value *base = r->sp - f->n_parameters;
    if ((size_t)(base - r->s->stack) + f->n_locals + f->stack > PK_MAX_STACK)
        return run_fail(r, "the calls need more room than there is; is a recursion without end?");
    *frame = (struct frame){f, f->code, (uint32_t)(base - r->s->stack)};
    for (struct pk_value *v = r->sp; v < base + f->n_locals; v++)
        *v = (struct pk_value){.tag = PK_INT};
    r->sp = base + f->n_locals;
    return true;
}

static void push(struct run *r, struct pk_value v)
{
    *r->sp++ = v;
}

/* What neither jumps nor calls. */
static bool plain(struct run *r, const struct pk_instr *i, struct pk_value *locals)
{
    switch (i->op) {
    case PK_OP_INT:
        push(r, (struct pk_value){.tag = PK_INT, .as.i = i->a});
        return true;
    case PK_OP_TRUE:
    case PK_OP_FALSE:
        push(r, (struct pk_value){.tag = PK_BOOL, .as.i = i->op == PK_OP_TRUE});
        return true;
    case PK_OP_STRING: {
        struct pk_text text = r->p->tables.strings[i->a];
        push(r, (struct pk_value){.tag = PK_STRING, .n = text.n, .as.s = text.p});
        return true;
    }
    case PK_OP_LOCAL:
        push(r, locals[i->a]);
        return true;
    case PK_OP_SET:
        locals[i->a] = *--r->sp;
        return true;
    case PK_OP_ADD:
    case PK_OP_SUBTRACT:
    case PK_OP_MULTIPLY:
    case PK_OP_DIVIDE:
    case PK_OP_REMAINDER:
        return arithmetic(r, i->op);
    case PK_OP_NEGATE:
    case PK_OP_NOT:
        return unary(r, i->op);
    case PK_OP_CONCAT:
        return run_concat(r);
    case PK_OP_BUILTIN:
        return run_builtin(r, (uint32_t)i->a);
    case PK_OP_LIST:
        return run_gather(r, PK_LIST, (uint32_t)i->a);
    case PK_OP_MAP:
        return run_gather(r, PK_MAP, (uint32_t)i->a);
    case PK_OP_RECORD:
        return run_gather(r, PK_RECORD, (uint32_t)i->a);
    case PK_OP_FIELD:
        return field(r, (uint32_t)i->a);
    case PK_OP_REPLACE:
        return run_replace(r, (uint32_t)i->a);
    case PK_OP_INDEX:
        return run_index(r);
    default:
        return comparison(r, i->op);
    }
}

/* *jump: whether the jump is taken. */
static bool test(struct run *r, bool *jump)
{
    const struct pk_value *v = --r->sp;
    if (v->tag != PK_BOOL)
        return wrong_kind(r);
    *jump = !v->as.i;
    return true;
}

/* The first frame stands; runs until it returns. */
static bool loop(struct run *r)
{
    struct frame *frame = r->s->frames;
    for (;;) {
        const struct pk_instr *i = frame->at++;
        bool jump = true;
        r->now = i;
        if (--r->fuel < 0)
            return run_fail(r, "the steps that one dispatch may take are used up");
        if (i->op == PK_OP_JUMP || i->op == PK_OP_JUMP_FALSE) {
            if (i->op == PK_OP_JUMP_FALSE && !test(r, &jump))
                return false;
            if (jump)
                frame->at = frame->f->code + i->a;
        } else if (i->op == PK_OP_CALL) {
            if (frame == r->s->frames + PK_MAX_CALLS - 1)
                return run_fail(r, "too many calls inside each other");
            if (!enter(r, frame + 1, &r->p->functions[i->a]))
                return false;
            frame++;
        } else if (i->op == PK_OP_RETURN) {
            const struct pk_value result = r->sp[-1];
            r->sp = r->s->stack + frame->base;
            push(r, result);
            if (frame-- == r->s->frames)
                return true;
        } else if (!plain(r, i, r->s->stack + frame->base)) {
            return false;
        }
    }
}

static bool call(struct run *r, uint32_t function, struct pk_value *value)
{
    const struct pk_function *f = &r->p->functions[function];
    r->sp = r->s->stack;
    r->now = f->code;
    push(r, *value);
    if (!enter(r, r->s->frames, f) || !loop(r))
        return false;
    *value = r->s->stack[0];
    return true;
}

int pk_dispatch(struct pk_state *s, const struct pk_program *p, const struct pk_entry *entry,
                const struct pk_value *input, struct pk_value *out, struct pk_err *e)
{
    struct run r = {.s = s, .p = p, .fuel = s->fuel, .e = e};
    struct pk_value value = *input;
    bool good = true;
    pk_arena_reset(&s->memory);
    if (entry->kind == PK_FUNCTION) {
        good = call(&r, entry->index, &value);
    } else {
        const struct pk_line *line = &p->pipelines[entry->index];
        for (uint32_t i = 0; i < line->n && good; i++)
            good = call(&r, line->stages[i], &value);
    }
    *out = value;
    return good ? 0 : -1;
}

/* ---- entries */

static int find_function(const struct pk_program *p, struct pk_text name, struct pk_entry *out,
                         struct pk_err *e)
{
    for (uint32_t i = 0; i < p->n_functions; i++) {
        const struct pk_function *f = &p->functions[i];
        if (!pk_text_is(p->tables.strings[f->name], name))
            continue;
        if (f->n_parameters != 1)
            return pk_fail(e, 0, 0, "the function takes %u values; an entry takes one",
                           f->n_parameters);
        *out = (struct pk_entry){PK_FUNCTION, i, f->parameters[0], f->result};
        return 0;
    }
    return pk_fail(e, 0, 0, "the program has no function %.*s", (int)(name.n < 80 ? name.n : 80),
                   name.p);
}

int pk_find(const struct pk_program *p, const char *name, enum pk_kind kind, struct pk_entry *out,
            struct pk_err *e)
{
    const struct pk_text text = {name, (uint32_t)strlen(name)};
    if (kind == PK_FUNCTION)
        return find_function(p, text, out, e);
    for (uint32_t i = 0; i < p->n_pipelines; i++) {
        const struct pk_line *line = &p->pipelines[i];
        if (!pk_text_is(p->tables.strings[line->name], text))
            continue;
        *out = (struct pk_entry){PK_PIPELINE, i, p->functions[line->stages[0]].parameters[0],
                                 p->functions[line->stages[line->n - 1]].result};
        return 0;
    }
    return pk_fail(e, 0, 0, "the program has no pipeline %.*s", (int)(text.n < 80 ? text.n : 80),
                   name);
}
