/* Compile and decode: one at a time, on this thread. */
#include "driver/driver.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "lang/limits.h"

int driver_fail(const struct pk_err *why, struct err *e)
{
    return err_set(e, -EINVAL, "kernel.failed", NULL, "%s", why->text);
}

void driver_put(struct buf *line)
{
    buf_putc(line, '\n');
    (void)file_write_all(1, line->data, line->len);
    buf_clear(line);
}

void driver_put_samples(const char *phase, int64_t worker, const int64_t *ns, size_t n,
                        const char *digest)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct json_out o;

    for (size_t at = 0; at < n; at += SAMPLES_A_LINE) {
        json_out_init(&o, &line);
        json_begin(&o, NULL);
        json_put_str(&o, "samples", phase);
        if (worker >= 0)
            json_put_int(&o, "worker", worker);
        json_begin_array(&o, "ns");
        for (size_t i = at; i < n && i < at + SAMPLES_A_LINE; i++)
            json_put_int(&o, NULL, ns[i]);
        json_end_array(&o);
        if (digest)
            json_put_str(&o, "digest", digest);
        json_end(&o);
        driver_put(&line);
    }
}

static void put_done(const char *phase, const char *count, int64_t n)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct json_out o;

    json_out_init(&o, &line);
    json_begin(&o, NULL);
    json_put_str(&o, "done", phase);
    if (count)
        json_put_int(&o, count, n);
    json_end(&o);
    driver_put(&line);
}

/* Samples with one digest, which are written when another one comes. */
struct gathered {
    int64_t *ns;
    size_t n;
    char digest[2 * PK_DIGEST + 1];
};

static void gather(struct gathered *g, const char *digest, int64_t ns)
{
    if (g->n && strcmp(g->digest, digest) != 0) {
        driver_put_samples("compile", -1, g->ns, g->n, g->digest);
        g->n = 0;
    }
    memcpy(g->digest, digest, sizeof g->digest);
    g->ns[g->n++] = ns;
}

static int compile_once(struct driver *d, const struct buf *source, struct gathered *g,
                        struct err *e)
{
    char hex[2 * PK_DIGEST + 1];
    uint8_t digest[PK_DIGEST];
    struct pk_err why = {0};

    pk_bytes_free(&d->artifact);
    const int64_t start = clock_mono_ns();
    int rc = pk_compile(&d->abi, buf_str(source), source->len, &d->artifact, &why);
    const int64_t end = clock_mono_ns();
    if (rc)
        return driver_fail(&why, e);
    pk_sha256(d->artifact.p, d->artifact.n, digest);
    pk_hex(digest, hex);
    gather(g, hex, end - start);
    return 0;
}

/* The first one and so many more. */
int driver_compile(struct driver *d, const struct driver_request *q, struct err *e)
{
    CLEANUP(buf_deinit) struct buf source = {0};
    struct gathered g = {0};

    int rc = file_read(q->program, PK_MAX_SOURCE_BYTES, &source, e);
    if (rc < 0)
        return rc;
    g.ns = mem_alloc((size_t)(q->iterations + 1) * sizeof *g.ns);
    for (int64_t i = 0; i <= q->iterations && rc == 0; i++)
        rc = compile_once(d, &source, &g, e);
    if (rc == 0) {
        driver_put_samples("compile", -1, g.ns, g.n, g.digest);
        put_done("compile", "artifactBytes", (int64_t)d->artifact.n);
    }
    free(g.ns);
    return rc;
}

static int decode_once(struct driver *d, int64_t *ns, struct err *e)
{
    struct pk_err why = {0};

    pk_program_free(MEM_STEAL(d->program));
    const int64_t start = clock_mono_ns();
    int rc = pk_decode(&d->abi, d->artifact.p, d->artifact.n, &d->program, &why);
    *ns = clock_mono_ns() - start;
    return rc ? driver_fail(&why, e) : 0;
}

int driver_decode(struct driver *d, const struct driver_request *q, struct err *e)
{
    int64_t *ns = mem_alloc((size_t)q->iterations * sizeof *ns);
    int rc = 0;

    for (int64_t i = 0; i < q->iterations && rc == 0; i++)
        rc = decode_once(d, &ns[i], e);
    if (rc == 0) {
        driver_put_samples("decode", -1, ns, (size_t)q->iterations, NULL);
        put_done("decode", NULL, 0);
    }
    free(ns);
    return rc;
}
