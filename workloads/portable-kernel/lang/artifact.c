/* The bytes of a program. All numbers are little endian, 4 bytes each where nothing else is said:
 *
 *   "AKPK", format version, semantic fingerprint (32 bytes), opcode fingerprint (32)
 *   strings: count, then length and bytes of each, in order of first use
 *   types: count, then kind (1 byte) and, of a list or map, the element; of a record, the number
 *          of fields and name and type of each, by the bytes of the names; what a type is made of
 *          stands before it, and the simple types are the first three
 *   functions: count, then name, number of parameters and their types, result, locals, number of
 *          instructions and each: opcode (1), place in the source, operand (none, 4, or 8 bytes)
 *   pipelines: count, then name, number of functions, and each
 *   SHA-256 of everything before
 */
#include <stdlib.h>
#include <string.h>

#include "lang/program.h"

static const char MAGIC[4] = {'A', 'K', 'P', 'K'};

/* ---- writing */

static void put_tables(const struct pk_tables *t, struct pk_bytes *out)
{
    pk_add_u32(out, t->n_strings);
    for (uint32_t i = 0; i < t->n_strings; i++) {
        pk_add_u32(out, t->strings[i].n);
        pk_add(out, t->strings[i].p, t->strings[i].n);
    }
    pk_add_u32(out, t->n_types);
    for (uint32_t i = 0; i < t->n_types; i++) {
        const struct pk_type *type = &t->types[i];
        pk_add_u8(out, (uint8_t)type->kind);
        if (type->kind == PK_T_LIST || type->kind == PK_T_MAP)
            pk_add_u32(out, type->element);
        if (type->kind != PK_T_RECORD)
            continue;
        pk_add_u32(out, type->n);
        for (uint32_t k = 0; k < type->n; k++) {
            pk_add_u32(out, type->fields[k].name);
            pk_add_u32(out, type->fields[k].type);
        }
    }
}

static void put_function(const struct pk_function *f, struct pk_bytes *out)
{
    pk_add_u32(out, f->name);
    pk_add_u32(out, f->n_parameters);
    for (uint32_t i = 0; i < f->n_parameters; i++)
        pk_add_u32(out, f->parameters[i]);
    pk_add_u32(out, f->result);
    pk_add_u32(out, f->n_locals);
    pk_add_u32(out, f->n_code);
    for (uint32_t i = 0; i < f->n_code; i++) {
        const struct pk_instr *in = &f->code[i];
        pk_add_u8(out, (uint8_t)in->op);
        pk_add_u32(out, in->at);
        if (pk_ops[in->op].operand == PK_A_WHOLE)
            pk_add_i64(out, in->a);
        else if (pk_ops[in->op].operand != PK_A_NONE)
            pk_add_u32(out, (uint32_t)in->a);
    }
}

void pk_encode(const struct pk_abi *abi, const struct pk_program *p, struct pk_bytes *out)
{
    uint8_t sum[PK_DIGEST];
    pk_add(out, MAGIC, sizeof MAGIC);
    pk_add_u32(out, PK_FORMAT_VERSION);
    pk_add(out, abi->semantic, PK_DIGEST);
    pk_add(out, abi->opcode, PK_DIGEST);
    put_tables(&p->tables, out);
    pk_add_u32(out, p->n_functions);
    for (uint32_t i = 0; i < p->n_functions; i++)
        put_function(&p->functions[i], out);
    pk_add_u32(out, p->n_pipelines);
    for (uint32_t i = 0; i < p->n_pipelines; i++) {
        pk_add_u32(out, p->pipelines[i].name);
        pk_add_u32(out, p->pipelines[i].n);
        for (uint32_t k = 0; k < p->pipelines[i].n; k++)
            pk_add_u32(out, p->pipelines[i].stages[k]);
    }
    pk_sha256(out->p, out->n, sum);
    pk_add(out, sum, sizeof sum);
}

void pk_program_deinit(struct pk_program *p)
{
    pk_tables_free(&p->tables);
    pk_arena_free(&p->arena);
}

void pk_program_free(struct pk_program *p)
{
    if (!p)
        return;
    pk_program_deinit(p);
    free(p);
}
