/* Source text -> words, one at a time. */
#pragma once

#include "lang/mem.h"

enum tok {
    TOK_END,
    TOK_NAME,
    TOK_INT,
    TOK_STRING,
    TOK_SIGN, /* one or two characters: text says which */
    TOK_KEYWORD,
};

struct token {
    enum tok kind;
    struct pk_text text; /* as it is written; of a string: what it means */
    uint64_t value;      /* of a TOK_INT: up to 2^63, which only a minus makes a number */
    uint32_t line, column;
};

struct lexer {
    const char *p, *end, *line_start;
    uint32_t line;
    struct pk_arena *arena; /* for strings with escapes */
    struct pk_err *e;
    struct token now;
    bool failed;
};

/* Reads the first word. After a failure every further word is the end. */
void lex_init(struct lexer *x, const char *source, size_t len, struct pk_arena *arena,
              struct pk_err *e);
void lex_next(struct lexer *x);
