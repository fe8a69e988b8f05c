/* Opcodes and functions that are always there, from their tables. */
#pragma once

#include "lang/mem.h"

enum pk_op {
#define OP(name, operand, pops, pushes) PK_OP_##name,
#include "lang/ops.def"
#undef OP
    PK_OPS,
};
/* Known to the compiler alone: they become jumps. */
#define OP_AND 1000
#define OP_OR 1001

enum pk_operand {
    PK_A_NONE,
    PK_A_COUNT,
    PK_A_JUMP,
    PK_A_TEXT,
    PK_A_LOCAL,
    PK_A_CALL,
    PK_A_BUILTIN,
    PK_A_WHOLE,
};
#define PK_VARIES UINT32_MAX

struct pk_op_row {
    const char *name;
    enum pk_operand operand;
    const char *operand_name;
    uint32_t pops, pushes;
};
extern const struct pk_op_row pk_ops[PK_OPS];

enum pk_builtin {
#define BUILTIN(id, name, arguments, signature) PK_B_##id,
#include "lang/builtins.def"
#undef BUILTIN
    PK_BUILTINS,
};

struct pk_builtin_row {
    const char *name;
    uint32_t arguments;
    const char *signature;
};
extern const struct pk_builtin_row pk_builtins[PK_BUILTINS];

/* One instruction, in memory. */
struct pk_instr {
    uint32_t op;
    uint32_t at; /* line << 12 | column; a column beyond 4095 is 4095 */
    int64_t a;
};
