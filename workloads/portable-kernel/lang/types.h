/* Types and strings of a program: each once, known by its number. Shared by compiler, artifact and
 * execution. */
#pragma once

#include "lang/limits.h"
#include "lang/mem.h"

enum pk_type_kind { PK_T_INT, PK_T_BOOL, PK_T_STRING, PK_T_LIST, PK_T_MAP, PK_T_RECORD };
#define PK_T_SIMPLE 3 /* the first three types are the first three kinds, in every program */
#define PK_NO_TYPE UINT32_MAX

struct pk_field {
    uint32_t name; /* a string */
    uint32_t type;
};

struct pk_type {
    enum pk_type_kind kind;
    uint32_t element; /* of a list or map */
    uint32_t depth;   /* 1 for a simple one */
    uint32_t n;       /* fields of a record, by the bytes of their names */
    struct pk_field *fields;
};

/* Of a program: owned by arena. */
struct pk_tables {
    struct pk_arena *arena;
    struct pk_text *strings;
    uint32_t n_strings, cap_strings;
    struct pk_type *types;
    uint32_t n_types, cap_types;
};
void pk_tables_init(struct pk_tables *t, struct pk_arena *arena); /* with the simple types */
void pk_tables_free(struct pk_tables *t);

/* The number of a string; UINT32_MAX when there are too many. The bytes must stay. */
uint32_t pk_string(struct pk_tables *t, struct pk_text text);
/* The number of a type like this one, PK_NO_TYPE when there are too many, or too deep ones. fields
 * are sorted by name, copied. */
uint32_t pk_type(struct pk_tables *t, const struct pk_type *like);
/* The field of a record type; n where it has none. */
uint32_t pk_field_index(const struct pk_tables *t, const struct pk_type *record,
                        struct pk_text name);
/* How a person writes the type, into out; cut off where it is long. */
#define PK_TYPE_TEXT 96
const char *pk_type_text(const struct pk_tables *t, uint32_t type, char out[PK_TYPE_TEXT]);
