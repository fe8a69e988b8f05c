/* A source, compiled, decoded and run in one go, for tests of the language. */
#pragma once

#include "../unit.h"

#include "lang/pk.h"

/* Compiles; fails the test when the source is refused. Freed with pk_bytes_free. */
static inline struct pk_bytes compiled(const char *source)
{
    struct pk_bytes out = {0};
    struct pk_err e = {0};
    struct pk_abi abi;
    pk_abi_init(&abi);
    if (pk_compile(&abi, source, strlen(source), &out, &e))
        fail_msg("%s\n%s", e.text, source);
    return out;
}

static inline struct pk_program *decoded(const struct pk_bytes *artifact)
{
    struct pk_program *p = NULL;
    struct pk_err e = {0};
    struct pk_abi abi;
    pk_abi_init(&abi);
    if (pk_decode(&abi, artifact->p, artifact->n, &p, &e))
        fail_msg("%s", e.text);
    return p;
}

/* Runs the entry over the JSON text; "!sentence" when it fails. malloc'd. */
static inline char *ran(const char *source, enum pk_kind kind, const char *name, const char *input)
{
    struct pk_bytes artifact = compiled(source), json = {0};
    struct pk_program *p = decoded(&artifact);
    struct pk_state *s = pk_state_new();
    struct pk_value in, out;
    struct pk_entry entry;
    struct pk_err e = {0};
    char *text = NULL;
    if (pk_find(p, name, kind, &entry, &e) ||
        pk_input(s, p, &entry, input, strlen(input), &in, &e) ||
        pk_dispatch(s, p, &entry, &in, &out, &e) || pk_output(p, &entry, &out, &json, &e))
        assert_true(asprintf(&text, "!%s", e.text) > 0);
    else
        assert_true(asprintf(&text, "%.*s", (int)json.n, (const char *)json.p) >= 0);
    pk_state_free(s);
    pk_program_free(p);
    pk_bytes_free(&artifact);
    pk_bytes_free(&json);
    return text;
}

static inline void gives(const char *source, const char *input, const char *wanted)
{
    char *text = ran(source, PK_FUNCTION, "main", input);
    assert_string_equal(text, wanted);
    free(text);
}

/* fn main(x: TYPE): RESULT { BODY } */
static inline void body_gives(const char *type, const char *result, const char *body,
                              const char *input, const char *wanted)
{
    char *source = NULL;
    assert_true(asprintf(&source, "fn main(x: %s): %s { %s }", type, result, body) > 0);
    gives(source, input, wanted);
    free(source);
}

static inline void refused(const char *source, const char *sentence)
{
    struct pk_bytes out = {0};
    struct pk_err e = {0};
    struct pk_abi abi;
    pk_abi_init(&abi);
    if (pk_compile(&abi, source, strlen(source), &out, &e) == 0)
        fail_msg("not refused: %s", source);
    assert_string_equal(e.text, sentence);
    assert_int_equal(out.n, 0);
    pk_bytes_free(&out);
}

/* A file of the workload's folder, malloc'd. */
static inline char *example(const char *name)
{
    char *path = NULL, *text = calloc(1, 65536);
    assert_true(asprintf(&path, KERNEL_DIR "/example/%s", name) > 0);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, 65535, f) > 0);
    assert_int_equal(fclose(f), 0);
    free(path);
    return text;
}
