/* A small pure language: source text -> artifact bytes -> a verified, immutable program -> a value.
 *
 * No part of it makes a system call, reads a clock or keeps anything between two calls: the same
 * source gives the same bytes in every process, and a program may be run by any number of threads
 * at once, each with a state of its own. Needs only malloc and the string functions of a C library.
 *
 * Functions return 0, or -1 with *e filled: one sentence, and the line and column (from 1) where
 * there is one, else 0. Running out of memory aborts; sizes are bounded by pk_limits.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PK_KERNEL_VERSION "1.0.0"
#define PK_FORMAT_VERSION 1
#define PK_DIGEST 32

struct pk_err {
    uint32_t line, column;
    char text[240]; /* "line 3, column 9: ..."; empty: no error */
};

/* A growing string of bytes, owned by its holder; zeroed is empty. */
struct pk_bytes {
    uint8_t *p;
    size_t n, cap;
};
void pk_bytes_free(struct pk_bytes *b);

/* What an artifact depends on beside its source: hashes over the meaning of the language (types,
 * functions, limits) and over the opcodes. An artifact with others is refused. */
struct pk_abi {
    uint8_t semantic[PK_DIGEST], opcode[PK_DIGEST];
};
void pk_abi_init(struct pk_abi *abi);

/* Appends the artifact to an empty *out. */
int pk_compile(const struct pk_abi *abi, const char *source, size_t len, struct pk_bytes *out,
               struct pk_err *e);

/* Everything in it is checked: whatever the bytes are, they are refused or safe to run. The bytes
 * may go afterwards. */
struct pk_program;
int pk_decode(const struct pk_abi *abi, const uint8_t *bytes, size_t len, struct pk_program **out,
              struct pk_err *e);
void pk_program_free(struct pk_program *p); /* NULL is fine */

/* How an entry is found: by its kind and name. A function must take one value; a pipeline hands
 * the value through its functions. */
enum pk_kind { PK_FUNCTION, PK_PIPELINE };
struct pk_entry {
    enum pk_kind kind;
    uint32_t index;
    uint32_t input_type, output_type;
};
int pk_find(const struct pk_program *p, const char *name, enum pk_kind kind, struct pk_entry *out,
            struct pk_err *e);

/* A value: never changed once made. Strings and items lie in the memory of a state or a program. */
enum pk_tag { PK_INT, PK_BOOL, PK_STRING, PK_LIST, PK_MAP, PK_RECORD };
struct pk_value {
    uint32_t tag;
    uint32_t n; /* bytes of a string, items of a list or record, pairs of a map */
    union {
        int64_t i;
        const char *s;
        const struct pk_value *v; /* a map's: key, value, key, value, by the keys' bytes */
    } as;
};

/* What one thread runs programs with: stack, memory, fuel. */
struct pk_state;
struct pk_state *pk_state_new(void);
/* From now on a dispatch may take so many steps, at most those of the language. */
void pk_state_fuel(struct pk_state *s, int64_t steps);
/* Forgets all inputs and the value of the last dispatch. */
void pk_state_clear(struct pk_state *s);
void pk_state_free(struct pk_state *s); /* NULL is fine */

/* Reads one JSON value as the entry's type. It stays until the state is cleared or freed. */
int pk_input(struct pk_state *s, const struct pk_program *p, const struct pk_entry *entry,
             const char *json, size_t len, struct pk_value *out, struct pk_err *e);
/* Runs the entry. *out stays until the state's next dispatch. */
int pk_dispatch(struct pk_state *s, const struct pk_program *p, const struct pk_entry *entry,
                const struct pk_value *input, struct pk_value *out, struct pk_err *e);
/* Appends the value as canonical JSON: keys by their bytes, no white space, one form of strings. */
int pk_output(const struct pk_program *p, const struct pk_entry *entry,
              const struct pk_value *value, struct pk_bytes *out, struct pk_err *e);

void pk_sha256(const void *data, size_t len, uint8_t out[PK_DIGEST]);
void pk_hex(const uint8_t digest[PK_DIGEST], char out[2 * PK_DIGEST + 1]);

/* Two values of one type say the same. They may belong to different states. */
bool pk_same(const struct pk_value *a, const struct pk_value *b);
