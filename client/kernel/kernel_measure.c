#include "client/kernel/kernel_measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/mem.h"
#include "client/git/suite_dir.h"
#include "client/kernel/kernel_driver.h"
#include "proto/wire/kernel_wire.h"

#define INPUT_BYTES_MAX ((size_t)1 << 20)

/* ---- what asks for another boundary */

/* Each makes a program measure itself, in the driver's process, while it is timed. */
static const char *const profilers[] = {
    "HARN_PROFILE",      "HARN_PROFILE_JSON", "LD_PROFILE",       "LD_AUDIT",
    "CPUPROFILE",        "HEAPPROFILE",       "HEAPCHECK",        "GMON_OUT_PREFIX",
    "LLVM_PROFILE_FILE", "MALLOC_TRACE",      "NODE_V8_COVERAGE", "PYTHONPROFILEIMPORTTIME",
    "PYTHONTRACEMALLOC",
};

int kernel_check_environment(struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(profilers); i++)
        if (getenv(profilers[i]))
            return err_set(e, -EINVAL, "kernel.profiler", profilers[i],
                           "%s is set, which asks for a profile of another boundary; unset it, "
                           "and profile in a run of its own",
                           profilers[i]);
    return 0;
}

/* ---- what goes in */

/* The input as one line of canonical JSON. */
static int read_input(struct cli *cli, const struct kernel_ask *ask, const char **text,
                      const char **digest, struct err *e)
{
    CLEANUP(buf_deinit) struct buf file = {0}, line = {0};
    char hex[DIGEST_HEX];
    struct err why = {0};

    int rc = file_read(ask->input_path, INPUT_BYTES_MAX, &file, e);
    if (rc < 0)
        return rc;
    if (json_canonical(buf_str(&file), file.len, &line, &why) < 0)
        return err_set(e, -EINVAL, "kernel.input", "--input",
                       "%.200s is not one JSON value: %.400s", ask->input_path, why.text);
    *text = arena_strndup(&cli->a, line.data, line.len - 1);
    digest_bytes(*text, line.len - 1, hex);
    *digest = arena_strdup(&cli->a, hex);
    return 0;
}

static int find_program(struct cli *cli, const char *given, const char **path, const char **digest,
                        struct err *e)
{
    CLEANUP(mem_freep) char *whole = realpath(given, NULL);
    char hex[DIGEST_HEX];

    if (!whole)
        return err_set(e, -errno, "kernel.program", NULL, "could not open %.400s: %s", given,
                       strerror(errno));
    int rc = digest_file(whole, hex, NULL, e);
    if (rc < 0)
        return rc;
    *path = arena_strdup(&cli->a, whole);
    *digest = arena_strdup(&cli->a, hex);
    return 0;
}

/* Behind the timing: what was hashed is what the driver read. */
static int check_program(const char *path, const char *digest, struct err *e)
{
    char hex[DIGEST_HEX];
    int rc = digest_file(path, hex, NULL, e);

    if (rc == 0 && strcmp(hex, digest) != 0)
        rc = err_set(e, -EPROTO, "kernel.changed", NULL,
                     "%.400s changed while it was measured; measure it again", path);
    return rc;
}

/* The driver that ships lies beside this program. */
static const char *own_driver(struct cli *cli)
{
    CLEANUP(mem_freep) char *folder = program_folder(NULL);
    const char *path = folder ? arena_printf(&cli->a, "%s/aurabench-kernel", folder) : NULL;

    return path && access(path, X_OK) == 0 ? path : "aurabench-kernel";
}

static struct args driver_command(struct cli *cli, const struct kernel_ask *ask)
{
    if (ask->driver.n)
        return ask->driver;
    const char **v = arena_array(&cli->a, 2, sizeof *v);
    v[0] = own_driver(cli);
    return (struct args){v, 1};
}

/* NULL where nothing tells this machine from others. */
static const char *machine(struct cli *cli)
{
    static const char *const files[] = {"/etc/machine-id", "/var/lib/dbus/machine-id"};
    char hex[DIGEST_HEX], name[256] = "";

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        CLEANUP(buf_deinit) struct buf b = {0};
        if (file_read(files[i], 4096, &b, NULL) == 0 && strcspn(buf_str(&b), "\n") > 0) {
            const char *id = arena_strndup(&cli->a, b.data, strcspn(b.data, "\n"));
            machine_hash(id, NULL, hex);
            return arena_strdup(&cli->a, hex);
        }
    }
    if (gethostname(name, sizeof name - 1) < 0 || !name[0])
        return NULL;
    machine_hash(NULL, name, hex);
    return arena_strdup(&cli->a, hex);
}

/* ---- the talk */

struct talk {
    struct cli *cli;
    struct kernel_driver driver;
    struct kernel_run run;
    struct arena a; /* of one message */
    int64_t sent_ns;
};

/* Takes messages until the phase is over. What the hello says is kept. */
static int hear_phase(struct talk *t, enum kernel_phase phase, struct err *e)
{
    while (t->run.phase == phase) {
        struct arena *a = phase == KERNEL_HELLO ? &t->cli->a : &t->a;
        struct kernel_message m;
        const char *line = NULL;
        size_t len = 0;
        int rc = kernel_driver_line(&t->driver, &line, &len, e);
        if (rc == 0)
            rc = kernel_message_decode(a, line, len, &m, e);
        if (rc == 0)
            rc = kernel_run_take(&t->run, &m, clock_mono_ns() - t->sent_ns, e);
        arena_deinit(&t->a);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static void put_request(const struct kernel_ask *ask, const char *program, const char *input,
                        enum kernel_phase phase, struct buf *line)
{
    if (phase == KERNEL_COMPILE)
        kernel_put_compile(line, program, ask->plan.compiles);
    else if (phase == KERNEL_DECODE)
        kernel_put_decode(line, ask->plan.compiles);
    else if (phase == KERNEL_DISPATCH)
        kernel_put_dispatch(line, ask->entry, ask->kind, input, ask->plan.dispatches,
                            ask->plan.workers);
    else if (phase == KERNEL_OVER)
        kernel_put_end(line);
}

static int talk_through(struct talk *t, const struct kernel_ask *ask, const char *program,
                        const char *input, struct err *e)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    int rc = 0;

    for (int p = KERNEL_HELLO; p <= KERNEL_OVER && rc == 0; p++) {
        put_request(ask, program, input, (enum kernel_phase)p, &line);
        t->sent_ns = clock_mono_ns();
        rc = kernel_driver_send(&t->driver, &line, e);
        if (rc == 0 && p < KERNEL_OVER)
            rc = hear_phase(t, (enum kernel_phase)p, e);
    }
    return rc == 0 ? kernel_driver_end(&t->driver, e) : rc;
}

int kernel_measure(struct cli *cli, const struct kernel_ask *ask, struct kernel_receipt *out,
                   struct err *e)
{
    struct talk t = {.cli = cli};
    const char *program = NULL, *source_digest = NULL, *input = NULL, *input_digest = NULL;
    struct args command = driver_command(cli, ask);

    int rc = find_program(cli, ask->program, &program, &source_digest, e);
    if (rc == 0)
        rc = read_input(cli, ask, &input, &input_digest, e);
    if (rc < 0)
        return rc;
    kernel_run_init(&t.run, &cli->a, &ask->plan);
    rc = kernel_driver_start(&t.driver, &command, ask->silence_ms, cli->deadline_ns, e);
    if (rc == 0)
        rc = talk_through(&t, ask, program, input, e);
    kernel_driver_deinit(&t.driver);
    if (rc == 0)
        rc = check_program(program, source_digest, e);
    if (rc < 0)
        return rc;
    kernel_run_receipt(&t.run, out);
    out->schema = KERNEL_SCHEMA;
    out->source = ask->program;
    out->entry = ask->entry;
    out->entry_kind = ask->kind;
    out->provenance.version = AURABENCH_VERSION;
    out->provenance.machine = machine(cli);
    out->provenance.source_digest = source_digest;
    out->provenance.input_digest = input_digest;
    const char *why = kernel_check(&cli->a, out);
    return why ? err_set(e, -EPROTO, "kernel.implausible", NULL,
                         "what the driver reports contradicts itself: %.400s", why)
               : 0;
}
