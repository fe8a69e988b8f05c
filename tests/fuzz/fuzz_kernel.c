/* The portable kernel: source text and artifact bytes. Whatever is compiled decodes, twice to the
 * same bytes; whatever decodes runs to a value or a sentence, and its output is canonical JSON. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "lang/pk.h"
#include "proto/json/json.h"

#define STEPS 20000 /* few: a program without an end is tried often */

static void must_be_sentence(const struct pk_err *e)
{
    MUST(e->text[0]);
    fuzz_must_be_text(e->text);
}

static void output_must_be_canonical(const struct pk_bytes *json)
{
    struct buf canonical = {0};
    struct err e = {0};
    /* Numbers beyond 2^53 and deep values are good here and not in a document. */
    if (json_canonical((const char *)json->p, json->n, &canonical, &e) == 0)
        MUST(canonical.len == json->n + 1 && memcmp(canonical.data, json->p, json->n) == 0);
    buf_deinit(&canonical);
}

static void run(const struct pk_program *p, const char *name, enum pk_kind kind, const char *input)
{
    struct pk_state *s = pk_state_new();
    struct pk_bytes json = {0};
    struct pk_value in, out, again;
    struct pk_entry entry;
    struct pk_err e = {0};

    pk_state_fuel(s, STEPS);
    int rc = pk_find(p, name, kind, &entry, &e);
    if (rc == 0)
        rc = pk_input(s, p, &entry, input, strlen(input), &in, &e);
    if (rc == 0)
        rc = pk_dispatch(s, p, &entry, &in, &out, &e);
    if (rc == 0)
        rc = pk_output(p, &entry, &out, &json, &e);
    if (rc == 0) {
        struct pk_state *other = pk_state_new();
        output_must_be_canonical(&json);
        MUST(pk_dispatch(other, p, &entry, &in, &again, &e) == 0, "%s", e.text);
        MUST(pk_same(&out, &again));
        pk_state_free(other);
        fuzz_count_good();
    } else {
        must_be_sentence(&e);
    }
    pk_bytes_free(&json);
    pk_state_free(s);
}

static void decode_and_run(const struct pk_abi *abi, const uint8_t *bytes, size_t n, bool must,
                           const char *input)
{
    struct pk_program *p = NULL;
    struct pk_err e = {0};

    if (pk_decode(abi, bytes, n, &p, &e) == 0) {
        run(p, "main", PK_FUNCTION, input);
        run(p, "p", PK_PIPELINE, input);
    } else {
        MUST(!must && !p, "%s", e.text);
        must_be_sentence(&e);
    }
    pk_program_free(p);
}

static void compile(const struct pk_abi *abi, const char *source, size_t n, const char *input)
{
    struct pk_bytes first = {0}, second = {0};
    struct pk_err e = {0};

    if (pk_compile(abi, source, n, &first, &e) == 0) {
        MUST(pk_compile(abi, source, n, &second, &e) == 0);
        MUST(first.n == second.n && memcmp(first.p, second.p, first.n) == 0);
        decode_and_run(abi, first.p, first.n, true, input);
    } else {
        must_be_sentence(&e);
        MUST(first.n == 0);
    }
    pk_bytes_free(&first);
    pk_bytes_free(&second);
}

/* The rest of an artifact behind its head, with a head and a sum that fit. */
static void artifact(const struct pk_abi *abi, const uint8_t *rest, size_t n, const char *input)
{
    static const uint8_t head[8] = {'A', 'K', 'P', 'K', PK_FORMAT_VERSION};
    const size_t all = sizeof head + sizeof *abi + n + PK_DIGEST;
    uint8_t *bytes = mem_alloc(all);

    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, abi, sizeof *abi);
    if (n)
        memcpy(bytes + sizeof head + sizeof *abi, rest, n);
    pk_sha256(bytes, all - PK_DIGEST, bytes + all - PK_DIGEST);
    decode_and_run(abi, bytes, all, false, input);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct pk_abi abi;
    const uint8_t how = fuzz_byte(&in) % 3;
    char *input = fuzz_line(&in);

    pk_abi_init(&abi);
    if (how == 0)
        compile(&abi, (const char *)in.at, in.left, input);
    else if (how == 1)
        artifact(&abi, in.at, in.left, input);
    else
        decode_and_run(&abi, in.at, in.left, false, input);
    free(input);
    return 0;
}
