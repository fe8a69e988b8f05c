#include "lang/ops.h"

#include <string.h>

#include "lang/limits.h"

#define VARIES PK_VARIES
const struct pk_op_row pk_ops[PK_OPS] = {
#define OP(name, operand, pops, pushes) {#name, PK_A_##operand, #operand, pops, pushes},
#include "lang/ops.def"
#undef OP
};

const struct pk_builtin_row pk_builtins[PK_BUILTINS] = {
#define BUILTIN(id, name, arguments, signature) {#name, arguments, signature},
#include "lang/builtins.def"
#undef BUILTIN
};

static const struct {
    const char *name;
    int64_t value;
} limits[] = {
#define LIMIT(name, value) {#name, value},
#include "lang/limits.def"
#undef LIMIT
};

/* What the tables do not say. A change of meaning is a change of this text. */
static const char meaning[] =
    "types int bool string list map record; int has 64 bits, overflow and division by zero fail; "
    "division rounds towards zero, the remainder has the sign of the dividend; strings are UTF-8 "
    "and compare by bytes; maps are sorted by their keys' bytes; == compares by content; an index "
    "outside fails; every instruction costs one step, copying one more for eight values or bytes; "
    "output is JSON with sorted keys and no white space\n";

static void add_text(struct pk_bytes *b, const char *s)
{
    pk_add(b, s, strlen(s));
}

static void add_int(struct pk_bytes *b, int64_t v)
{
    char text[PK_INT_TEXT];
    add_text(b, " ");
    pk_add(b, text, pk_int_text(v, text));
}

static void digest(struct pk_bytes *b, uint8_t out[PK_DIGEST])
{
    pk_sha256(b->p, b->n, out);
    pk_bytes_free(b);
}

void pk_abi_init(struct pk_abi *abi)
{
    struct pk_bytes b = {0};
    add_text(&b, meaning);
    for (int i = 0; i < PK_BUILTINS; i++) {
        add_text(&b, pk_builtins[i].name);
        add_text(&b, pk_builtins[i].signature);
        add_text(&b, "\n");
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        add_text(&b, limits[i].name);
        add_int(&b, limits[i].value);
        add_text(&b, "\n");
    }
    digest(&b, abi->semantic);
    for (int i = 0; i < PK_OPS; i++) {
        add_text(&b, pk_ops[i].name);
        add_text(&b, " ");
        add_text(&b, pk_ops[i].operand_name);
        add_int(&b, pk_ops[i].pops);
        add_int(&b, pk_ops[i].pushes);
        add_text(&b, "\n");
    }
    digest(&b, abi->opcode);
}
