/* What the parser makes of the source, and the compiler reads. All in the compiler's arena. */
#pragma once

#include "lang/types.h"

enum node_kind {
    NODE_INT,
    NODE_BOOL,
    NODE_STRING,
    NODE_NAME,
    NODE_LIST,   /* items: value */
    NODE_MAP,    /* items: key, value */
    NODE_RECORD, /* items: name, value */
    NODE_FIELD,  /* a.text */
    NODE_INDEX,  /* a[b] */
    NODE_WITH,   /* a with {items} */
    NODE_CALL,   /* text(items) */
    NODE_NEGATE, /* a */
    NODE_NOT,
    NODE_BINARY, /* a op b */
    NODE_IF,     /* if a b else c */
    NODE_MATCH,  /* match a {items: key (NULL for the last) => value} */
    NODE_FOLD,   /* fold text in a from text2 = b c */
    NODE_LOOP,   /* loop text = a while b c */
    NODE_BLOCK,  /* items: let name = value; a */
};

struct item {
    struct item *next;
    struct pk_text name;
    struct node *key, *value;
    uint32_t line, column;
    uint32_t type; /* of a let that says it; PK_NO_TYPE */
};

struct items {
    struct item *first, *last;
    uint32_t n;
};

struct node {
    enum node_kind kind;
    uint32_t line, column;
    uint32_t depth; /* of nodes inside each other, from here down */
    uint32_t op;    /* NODE_BINARY: an opcode, or OP_AND, OP_OR */
    int64_t value;
    struct pk_text text, text2;
    struct node *a, *b, *c;
    struct items items;
};

struct function {
    struct function *next;
    struct pk_text name;
    uint32_t line, column;
    struct pk_text parameters[PK_MAX_PARAMETERS];
    uint32_t parameter_types[PK_MAX_PARAMETERS];
    uint32_t n_parameters, result;
    struct node *body;
};

struct pipeline {
    struct pipeline *next;
    struct pk_text name;
    uint32_t line, column;
    struct items stages; /* name */
};

struct alias {
    struct alias *next;
    struct pk_text name;
    uint32_t type;
};

struct ast {
    struct pk_arena *arena;
    struct pk_tables *tables;
    struct pk_err *e;
    struct function *functions, *last_function;
    struct pipeline *pipelines, *last_pipeline;
    struct alias *aliases;
    uint32_t n_functions, n_pipelines;
};

/* arena, tables and e are set. 0 or -1. */
int parse(struct ast *ast, const char *source, size_t len);
