#include "driver/driver.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/files.h"
#include "base/mem.h"
#include "lang/limits.h"

#define LINE_MAX_BYTES ((size_t)8 << 20)

static void put_hex(struct json_out *o, const char *key, const uint8_t digest[PK_DIGEST])
{
    char hex[2 * PK_DIGEST + 1];
    pk_hex(digest, hex);
    json_put_str(o, key, hex);
}

/* The first line: who this is and what its artifacts depend on. */
static void hello(const struct driver *d)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct utsname machine = {0};
    struct json_out o;

    (void)uname(&machine);
    json_out_init(&o, &line);
    json_begin(&o, NULL);
    json_put_int(&o, "kernelDriver", 1);
    json_put_str(&o, "name", "aurabench-kernel");
    json_put_str(&o, "version", AURABENCH_VERSION);
    json_put_str(&o, "target", "native");
    json_put_str(&o, "kernelVersion", PK_KERNEL_VERSION);
    json_put_int(&o, "artifactFormatVersion", PK_FORMAT_VERSION);
    put_hex(&o, "semanticAbiFingerprint", d->abi.semantic);
    put_hex(&o, "opcodeAbiFingerprint", d->abi.opcode);
    json_put_str(&o, "buildProfile", KERNEL_PROFILE);
    json_put_str(&o, "os", KERNEL_OS);
    json_put_str(&o, "arch", machine.machine[0] ? machine.machine : "unknown");
    json_put_null(&o, "initializationNs");
    json_end(&o);
    driver_put(&line);
}

static int perform(struct driver *d, const struct driver_request *q, struct err *e)
{
    switch (q->kind) {
    case DO_COMPILE:
        return driver_compile(d, q, e);
    case DO_DECODE:
        return driver_decode(d, q, e);
    case DO_DISPATCH:
        return driver_dispatch(d, q, e);
    case DO_END:
        break;
    }
    return 0;
}

static void put_error(const struct err *e)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct json_out o;

    json_out_init(&o, &line);
    json_begin(&o, NULL);
    json_put_str(&o, "error", e->text);
    json_end(&o);
    driver_put(&line);
}

/* Requests until the end: 0, or 1 after a failure, which ends the talk. */
static int talk(struct driver *d)
{
    CLEANUP(mem_freep) char *line = NULL;
    size_t cap = 0;

    hello(d);
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        struct driver_request q = {0};
        struct arena a = {0};
        struct err e = {0};
        int rc = (size_t)n > LINE_MAX_BYTES
                     ? err_set(&e, -EINVAL, "usage", NULL, "a request of more than 8 MiB")
                     : driver_request(&a, line, (size_t)n, &q, &e);
        if (rc == 0)
            rc = perform(d, &q, &e);
        if (rc < 0)
            put_error(&e);
        arena_deinit(&a);
        if (rc < 0 || q.kind == DO_END)
            return rc < 0;
    }
    return 0;
}

static int say(const char *path, const char *text)
{
    (void)fprintf(stderr, "aurabench-kernel: %s%s%s\n", path, path[0] ? ": " : "", text);
    return 1;
}

/* compile FILE: the artifact to stdout. */
static int compile_file(struct driver *d, const char *path)
{
    CLEANUP(buf_deinit) struct buf source = {0};
    struct pk_err why = {0};
    struct err e = {0};

    if (file_read(path, PK_MAX_SOURCE_BYTES, &source, &e) < 0)
        return say("", e.text);
    if (pk_compile(&d->abi, buf_str(&source), source.len, &d->artifact, &why))
        return say(path, why.text);
    int rc = file_write_all(1, d->artifact.p, d->artifact.n);
    return rc < 0 ? say("stdout", strerror(-rc)) : 0;
}

int main(int argc, char **argv)
{
    struct driver d = {0};
    int status = 2;

    pk_abi_init(&d.abi);
    if (argc == 1)
        status = talk(&d);
    else if (argc == 3 && strcmp(argv[1], "compile") == 0)
        status = compile_file(&d, argv[2]);
    else if (argc == 2 && strcmp(argv[1], "--version") == 0)
        status = printf("aurabench-kernel %s\n", AURABENCH_VERSION) < 0;
    else
        (void)say("", "started by aurabench kernel, which talks to it over stdin and stdout; or: "
                      "aurabench-kernel compile FILE");
    pk_program_free(d.program);
    pk_bytes_free(&d.artifact);
    return status;
}
