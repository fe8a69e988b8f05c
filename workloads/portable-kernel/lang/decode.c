/* Bytes -> program. Nothing of them is believed: counts are held against what is left before
 * memory is taken, every number against what it names, and the sum over all against the end. */
#include <stdlib.h>
#include <string.h>

#include "lang/program.h"

#define ARENA_BYTES ((size_t)256 << 20)
#define HEAD (4 + 4 + 2 * PK_DIGEST)

struct reader {
    const uint8_t *p;
    size_t left;
    struct pk_program *program;
    struct pk_err *e;
};

static int refuse(struct reader *r, const char *what)
{
    return pk_fail(r->e, 0, 0, "the artifact is refused: %s", what);
}

static const uint8_t *take(struct reader *r, size_t n)
{
    if (r->left < n) {
        (void)refuse(r, "it is cut off");
        return NULL;
    }
    const uint8_t *p = r->p;
    r->p += n;
    r->left -= n;
    return p;
}

static uint32_t take_u32(struct reader *r)
{
    const uint8_t *p = take(r, 4);
    return p ? p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24 : 0;
}

/* A number of things of at least so many bytes. */
static uint32_t take_count(struct reader *r, uint32_t most, size_t each)
{
    uint32_t n = take_u32(r);
    if (n > most || n > r->left / each) {
        (void)refuse(r, "it counts more than it holds");
        return 0;
    }
    return n;
}

/* A number below n. */
static uint32_t take_index(struct reader *r, uint32_t n)
{
    uint32_t i = take_u32(r);
    if (i < n)
        return i;
    (void)refuse(r, "it names something that it does not hold");
    return 0;
}

static void *make(struct reader *r, size_t count, size_t size)
{
    void *p = pk_zalloc(&r->program->arena, (count ? count : 1) * size);
    if (!p)
        (void)refuse(r, "it is too large");
    return p;
}

static bool failed(const struct reader *r)
{
    return r->e->text[0] != '\0';
}

/* ---- tables */

static void read_string(struct reader *r)
{
    struct pk_tables *t = &r->program->tables;
    uint32_t n = take_count(r, PK_MAX_STRING_BYTES, 1);
    const uint8_t *p = take(r, n);
    char *copy = p ? make(r, n, 1) : NULL;
    if (!copy)
        return;
    memcpy(copy, p, n);
    if (pk_utf8(copy, n) != n || memchr(copy, 0, n)) {
        (void)refuse(r, "a string is not UTF-8");
        return;
    }
    const uint32_t at = t->n_strings;
    if (pk_string(t, (struct pk_text){copy, n}) != at)
        (void)refuse(r, "a string is there twice");
}

static void read_fields(struct reader *r, struct pk_type *type)
{
    const struct pk_tables *t = &r->program->tables;
    type->n = take_count(r, PK_MAX_FIELDS, 8);
    for (uint32_t i = 0; i < type->n && !failed(r); i++) {
        type->fields[i].name = take_index(r, t->n_strings);
        type->fields[i].type = take_index(r, t->n_types);
        if (!failed(r) && i > 0 &&
            pk_text_order(t->strings[type->fields[i - 1].name], t->strings[type->fields[i].name]) >=
                0)
            (void)refuse(r, "fields are not in order");
    }
}

static void read_type(struct reader *r)
{
    struct pk_tables *t = &r->program->tables;
    struct pk_field fields[PK_MAX_FIELDS] = {0};
    struct pk_type type = {.fields = fields};
    const uint32_t at = t->n_types;
    const uint8_t *kind = take(r, 1);
    if (!kind)
        return;
    if (*kind > PK_T_RECORD || (at < PK_T_SIMPLE) != (*kind < PK_T_SIMPLE)) {
        (void)refuse(r, "a type is unknown or out of place");
        return;
    }
    type.kind = (enum pk_type_kind) * kind;
    if (type.kind == PK_T_LIST || type.kind == PK_T_MAP)
        type.element = take_index(r, t->n_types);
    if (type.kind == PK_T_RECORD)
        read_fields(r, &type);
    if (!failed(r) && pk_type(t, &type) != at)
        (void)refuse(r, "a type is there twice, or too deep");
}

/* ---- functions */

static void read_instr(struct reader *r, struct pk_instr *out)
{
    const uint8_t *op = take(r, 1);
    if (!op)
        return;
    if (*op >= PK_OPS) {
        (void)refuse(r, "an opcode is unknown");
        return;
    }
    out->op = *op;
    out->at = take_u32(r);
    if (pk_ops[*op].operand == PK_A_NONE)
        return;
    uint64_t low = take_u32(r);
    out->a = (int64_t)low;
    if (pk_ops[*op].operand == PK_A_WHOLE)
        out->a = (int64_t)(low | (uint64_t)take_u32(r) << 32);
}

static void read_function(struct reader *r, struct pk_function *f)
{
    const struct pk_tables *t = &r->program->tables;
    f->name = take_index(r, t->n_strings);
    f->n_parameters = take_count(r, PK_MAX_PARAMETERS, 4);
    f->parameters = make(r, f->n_parameters, sizeof *f->parameters);
    for (uint32_t i = 0; i < f->n_parameters && !failed(r); i++)
        f->parameters[i] = take_index(r, t->n_types);
    f->result = take_index(r, t->n_types);
    f->n_locals = take_u32(r);
    f->n_code = take_count(r, PK_MAX_INSTRUCTIONS, 5);
    f->code = failed(r) ? NULL : make(r, f->n_code, sizeof *f->code);
    for (uint32_t i = 0; i < f->n_code && !failed(r); i++)
        read_instr(r, &f->code[i]);
}

static void read_pipeline(struct reader *r, struct pk_line *line)
{
    const struct pk_program *p = r->program;
    uint32_t value = PK_NO_TYPE;
    line->name = take_index(r, p->tables.n_strings);
    line->n = take_count(r, PK_MAX_STAGES, 4);
    line->stages = make(r, line->n, sizeof *line->stages);
    for (uint32_t i = 0; i < line->n && !failed(r); i++) {
        line->stages[i] = take_index(r, p->n_functions);
        const struct pk_function *f = &p->functions[line->stages[i]];
        if (f->n_parameters != 1 || (i > 0 && f->parameters[0] != value))
            (void)refuse(r, "a pipeline's functions do not fit each other");
        value = f->result;
    }
    if (line->n == 0)
        (void)refuse(r, "a pipeline is empty");
}

static void check_names(struct reader *r)
{
    const struct pk_program *p = r->program;
    for (uint32_t i = 0; i < p->n_functions; i++)
        for (uint32_t k = 0; k < i; k++)
            if (p->functions[i].name == p->functions[k].name)
                (void)refuse(r, "a function is there twice");
    for (uint32_t i = 0; i < p->n_pipelines; i++)
        for (uint32_t k = 0; k < i; k++)
            if (p->pipelines[i].name == p->pipelines[k].name)
                (void)refuse(r, "a pipeline is there twice");
}

static void read_program(struct reader *r)
{
    struct pk_program *p = r->program;
    uint32_t n = take_count(r, PK_MAX_STRINGS, 4);
    for (uint32_t i = 0; i < n && !failed(r); i++)
        read_string(r);
    n = take_count(r, PK_MAX_TYPES, 1);
    for (uint32_t i = 0; i < n && !failed(r); i++)
        read_type(r);
    if (!failed(r) && n < PK_T_SIMPLE)
        (void)refuse(r, "a simple type is missing");
    p->n_functions = take_count(r, PK_MAX_FUNCTIONS, 20);
    p->functions = make(r, p->n_functions, sizeof *p->functions);
    for (uint32_t i = 0; i < p->n_functions && !failed(r); i++)
        read_function(r, &p->functions[i]);
    p->n_pipelines = take_count(r, PK_MAX_PIPELINES, 8);
    p->pipelines = make(r, p->n_pipelines, sizeof *p->pipelines);
    for (uint32_t i = 0; i < p->n_pipelines && !failed(r); i++)
        read_pipeline(r, &p->pipelines[i]);
    if (!failed(r) && r->left)
        (void)refuse(r, "something stands behind its end");
    if (!failed(r))
        check_names(r);
    if (!failed(r))
        (void)pk_verify(p, r->e);
}

static int check_head(struct reader *r, const struct pk_abi *abi)
{
    uint8_t sum[PK_DIGEST];
    const uint8_t *start = r->p;
    if (r->left < HEAD + PK_DIGEST || memcmp(start, "AKPK", 4) != 0)
        return refuse(r, "it is no artifact of this kernel");
    if (r->left > PK_MAX_ARTIFACT_BYTES)
        return refuse(r, "it is too long");
    r->left -= PK_DIGEST;
    pk_sha256(start, r->left, sum);
    if (memcmp(start + r->left, sum, PK_DIGEST) != 0)
        return refuse(r, "its bytes are not those that were written");
    (void)take(r, 4);
    if (take_u32(r) != PK_FORMAT_VERSION)
        return refuse(r, "it has another format version; compile the source again");
    if (memcmp(take(r, PK_DIGEST), abi->semantic, PK_DIGEST) != 0 ||
        memcmp(take(r, PK_DIGEST), abi->opcode, PK_DIGEST) != 0)
        return refuse(r, "it was made for another kernel; compile the source again");
    return 0;
}

int pk_decode(const struct pk_abi *abi, const uint8_t *bytes, size_t len, struct pk_program **out,
              struct pk_err *e)
{
    struct pk_program *p = pk_grow(NULL, 1, sizeof *p);
    struct reader r = {.p = bytes, .left = len, .program = p, .e = e};
    *p = (struct pk_program){.arena = {.limit = ARENA_BYTES}};
    p->tables.arena = &p->arena;
    *out = NULL;
    if (check_head(&r, abi) == 0)
        read_program(&r);
    if (failed(&r)) {
        pk_program_free(p);
        return -1;
    }
    *out = p;
    return 0;
}
