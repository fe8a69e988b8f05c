/* Between the files of the compiler: types are checked and instructions made in one walk. */
#pragma once

#include "lang/ast.h"
#include "lang/program.h"

struct local {
    struct pk_text name;
    uint32_t type, slot;
};

struct compiler {
    struct ast *ast;
    struct pk_tables *tables;
    struct pk_program *program;
    struct pk_err *e;
    /* of the function in hand */
    struct pk_instr *code;
    uint32_t n_code, cap_code;
    struct local locals[PK_MAX_LOCALS];
    uint32_t n_visible, n_slots;
};

/* Emits the expression; its type, or PK_NO_TYPE after a failure. want says what an empty list or
 * map holds; PK_NO_TYPE: nothing is wanted. */
uint32_t compile_expr(struct compiler *c, const struct node *n, uint32_t want);
/* The same where only one type will do. */
bool compile_need(struct compiler *c, const struct node *n, uint32_t type);
uint32_t compile_form(struct compiler *c, const struct node *n, uint32_t want);
uint32_t compile_call(struct compiler *c, const struct node *n);
/* A function that is always there, by its number. */
uint32_t compile_builtin(struct compiler *c, const struct node *n, uint32_t builtin);

uint32_t compile_fail(struct compiler *c, const struct node *n, const char *fmt, ...)
    PK_PRINTF(3, 4); /* PK_NO_TYPE */
/* "expected X, found Y" */
uint32_t compile_mismatch(struct compiler *c, const struct node *n, const char *wanted,
                          uint32_t found);
/* The index of the instruction. */
uint32_t compile_emit(struct compiler *c, const struct node *n, enum pk_op op, int64_t a);
void compile_land(struct compiler *c, uint32_t jump); /* it leads to what comes next */
uint32_t compile_type(struct compiler *c, const struct node *n, const struct pk_type *type);
/* A slot with a name, visible until n_visible is set back; UINT32_MAX after a failure. */
uint32_t compile_local(struct compiler *c, const struct node *n, struct pk_text name,
                       uint32_t type);
#define PK_HIDDEN ((struct pk_text){NULL, 0}) /* the name of a slot that no program can name */

static inline const struct pk_type *type_at(const struct compiler *c, uint32_t type)
{
    return &c->tables->types[type];
}
