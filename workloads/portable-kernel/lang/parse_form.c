/* Expressions that begin with a word: if, match, fold, loop, do; and blocks. */
#include "lang/parser.h"

/* let NAME: TYPE = ... */
static bool parse_let_type(struct parser *p, struct item *let)
{
    if (!parse_take(p, ":"))
        return !p->x.failed;
    let->type = parse_type(p);
    return let->type != PK_NO_TYPE;
}

struct node *parse_block(struct parser *p)
{
    struct node *n = parse_node(p, NODE_BLOCK);
    if (!n || !parse_expect(p, "{"))
        return NULL;
    while (parse_is(p, "let")) {
        struct item *let = parse_item(p, &n->items, PK_MAX_LOCALS);
        lex_next(&p->x);
        if (!let || !parse_name(p, "what is defined", &let->name) || !parse_let_type(p, let) ||
            !parse_expect(p, "="))
            return NULL;
        let->value = parse_expr(p);
        if (!let->value || !parse_expect(p, ";"))
            return NULL;
    }
    n->a = parse_expr(p);
    return n->a && parse_expect(p, "}") ? parse_done(p, n) : NULL;
}

static struct node *parse_if(struct parser *p)
{
    struct node *n = parse_node(p, NODE_IF);
    if (!n || !parse_enter(p))
        return NULL;
    n->a = parse_expr(p);
    n->b = n->a ? parse_block(p) : NULL;
    if (!n->b || !parse_expect(p, "else"))
        return NULL;
    n->c = parse_take(p, "if") ? parse_if(p) : parse_block(p);
    p->depth--;
    return n->c ? parse_done(p, n) : NULL;
}

/* A number, a text, true, false; or _, for which *key stays NULL. */
static bool parse_pattern(struct parser *p, struct node **key)
{
    const struct token *t = &p->x.now;
    if (t->kind == TOK_NAME && t->text.n == 1 && t->text.p[0] == '_') {
        lex_next(&p->x);
        return true;
    }
    if (t->kind != TOK_INT && t->kind != TOK_STRING && !parse_is(p, "-") && !parse_is(p, "true") &&
        !parse_is(p, "false"))
        return parse_fail(p, "expected a number, a text, true, false or _", "");
    *key = parse_expr(p);
    if (*key && (*key)->kind > NODE_STRING) {
        (void)pk_fail(p->ast->e, (*key)->line, (*key)->column,
                      "here stands a number, a text, true, false or _, and nothing else");
        p->x.failed = true;
    }
    return !p->x.failed && *key;
}

static struct node *parse_match(struct parser *p)
{
    struct node *n = parse_node(p, NODE_MATCH);
    if (!n)
        return NULL;
    n->a = parse_expr(p);
    if (!n->a || !parse_expect(p, "{"))
        return NULL;
    for (bool last = false; !last;) {
        struct item *arm = parse_item(p, &n->items, PK_MAX_ITEMS);
        if (!arm || !parse_pattern(p, &arm->key) || !parse_expect(p, "=>"))
            return NULL;
        last = !arm->key;
        arm->value = parse_expr(p);
        if (!arm->value || (!(last && parse_is(p, "}")) && !parse_expect(p, ",")))
            return NULL;
        if (!last && parse_is(p, "}")) {
            (void)parse_fail(p, "expected _, which says what all other values give", "");
            return NULL;
        }
    }
    return parse_expect(p, "}") ? parse_done(p, n) : NULL;
}

/* fold NAME in LIST from NAME = START { ... } */
static struct node *parse_fold(struct parser *p)
{
    struct node *n = parse_node(p, NODE_FOLD);
    if (!n || !parse_name(p, "each item", &n->text) || !parse_expect(p, "in"))
        return NULL;
    n->a = parse_expr(p);
    if (!n->a || !parse_expect(p, "from") || !parse_name(p, "what is gathered", &n->text2) ||
        !parse_expect(p, "="))
        return NULL;
    n->b = parse_expr(p);
    n->c = n->b ? parse_block(p) : NULL;
    return n->c ? parse_done(p, n) : NULL;
}

/* loop NAME = START while CONDITION { ... } */
static struct node *parse_loop(struct parser *p)
{
    struct node *n = parse_node(p, NODE_LOOP);
    if (!n || !parse_name(p, "what is repeated", &n->text) || !parse_expect(p, "="))
        return NULL;
    n->a = parse_expr(p);
    if (!n->a || !parse_expect(p, "while"))
        return NULL;
    n->b = parse_expr(p);
    n->c = n->b ? parse_block(p) : NULL;
    return n->c ? parse_done(p, n) : NULL;
}

struct node *parse_form(struct parser *p)
{
    if (parse_take(p, "if"))
        return parse_if(p);
    if (parse_take(p, "match"))
        return parse_match(p);
    if (parse_take(p, "fold"))
        return parse_fold(p);
    if (parse_take(p, "loop"))
        return parse_loop(p);
    return parse_take(p, "do") ? parse_block(p) : NULL;
}
