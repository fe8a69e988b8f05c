/* Expressions, by precedence. */
#include <string.h>

#include "lang/ops.h"
#include "lang/parser.h"

/* ---- literals and names */

static struct node *parse_int(struct parser *p, bool negative)
{
    struct node *n = parse_node(p, NODE_INT);
    uint64_t v = p->x.now.value;
    if (!n)
        return NULL;
    if (!negative && v > INT64_MAX) {
        (void)parse_fail(p, "this number is larger than a 64-bit integer", "");
        return NULL;
    }
    n->value = negative ? (int64_t)(0 - v) : (int64_t)v;
    lex_next(&p->x);
    return parse_done(p, n);
}

static struct node *parse_text(struct parser *p, enum node_kind kind)
{
    struct node *n = parse_node(p, kind);
    if (!n)
        return NULL;
    n->text = p->x.now.text;
    lex_next(&p->x);
    return n;
}

/* item {"," item} [","] up to the closing sign; named: NAME ":" in front, keyed: expr ":". */
enum list_form { PLAIN, NAMED, KEYED };
static bool parse_list(struct parser *p, struct items *items, const char *close,
                       enum list_form form, uint32_t most)
{
    while (!parse_is(p, close)) {
        struct item *item = parse_item(p, items, most);
        if (!item)
            return false;
        if (form == NAMED && (!parse_name(p, "a field", &item->name) || !parse_expect(p, ":")))
            return false;
        if (form == KEYED) {
            item->key = parse_expr(p);
            if (!item->key || !parse_expect(p, ":"))
                return false;
        }
        item->value = parse_expr(p);
        if (!item->value || (!parse_is(p, close) && !parse_expect(p, ",")))
            return false;
    }
    return parse_take(p, close);
}

static struct node *parse_collection(struct parser *p, enum node_kind kind)
{
    struct node *n = parse_node(p, kind);
    const bool list = kind == NODE_LIST;
    if (!n)
        return NULL;
    lex_next(&p->x);
    if (kind == NODE_MAP && !parse_expect(p, "{"))
        return NULL;
    if (!parse_list(p, &n->items, list ? "]" : "}",
                    list               ? PLAIN
                    : kind == NODE_MAP ? KEYED
                                       : NAMED,
                    kind == NODE_RECORD ? PK_MAX_FIELDS : PK_MAX_ITEMS))
        return NULL;
    return parse_done(p, n);
}

static struct node *parse_named(struct parser *p)
{
    struct node *n = parse_text(p, NODE_NAME);
    if (!n || !parse_take(p, "("))
        return parse_done(p, n);
    n->kind = NODE_CALL;
    if (!parse_list(p, &n->items, ")", PLAIN, PK_MAX_PARAMETERS))
        return NULL;
    return parse_done(p, n);
}

static struct node *parse_bool(struct parser *p)
{
    struct node *n = parse_node(p, NODE_BOOL);
    if (!n)
        return NULL;
    n->value = parse_is(p, "true");
    lex_next(&p->x);
    return parse_done(p, n);
}

static struct node *parse_inner(struct parser *p)
{
    lex_next(&p->x);
    struct node *n = parse_expr(p);
    return n && parse_expect(p, ")") ? n : NULL;
}

static struct node *parse_primary(struct parser *p)
{
    if (p->x.now.kind == TOK_INT)
        return parse_int(p, false);
    if (p->x.now.kind == TOK_STRING)
        return parse_done(p, parse_text(p, NODE_STRING));
    if (p->x.now.kind == TOK_NAME)
        return parse_named(p);
    if (parse_is(p, "true") || parse_is(p, "false"))
        return parse_bool(p);
    if (parse_is(p, "["))
        return parse_collection(p, NODE_LIST);
    if (parse_is(p, "map"))
        return parse_collection(p, NODE_MAP);
    if (parse_is(p, "{"))
        return parse_collection(p, NODE_RECORD);
    if (parse_is(p, "("))
        return parse_inner(p);
    struct node *n = parse_form(p);
    if (!n && !p->x.failed)
        (void)parse_fail(p, "expected a value", "");
    return n;
}

/* ---- behind a value */

static struct node *parse_field(struct parser *p, struct node *a)
{
    struct node *n = parse_node(p, NODE_FIELD);
    if (!n || !parse_name(p, "a field", &n->text))
        return NULL;
    n->a = a;
    return parse_done(p, n);
}

static struct node *parse_index(struct parser *p, struct node *a)
{
    struct node *n = parse_node(p, NODE_INDEX);
    if (!n)
        return NULL;
    n->a = a;
    n->b = parse_expr(p);
    return n->b && parse_expect(p, "]") ? parse_done(p, n) : NULL;
}

static struct node *parse_with(struct parser *p, struct node *a)
{
    struct node *n = parse_node(p, NODE_WITH);
    if (!n || !parse_expect(p, "{"))
        return NULL;
    n->a = a;
    if (!parse_list(p, &n->items, "}", NAMED, PK_MAX_FIELDS))
        return NULL;
    return parse_done(p, n);
}

static struct node *parse_postfix(struct parser *p)
{
    struct node *n = parse_primary(p);
    while (n && !p->x.failed) {
        if (parse_take(p, "."))
            n = parse_field(p, n);
        else if (parse_take(p, "["))
            n = parse_index(p, n);
        else if (parse_take(p, "with"))
            n = parse_with(p, n);
        else
            break;
    }
    return p->x.failed ? NULL : n;
}

static struct node *parse_unary(struct parser *p)
{
    const bool negate = parse_is(p, "-");
    if (!negate && !parse_is(p, "not"))
        return parse_postfix(p);
    struct node *n = parse_node(p, negate ? NODE_NEGATE : NODE_NOT);
    if (!n || !parse_enter(p))
        return NULL;
    lex_next(&p->x);
    if (negate && p->x.now.kind == TOK_INT) {
        struct node *whole = parse_int(p, true);
        p->depth--;
        return whole;
    }
    n->a = parse_unary(p);
    p->depth--;
    return n->a ? parse_done(p, n) : NULL;
}

/* ---- between two values */

struct operator
{
    const char *sign;
    uint32_t op;
    int level;
};
#define LEVELS 6
#define COMPARISONS 2 /* the level on which there is only one */

static const struct operator operators[] = {
    {"or", OP_OR, 0},           {"and", OP_AND, 1},          {"==", PK_OP_EQUAL, 2},
    {"!=", PK_OP_DIFFERENT, 2}, {"<=", PK_OP_LESS_EQUAL, 2}, {">=", PK_OP_GREATER_EQUAL, 2},
    {"<", PK_OP_LESS, 2},       {">", PK_OP_GREATER, 2},     {"++", PK_OP_CONCAT, 3},
    {"+", PK_OP_ADD, 4},        {"-", PK_OP_SUBTRACT, 4},    {"*", PK_OP_MULTIPLY, 5},
    {"/", PK_OP_DIVIDE, 5},     {"%", PK_OP_REMAINDER, 5},
};

static const struct operator* operator_here(const struct parser *p, int level)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].level == level && parse_is(p, operators[i].sign))
            return &operators[i];
    return NULL;
}

static struct node *parse_level(struct parser *p, int level)
{
    if (level == LEVELS)
        return parse_unary(p);
    struct node *left = parse_level(p, level + 1);
    const struct operator* op;
    while (left && (op = operator_here(p, level)) != NULL) {
        struct node *n = parse_node(p, NODE_BINARY);
        if (!n)
            return NULL;
        lex_next(&p->x);
        n->op = op->op;
        n->a = left;
        n->b = parse_level(p, level + 1);
        left = n->b ? parse_done(p, n) : NULL;
        if (left && level == COMPARISONS && operator_here(p, level)) {
            (void)parse_fail(p, "comparisons do not follow each other; use and", "");
            return NULL;
        }
    }
    return left;
}

struct node *parse_expr(struct parser *p)
{
    if (!parse_enter(p))
        return NULL;
    struct node *n = parse_level(p, 0);
    p->depth--;
    return n;
}
