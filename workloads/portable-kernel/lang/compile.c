#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/compiler.h"

#define ARENA_BYTES ((size_t)256 << 20)

/* ---- shared by the files of the compiler */

uint32_t compile_fail(struct compiler *c, const struct node *n, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)pk_fail(c->e, n->line, n->column, "%s", text);
    return PK_NO_TYPE;
}

uint32_t compile_mismatch(struct compiler *c, const struct node *n, const char *wanted,
                          uint32_t found)
{
    char is[PK_TYPE_TEXT];
    return compile_fail(c, n, "expected %s, found %s", wanted, pk_type_text(c->tables, found, is));
}

bool compile_need(struct compiler *c, const struct node *n, uint32_t type)
{
    char wanted[PK_TYPE_TEXT];
    uint32_t found = compile_expr(c, n, type);
    while (n->kind == NODE_BLOCK) /* what a block gives is its last expression */
        n = n->a;
    if (found != PK_NO_TYPE && found != type)
        (void)compile_mismatch(c, n, pk_type_text(c->tables, type, wanted), found);
    return found == type && found != PK_NO_TYPE;
}

uint32_t compile_emit(struct compiler *c, const struct node *n, enum pk_op op, int64_t a)
{
    if (c->n_code == PK_MAX_INSTRUCTIONS) {
        (void)compile_fail(c, n, "this function has more than %d instructions",
                           PK_MAX_INSTRUCTIONS);
        return 0;
    }
    if (c->n_code == c->cap_code) {
        c->cap_code = c->cap_code ? c->cap_code * 2 : 64;
        c->code = pk_grow(c->code, c->cap_code, sizeof *c->code);
    }
    uint32_t column = n->column < 4095 ? n->column : 4095;
    c->code[c->n_code] = (struct pk_instr){op, n->line << 12 | column, a};
    return c->n_code++;
}

void compile_land(struct compiler *c, uint32_t jump)
{
    if (jump < c->n_code)
        c->code[jump].a = c->n_code;
}

uint32_t compile_type(struct compiler *c, const struct node *n, const struct pk_type *type)
{
    uint32_t index = pk_type(c->tables, type);
    if (index == PK_NO_TYPE)
        return compile_fail(c, n, "there are too many types, or they are too deep");
    return index;
}

uint32_t compile_local(struct compiler *c, const struct node *n, struct pk_text name, uint32_t type)
{
    for (uint32_t i = 0; name.n && i < c->n_visible; i++)
        if (pk_text_is(c->locals[i].name, name))
            return compile_fail(c, n, "%.*s has a meaning here already",
                                (int)(name.n < 60 ? name.n : 60), name.p);
    if (c->n_slots == PK_MAX_LOCALS)
        return compile_fail(c, n, "this function has more than %d local names", PK_MAX_LOCALS);
    c->locals[c->n_visible++] = (struct local){name, type, c->n_slots};
    return c->n_slots++;
}

/* ---- declarations */

static uint32_t name_string(struct compiler *c, struct pk_text name, uint32_t line, uint32_t column)
{
    uint32_t index = pk_string(c->tables, name);
    if (index == UINT32_MAX)
        (void)pk_fail(c->e, line, column, "there are more than %d texts and names", PK_MAX_STRINGS);
    return index;
}

static bool is_builtin(struct pk_text name)
{
    for (int i = 0; i < PK_BUILTINS; i++)
        if (strlen(pk_builtins[i].name) == name.n &&
            memcmp(pk_builtins[i].name, name.p, name.n) == 0)
            return true;
    return false;
}

/* The head of every function, so that each can call each. */
static int declare(struct compiler *c, const struct function *f, uint32_t index)
{
    struct pk_function *out = &c->program->functions[index];
    if (is_builtin(f->name))
        return pk_fail(c->e, f->line, f->column, "%.*s is always there; use another name",
                       (int)f->name.n, f->name.p);
    out->name = name_string(c, f->name, f->line, f->column);
    for (uint32_t i = 0; i < index; i++)
        if (c->program->functions[i].name == out->name)
            return pk_fail(c->e, f->line, f->column, "the function %.*s is declared twice",
                           (int)(f->name.n < 60 ? f->name.n : 60), f->name.p);
    out->n_parameters = f->n_parameters;
    out->result = f->result;
    out->parameters = pk_zalloc(&c->program->arena, (f->n_parameters + 1) * sizeof(uint32_t));
    if (!out->parameters)
        return pk_fail(c->e, f->line, f->column, "the program is too large");
    memcpy(out->parameters, f->parameter_types, f->n_parameters * sizeof(uint32_t));
    return c->e->text[0] ? -1 : 0;
}

static int function(struct compiler *c, const struct function *f, uint32_t index)
{
    struct pk_function *out = &c->program->functions[index];
    c->n_code = c->n_visible = c->n_slots = 0;
    for (uint32_t i = 0; i < f->n_parameters; i++)
        (void)compile_local(c, f->body, f->parameters[i], f->parameter_types[i]);
    if (!compile_need(c, f->body, f->result))
        return -1;
    (void)compile_emit(c, f->body, PK_OP_RETURN, 0);
    if (c->e->text[0])
        return -1;
    out->n_locals = c->n_slots;
    out->n_code = c->n_code;
    out->code = pk_alloc(&c->program->arena, c->n_code * sizeof *out->code);
    if (!out->code)
        return pk_fail(c->e, f->line, f->column, "the program is too large");
    memcpy(out->code, c->code, c->n_code * sizeof *out->code);
    return 0;
}

static int stage(struct compiler *c, const struct item *item, uint32_t *value, uint32_t *out)
{
    const struct pk_function *f = NULL;
    uint32_t name = name_string(c, item->name, item->line, item->column);
    for (uint32_t i = 0; i < c->program->n_functions; i++)
        if (c->program->functions[i].name == name) {
            f = &c->program->functions[i];
            *out = i;
        }
    if (!f || f->n_parameters != 1)
        return pk_fail(c->e, item->line, item->column, "%.*s is no function of one value",
                       (int)(item->name.n < 60 ? item->name.n : 60), item->name.p);
    if (*value != PK_NO_TYPE && *value != f->parameters[0])
        return pk_fail(c->e, item->line, item->column,
                       "this function does not take what the one in front of it gives");
    *value = f->result;
    return 0;
}

static int pipeline(struct compiler *c, const struct pipeline *line, uint32_t index)
{
    struct pk_line *out = &c->program->pipelines[index];
    uint32_t value = PK_NO_TYPE;
    out->name = name_string(c, line->name, line->line, line->column);
    for (uint32_t i = 0; i < index; i++)
        if (c->program->pipelines[i].name == out->name)
            return pk_fail(c->e, line->line, line->column, "this pipeline is declared twice");
    out->stages = pk_zalloc(&c->program->arena, line->stages.n * sizeof *out->stages);
    if (!out->stages)
        return pk_fail(c->e, line->line, line->column, "the program is too large");
    for (const struct item *s = line->stages.first; s; s = s->next)
        if (stage(c, s, &value, &out->stages[out->n++]))
            return -1;
    return c->e->text[0] ? -1 : 0;
}

static int declarations(struct compiler *c)
{
    struct pk_program *p = c->program;
    uint32_t i = 0;
    p->functions = pk_zalloc(&p->arena, c->ast->n_functions * sizeof *p->functions);
    p->pipelines = pk_zalloc(&p->arena, (c->ast->n_pipelines + 1) * sizeof *p->pipelines);
    if (!p->functions || !p->pipelines)
        return pk_fail(c->e, 0, 0, "the program is too large");
    p->n_functions = c->ast->n_functions;
    p->n_pipelines = c->ast->n_pipelines;
    for (const struct function *f = c->ast->functions; f; f = f->next)
        if (declare(c, f, i++))
            return -1;
    i = 0;
    for (const struct function *f = c->ast->functions; f; f = f->next)
        if (function(c, f, i++))
            return -1;
    i = 0;
    for (const struct pipeline *line = c->ast->pipelines; line; line = line->next)
        if (pipeline(c, line, i++))
            return -1;
    return 0;
}

int pk_compile(const struct pk_abi *abi, const char *source, size_t len, struct pk_bytes *out,
               struct pk_err *e)
{
    struct pk_program program = {.arena = {.limit = ARENA_BYTES}};
    struct pk_arena arena = {.limit = ARENA_BYTES};
    struct ast ast = {.arena = &arena, .tables = &program.tables, .e = e};
    struct compiler *c = pk_grow(NULL, 1, sizeof *c);
    *c = (struct compiler){.ast = &ast, .tables = &program.tables, .program = &program, .e = e};
    pk_tables_init(&program.tables, &program.arena);
    int rc = parse(&ast, source, len);
    if (rc == 0)
        rc = declarations(c);
    if (rc == 0)
        rc = pk_verify(&program, e);
    if (rc == 0)
        pk_encode(abi, &program, out);
    if (rc == 0 && out->n > PK_MAX_ARTIFACT_BYTES)
        rc = pk_fail(e, 0, 0, "the artifact would be longer than %d bytes", PK_MAX_ARTIFACT_BYTES);
    free(c->code);
    free(c);
    pk_program_deinit(&program);
    pk_arena_free(&arena);
    return rc;
}
