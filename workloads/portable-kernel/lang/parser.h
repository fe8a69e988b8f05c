/* Between the files of the parser. */
#pragma once

#include "lang/ast.h"
#include "lang/lex.h"

struct parser {
    struct lexer x;
    struct ast *ast;
    uint32_t depth; /* of what is being read */
};

bool parse_is(const struct parser *p, const char *word); /* a sign or keyword comes next */
bool parse_take(struct parser *p, const char *word);     /* and is taken */
/* Takes it, or fails: "expected X". */
bool parse_expect(struct parser *p, const char *word);
bool parse_name(struct parser *p, const char *what, struct pk_text *out);
bool parse_fail(struct parser *p, const char *fmt,
                const char *what);               /* at what comes next; false */
bool parse_enter(struct parser *p);              /* one level deeper, or failed */
void *parse_new(struct parser *p, size_t bytes); /* zeroed; NULL, and failed, beyond the limit */
struct item *parse_item(struct parser *p, struct items *items, uint32_t most);

/* NULL, PK_NO_TYPE after a failure. */
struct node *parse_expr(struct parser *p);
struct node *parse_block(struct parser *p);
struct node *
parse_form(struct parser *p); /* if, match, fold, loop, do; NULL without failure: none */
uint32_t parse_type(struct parser *p);

struct node *parse_node(struct parser *p, enum node_kind kind);
/* Once its parts are known: counts its depth. NULL when it is too deep or a part is missing. */
struct node *parse_done(struct parser *p, struct node *n);
