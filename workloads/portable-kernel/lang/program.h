/* A program in memory: what the compiler makes, an artifact says, and the execution reads. */
#pragma once

#include "lang/ops.h"
#include "lang/types.h"

struct pk_function {
    uint32_t name; /* a string */
    uint32_t n_parameters, result;
    uint32_t *parameters; /* types */
    uint32_t n_locals;    /* with the parameters, which are the first */
    uint32_t n_code;
    struct pk_instr *code;
    uint32_t stack; /* the most values above the locals: set by pk_verify */
};

struct pk_line {
    uint32_t name;
    uint32_t n;
    uint32_t *stages; /* functions */
};

struct pk_program {
    struct pk_arena arena;
    struct pk_tables tables;
    struct pk_function *functions;
    struct pk_line *pipelines;
    uint32_t n_functions, n_pipelines;
};

/* Appends the bytes: one program has exactly one form. */
void pk_encode(const struct pk_abi *abi, const struct pk_program *p, struct pk_bytes *out);
/* What no program may do: jump outside, leave the stack uneven, name what is not there. Sets
 * stack of every function. 0 or -1. */
int pk_verify(struct pk_program *p, struct pk_err *e);
void pk_program_deinit(struct pk_program *p);
