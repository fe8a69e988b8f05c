/* Declarations, types, and what all files of the parser share. */
#include <string.h>

#include "lang/parser.h"

/* ---- shared */

bool parse_is(const struct parser *p, const char *word)
{
    const struct token *t = &p->x.now;
    return (t->kind == TOK_SIGN || t->kind == TOK_KEYWORD) && strlen(word) == t->text.n &&
           memcmp(word, t->text.p, t->text.n) == 0;
}

bool parse_take(struct parser *p, const char *word)
{
    if (!parse_is(p, word))
        return false;
    lex_next(&p->x);
    return true;
}

bool parse_fail(struct parser *p, const char *fmt, const char *what)
{
    char message[160];
    const struct token *t = &p->x.now;
    struct pk_text shown = t->kind == TOK_STRING ? (struct pk_text){"a text", 6} : t->text;
    size_t n = 0;
    for (const char *f = fmt; *f && n < sizeof message - 1; f++)
        if (*f == '%') {
            for (const char *w = what; *w && n < sizeof message - 1; w++)
                message[n++] = *w;
        } else {
            message[n++] = *f;
        }
    message[n] = '\0';
    (void)pk_fail(p->ast->e, t->line, t->column, "%s, found %.*s", message,
                  (int)(shown.n < 40 ? shown.n : 40), shown.p);
    p->x.failed = true;
    return false;
}

bool parse_expect(struct parser *p, const char *word)
{
    return parse_take(p, word) || parse_fail(p, "expected %", word);
}

bool parse_name(struct parser *p, const char *what, struct pk_text *out)
{
    if (p->x.now.kind != TOK_NAME)
        return parse_fail(p, "expected the name of %", what);
    *out = p->x.now.text;
    lex_next(&p->x);
    return !p->x.failed;
}

static bool too_deep(struct parser *p, uint32_t line, uint32_t column)
{
    (void)pk_fail(p->ast->e, line, column, "more than %d things stand inside each other here",
                  PK_MAX_NESTING);
    p->x.failed = true;
    return false;
}

bool parse_enter(struct parser *p)
{
    if (p->x.failed)
        return false;
    return ++p->depth <= PK_MAX_NESTING || too_deep(p, p->x.now.line, p->x.now.column);
}

void *parse_new(struct parser *p, size_t bytes)
{
    void *new = p->x.failed ? NULL : pk_zalloc(p->ast->arena, bytes);
    if (!new && !p->x.failed)
        (void)parse_fail(p, "the program is too large", "");
    return new;
}

struct item *parse_item(struct parser *p, struct items *items, uint32_t most)
{
    struct item *item = parse_new(p, sizeof *item);
    if (!item)
        return NULL;
    item->line = p->x.now.line;
    item->column = p->x.now.column;
    item->type = PK_NO_TYPE;
    if (items->n == most) {
        (void)parse_fail(p, "there are too many of these", "");
        return NULL;
    }
    if (items->last)
        items->last->next = item;
    else
        items->first = item;
    items->last = item;
    items->n++;
    return item;
}

struct node *parse_node(struct parser *p, enum node_kind kind)
{
    struct node *n = parse_new(p, sizeof *n);
    if (!n)
        return NULL;
    n->kind = kind;
    n->line = p->x.now.line;
    n->column = p->x.now.column;
    return n;
}

static void deepen(struct node *n, const struct node *part)
{
    if (part && part->depth >= n->depth)
        n->depth = part->depth + 1;
}

struct node *parse_done(struct parser *p, struct node *n)
{
    if (!n || p->x.failed)
        return NULL;
    n->depth = 1;
    deepen(n, n->a);
    deepen(n, n->b);
    deepen(n, n->c);
    for (const struct item *i = n->items.first; i; i = i->next) {
        deepen(n, i->key);
        deepen(n, i->value);
    }
    if (n->depth > PK_MAX_NESTING) {
        (void)too_deep(p, n->line, n->column);
        return NULL;
    }
    return n;
}

/* ---- types */

static uint32_t type_add(struct parser *p, const struct pk_type *type)
{
    if (p->x.failed)
        return PK_NO_TYPE;
    uint32_t index = pk_type(p->ast->tables, type);
    if (index == PK_NO_TYPE)
        (void)parse_fail(p, "there are too many types, or they are too deep", "");
    return index;
}

static uint32_t type_of_elements(struct parser *p, enum pk_type_kind kind)
{
    struct pk_type type = {.kind = kind};
    if (!parse_expect(p, "<"))
        return PK_NO_TYPE;
    type.element = parse_type(p);
    if (type.element == PK_NO_TYPE || !parse_expect(p, ">"))
        return PK_NO_TYPE;
    return type_add(p, &type);
}

/* Puts the field in its place by name; false: it is there already. */
static bool insert_field(const struct pk_tables *t, struct pk_type *type, struct pk_field field)
{
    uint32_t at = type->n;
    for (; at > 0; at--) {
        int order = pk_text_order(t->strings[type->fields[at - 1].name], t->strings[field.name]);
        if (order == 0)
            return false;
        if (order < 0)
            break;
    }
    memmove(type->fields + at + 1, type->fields + at, (type->n - at) * sizeof field);
    type->fields[at] = field;
    type->n++;
    return true;
}

static uint32_t type_of_record(struct parser *p)
{
    struct pk_field fields[PK_MAX_FIELDS];
    struct pk_type type = {.kind = PK_T_RECORD, .fields = fields};
    while (!parse_is(p, "}") && !p->x.failed) {
        struct token at = p->x.now;
        struct pk_text name = {0};
        if (!parse_name(p, "a field", &name) || !parse_expect(p, ":"))
            return PK_NO_TYPE;
        struct pk_field field = {pk_string(p->ast->tables, name), parse_type(p)};
        if (field.type == PK_NO_TYPE)
            return PK_NO_TYPE;
        if (field.name == UINT32_MAX || type.n == PK_MAX_FIELDS)
            (void)parse_fail(p, "there are too many names", "");
        else if (!insert_field(p->ast->tables, &type, field))
            (void)pk_fail(p->ast->e, at.line, at.column, "the field %.*s is there twice",
                          (int)name.n, name.p);
        if (p->ast->e->text[0] || (!parse_is(p, "}") && !parse_expect(p, ",")))
            return PK_NO_TYPE;
    }
    return parse_expect(p, "}") ? type_add(p, &type) : PK_NO_TYPE;
}

static const struct alias *find_alias(const struct ast *ast, struct pk_text name)
{
    const struct alias *a = ast->aliases;
    while (a && !pk_text_is(a->name, name))
        a = a->next;
    return a;
}

static uint32_t type_named(struct parser *p)
{
    const struct alias *a = NULL;
    if (p->x.now.kind == TOK_NAME)
        a = find_alias(p->ast, p->x.now.text);
    if (!a) {
        (void)parse_fail(p, "expected a type that is declared above", "");
        return PK_NO_TYPE;
    }
    lex_next(&p->x);
    return p->x.failed ? PK_NO_TYPE : a->type;
}

uint32_t parse_type(struct parser *p)
{
    static const char *const simple[] = {"int", "bool", "string"};
    uint32_t type = PK_NO_TYPE;
    if (!parse_enter(p))
        return PK_NO_TYPE;
    for (uint32_t i = 0; i < PK_T_SIMPLE && type == PK_NO_TYPE; i++)
        if (parse_take(p, simple[i]))
            type = i;
    if (type == PK_NO_TYPE && parse_take(p, "list"))
        type = type_of_elements(p, PK_T_LIST);
    else if (type == PK_NO_TYPE && parse_take(p, "map"))
        type = type_of_elements(p, PK_T_MAP);
    else if (type == PK_NO_TYPE && parse_take(p, "{"))
        type = type_of_record(p);
    else if (type == PK_NO_TYPE)
        type = type_named(p);
    p->depth--;
    return type;
}

/* ---- declarations */

static bool parse_alias(struct parser *p)
{
    struct alias *a = parse_new(p, sizeof *a);
    struct token at = p->x.now;
    if (!a || !parse_name(p, "a type", &a->name) || !parse_expect(p, "="))
        return false;
    a->type = parse_type(p);
    if (a->type == PK_NO_TYPE || !parse_expect(p, ";"))
        return false;
    if (find_alias(p->ast, a->name))
        return pk_fail(p->ast->e, at.line, at.column, "the type %.*s is declared twice",
                       (int)(at.text.n < 40 ? at.text.n : 40), at.text.p) == 0;
    a->next = p->ast->aliases;
    p->ast->aliases = a;
    return true;
}

static bool parse_parameter(struct parser *p, struct function *f)
{
    if (f->n_parameters == PK_MAX_PARAMETERS)
        return parse_fail(p, "there are too many parameters", "");
    struct token at = p->x.now;
    struct pk_text name = {0};
    if (!parse_name(p, "a parameter", &name) || !parse_expect(p, ":"))
        return false;
    for (uint32_t i = 0; i < f->n_parameters; i++)
        if (pk_text_is(f->parameters[i], name))
            return pk_fail(p->ast->e, at.line, at.column, "this parameter is there twice") == 0;
    f->parameters[f->n_parameters] = name;
    f->parameter_types[f->n_parameters] = parse_type(p);
    return f->parameter_types[f->n_parameters++] != PK_NO_TYPE;
}

static bool parse_function(struct parser *p)
{
    struct function *f = parse_new(p, sizeof *f);
    if (!f)
        return false;
    f->line = p->x.now.line;
    f->column = p->x.now.column;
    if (!parse_name(p, "a function", &f->name) || !parse_expect(p, "("))
        return false;
    while (!parse_is(p, ")"))
        if (!parse_parameter(p, f) || (!parse_is(p, ")") && !parse_expect(p, ",")))
            return false;
    if (!parse_expect(p, ")") || !parse_expect(p, ":"))
        return false;
    f->result = parse_type(p);
    f->body = f->result == PK_NO_TYPE ? NULL : parse_block(p);
    if (!f->body)
        return false;
    if (p->ast->n_functions++ == PK_MAX_FUNCTIONS)
        return parse_fail(p, "there are too many functions", "");
    if (p->ast->last_function)
        p->ast->last_function->next = f;
    else
        p->ast->functions = f;
    p->ast->last_function = f;
    return true;
}

static bool parse_pipeline(struct parser *p)
{
    struct pipeline *line = parse_new(p, sizeof *line);
    if (!line)
        return false;
    line->line = p->x.now.line;
    line->column = p->x.now.column;
    if (!parse_name(p, "a pipeline", &line->name) || !parse_expect(p, "="))
        return false;
    do {
        struct item *stage = parse_item(p, &line->stages, PK_MAX_STAGES);
        if (!stage || !parse_name(p, "a function", &stage->name))
            return false;
    } while (parse_take(p, "|"));
    if (!parse_expect(p, ";"))
        return false;
    if (p->ast->n_pipelines++ == PK_MAX_PIPELINES)
        return parse_fail(p, "there are too many pipelines", "");
    if (p->ast->last_pipeline)
        p->ast->last_pipeline->next = line;
    else
        p->ast->pipelines = line;
    p->ast->last_pipeline = line;
    return true;
}

int parse(struct ast *ast, const char *source, size_t len)
{
    struct parser p = {.ast = ast};
    bool good = true;
    lex_init(&p.x, source, len, ast->arena, ast->e);
    while (good && !p.x.failed && p.x.now.kind != TOK_END) {
        if (parse_take(&p, "type"))
            good = parse_alias(&p);
        else if (parse_take(&p, "fn"))
            good = parse_function(&p);
        else if (parse_take(&p, "pipeline"))
            good = parse_pipeline(&p);
        else
            good = parse_fail(&p, "expected fn, type or pipeline", "");
    }
    if (good && !p.x.failed && ast->n_functions == 0)
        good = parse_fail(&p, "expected a function", "");
    return good && !p.x.failed ? 0 : -1;
}
