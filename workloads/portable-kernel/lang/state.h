/* Between the files of the execution. */
#pragma once

#include "lang/program.h"

struct frame {
    const struct pk_function *f;
    const struct pk_instr *at; /* the next instruction of this frame */
    uint32_t base;             /* its first local on the stack */
};

struct pk_state {
    struct pk_arena inputs, memory; /* of all inputs, of one dispatch */
    struct pk_value *stack;
    int64_t fuel; /* of a dispatch */
    struct frame frames[PK_MAX_CALLS];
};

/* One dispatch. */
struct run {
    struct pk_state *s;
    const struct pk_program *p;
    const struct pk_instr *now; /* for the place of an error */
    struct pk_value *sp;        /* behind the top of the stack */
    int64_t fuel;
    struct pk_err *e;
};

bool run_fail(struct run *r, const char *what); /* false, with the place in the source */
/* Takes fuel for copying or comparing n things. */
bool run_pay(struct run *r, size_t n);
/* Room for n values. */
struct pk_value *run_values(struct run *r, size_t n);

/* Each takes its values from the top of the stack and leaves one there. */
bool run_builtin(struct run *r, uint32_t builtin);
bool run_concat(struct run *r);
bool run_index(struct run *r);
bool run_replace(struct run *r, uint32_t field);
bool run_gather(struct run *r, enum pk_tag tag, uint32_t n); /* list, map, record */
/* The place of the key among a map's pairs, and whether it is there. */
uint32_t run_find(const struct pk_value *map, const struct pk_value *key, bool *there);
/* By content: *same. */
bool run_equal(struct run *r, const struct pk_value *a, const struct pk_value *b, uint32_t depth,
               bool *same);
int run_order(const struct pk_value *a, const struct pk_value *b); /* two ints, two strings */
