/* Are the instructions of a program safe to run? One walk from the first to the last: the depth of
 * the stack in front of each is known when it is reached, or nothing leads to it. Types are not
 * judged here; the execution looks at the kind of each value that it takes. */
#include <stdlib.h>

#include "lang/program.h"

#define UNKNOWN UINT32_MAX

struct verifier {
    const struct pk_program *p;
    const struct pk_function *f;
    uint32_t *depths; /* in front of each instruction */
    uint32_t most;
    struct pk_err *e;
};

static int refuse(const struct verifier *v, uint32_t at, const char *what)
{
    return pk_fail(v->e, 0, 0, "the artifact is refused: %s at instruction %u of function %u", what,
                   at, (uint32_t)(v->f - v->p->functions));
}

static bool operand_good(const struct verifier *v, const struct pk_instr *i)
{
    const int64_t bounds[] = {
        [PK_A_NONE] = 1,
        [PK_A_COUNT] = PK_MAX_ITEMS + 1,
        [PK_A_JUMP] = v->f->n_code,
        [PK_A_TEXT] = v->p->tables.n_strings,
        [PK_A_LOCAL] = v->f->n_locals,
        [PK_A_CALL] = v->p->n_functions,
        [PK_A_BUILTIN] = PK_BUILTINS,
    };
    const enum pk_operand kind = pk_ops[i->op].operand;
    return kind == PK_A_WHOLE || (i->a >= 0 && i->a < bounds[kind]);
}

static uint32_t pops(const struct verifier *v, const struct pk_instr *i)
{
    if (pk_ops[i->op].pops != PK_VARIES)
        return pk_ops[i->op].pops;
    if (i->op == PK_OP_CALL)
        return v->p->functions[i->a].n_parameters;
    if (i->op == PK_OP_BUILTIN)
        return pk_builtins[i->a].arguments;
    return (uint32_t)i->a * (i->op == PK_OP_MAP ? 2 : 1);
}

static int lead_to(struct verifier *v, uint32_t from, uint32_t to, uint32_t depth)
{
    if (to >= v->f->n_code)
        return refuse(v, from, "it goes on behind the end");
    if (to <= from && v->depths[to] == UNKNOWN)
        return refuse(v, from, "it jumps back to where nothing leads");
    if (v->depths[to] != UNKNOWN && v->depths[to] != depth)
        return refuse(v, from, "the stack is uneven");
    v->depths[to] = depth;
    return 0;
}

static int step(struct verifier *v, uint32_t at)
{
    const struct pk_instr *i = &v->f->code[at];
    uint32_t depth = v->depths[at];
    if (i->op >= PK_OPS || !operand_good(v, i))
        return refuse(v, at, "an unknown operation or operand");
    if (depth == UNKNOWN)
        return refuse(v, at, "nothing leads there");
    uint32_t taken = pops(v, i);
    if (taken > depth)
        return refuse(v, at, "it takes from an empty stack");
    depth = depth - taken + pk_ops[i->op].pushes;
    v->most = depth > v->most ? depth : v->most;
    if (depth > PK_MAX_STACK)
        return refuse(v, at, "the stack is too deep");
    if (i->op == PK_OP_RETURN)
        return depth == 0 ? 0 : refuse(v, at, "more than one value is returned");
    int rc = pk_ops[i->op].operand == PK_A_JUMP ? lead_to(v, at, (uint32_t)i->a, depth) : 0;
    return rc || i->op == PK_OP_JUMP ? rc : lead_to(v, at, at + 1, depth);
}

static int verify_function(struct pk_program *p, struct pk_function *f, struct pk_err *e)
{
    struct verifier v = {.p = p, .f = f, .e = e};
    int rc = 0;
    if (f->n_code == 0 || f->n_locals > PK_MAX_LOCALS || f->n_parameters > f->n_locals)
        return refuse(&v, 0, "it has no code, or more parameters than locals");
    v.depths = pk_grow(NULL, f->n_code, sizeof *v.depths);
    for (uint32_t i = 0; i < f->n_code; i++)
        v.depths[i] = UNKNOWN;
    v.depths[0] = 0;
    for (uint32_t i = 0; i < f->n_code && rc == 0; i++)
        rc = step(&v, i);
    f->stack = v.most;
    free(v.depths);
    return rc;
}

int pk_verify(struct pk_program *p, struct pk_err *e)
{
    for (uint32_t i = 0; i < p->n_functions; i++)
        if (verify_function(p, &p->functions[i], e))
            return -1;
    return 0;
}
