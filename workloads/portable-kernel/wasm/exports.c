/* The language and the statistics for a page: what JavaScript calls. One instance is one thread;
 * several have nothing in common, as workers should not. The module imports nothing: no clock, no
 * file, no random number.
 *
 * Whoever calls puts bytes where kernel_alloc says. A call returns 0, or 1 when it was refused;
 * what it made, or the sentence that says why not, lies at kernel_result until the next call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/kernel/kernel.h"
#include "lang/pk.h"

#define EXPORT(name) __attribute__((export_name(#name), used)) name

static struct pk_bytes result;
static struct pk_program *program;
static struct pk_state *state;

static void set_result(const void *p, size_t n)
{
    free(result.p);
    result = (struct pk_bytes){malloc(n + 1), n, n + 1};
    if (!result.p)
        abort();
    memcpy(result.p, p, n);
}

static uint32_t refused(const struct pk_err *e)
{
    set_result(e->text, strlen(e->text));
    return 1;
}

static uint32_t finished(struct pk_bytes *made, int rc, const struct pk_err *e)
{
    if (rc == 0)
        set_result(made->p ? (const char *)made->p : "", made->n);
    pk_bytes_free(made);
    return rc ? refused(e) : 0;
}

void *EXPORT(kernel_alloc)(size_t n);
void *kernel_alloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        abort();
    return p;
}

void EXPORT(kernel_free)(void *p);
void kernel_free(void *p)
{
    free(p);
}

const uint8_t *EXPORT(kernel_result)(void);
const uint8_t *kernel_result(void)
{
    return result.p;
}

size_t EXPORT(kernel_result_bytes)(void);
size_t kernel_result_bytes(void)
{
    return result.n;
}

/* What a receipt says of the kernel, as JSON text. */
void EXPORT(kernel_about)(void);
void kernel_about(void)
{
    char semantic[2 * PK_DIGEST + 1], opcode[2 * PK_DIGEST + 1], text[400];
    struct pk_abi abi;
    pk_abi_init(&abi);
    pk_hex(abi.semantic, semantic);
    pk_hex(abi.opcode, opcode);
    int n = snprintf(text, sizeof text,
                     "{\"version\":\"%s\",\"kernelVersion\":\"%s\",\"artifactFormatVersion\":%d,"
                     "\"semanticAbiFingerprint\":\"%s\",\"opcodeAbiFingerprint\":\"%s\"}",
                     AURABENCH_VERSION, PK_KERNEL_VERSION, PK_FORMAT_VERSION, semantic, opcode);
    set_result(text, (size_t)n);
}

uint32_t EXPORT(kernel_compile)(const char *source, size_t n);
uint32_t kernel_compile(const char *source, size_t n)
{
    struct pk_bytes made = {0};
    struct pk_err e = {0};
    struct pk_abi abi;
    pk_abi_init(&abi);
    return finished(&made, pk_compile(&abi, source, n, &made, &e), &e);
}

/* The program stays for kernel_dispatch. */
uint32_t EXPORT(kernel_decode)(const uint8_t *artifact, size_t n);
uint32_t kernel_decode(const uint8_t *artifact, size_t n)
{
    struct pk_err e = {0};
    struct pk_abi abi;
    pk_abi_init(&abi);
    pk_program_free(program);
    pk_state_free(state);
    program = NULL;
    state = NULL;
    if (pk_decode(&abi, artifact, n, &program, &e))
        return refused(&e);
    state = pk_state_new();
    return 0;
}

/* One JSON value in, one out. entry is a string that ends with a NUL; pipeline 0: a function. */
uint32_t EXPORT(kernel_dispatch)(const char *entry, uint32_t pipeline, const char *input, size_t n);
uint32_t kernel_dispatch(const char *entry, uint32_t pipeline, const char *input, size_t n)
{
    struct pk_bytes made = {0};
    struct pk_value in, out;
    struct pk_entry found;
    struct pk_err e = {0};
    if (!program) {
        set_result("nothing is decoded", 18);
        return 1;
    }
    int rc = pk_find(program, entry, pipeline ? PK_PIPELINE : PK_FUNCTION, &found, &e);
    if (rc == 0)
        rc = pk_input(state, program, &found, input, n, &in, &e);
    if (rc == 0)
        rc = pk_dispatch(state, program, &found, &in, &out, &e);
    if (rc == 0)
        rc = pk_output(program, &found, &out, &made, &e);
    pk_state_clear(state);
    return finished(&made, rc, &e);
}

/* What a page calls a start: artifact and JSON in, JSON out, all of it. */
uint32_t EXPORT(kernel_start)(const uint8_t *artifact, size_t artifact_n, const char *entry,
                              uint32_t pipeline, const char *input, size_t n);
uint32_t kernel_start(const uint8_t *artifact, size_t artifact_n, const char *entry,
                      uint32_t pipeline, const char *input, size_t n)
{
    return kernel_decode(artifact, artifact_n) || kernel_dispatch(entry, pipeline, input, n);
}

/* SHA-256, 32 bytes. */
void EXPORT(kernel_sha256)(const void *p, size_t n);
void kernel_sha256(const void *p, size_t n)
{
    uint8_t digest[PK_DIGEST];
    pk_sha256(p, n, digest);
    set_result(digest, sizeof digest);
}

/* The statistics of n samples in ns, which it sorts: iterations as an i64, and then seven doubles
 * in the order of struct kernel_stats. */
void EXPORT(kernel_statistics)(int64_t *ns, size_t n);
void kernel_statistics(int64_t *ns, size_t n)
{
    struct arena a = {0};
    struct kernel_stats stats;
    kernel_stats_of(&a, ns, n, &stats);
    set_result(&stats, sizeof stats);
    arena_deinit(&a);
}
