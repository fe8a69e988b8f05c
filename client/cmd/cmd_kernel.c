/* aurabench kernel: times a portable kernel, phase by phase, and writes the receipt. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/kernel/kernel_measure.h"
#include "client/kernel/kernel_store.h"
#include "client/view/kernel_view.h"
#include "proto/doc/doc_kernel.h"

struct values {
    const char *entry, *kind, *input, *output, *profile_json, *import, *show, *machine;
    int compiles, iterations, threads;
    int64_t silence_ms;
    bool profile, store, list, diff;
};

static const struct values defaults = {
    .kind = "function", .compiles = 30, .iterations = 500, .threads = 1, .silence_ms = 600000};

static const struct opt opts[] = {
    {'e', "entry", OPT_TEXT, "NAME", offsetof(struct values, entry), 0, 0,
     "the function or pipeline that is dispatched"},
    {'k', "entry-kind", OPT_TEXT, "KIND", offsetof(struct values, kind), 0, 0,
     "function (the default) or pipeline"},
    {'i', "input", OPT_TEXT, "FILE", offsetof(struct values, input), 0, 0,
     "one JSON value: what the entry takes"},
    {'c', "compile-iterations", OPT_INT, "N", offsetof(struct values, compiles), 1,
     KERNEL_COMPILES_MAX, "compiles behind the first, and decodes (30)"},
    {'n', "iterations", OPT_INT, "N", offsetof(struct values, iterations), 1, KERNEL_DISPATCHES_MAX,
     "dispatches behind the first (500)"},
    {'t', "threads", OPT_INT, "N", offsetof(struct values, threads), 1, KERNEL_WORKERS_MAX,
     "workers that share them (1)"},
    {'o', "output", OPT_TEXT, "FILE", offsetof(struct values, output), 0, 0,
     "write the receipt to this file, whole or not at all"},
    {0, "store", OPT_FLAG, NULL, offsetof(struct values, store), 0, 0,
     "send the receipt to the daemon too"},
    {0, "import", OPT_TEXT, "FILE", offsetof(struct values, import), 0, 0,
     "send the receipt in this file to the daemon, and measure nothing"},
    {'l', "list", OPT_FLAG, NULL, offsetof(struct values, list), 0, 0,
     "list the daemon's receipts"},
    {0, "show", OPT_TEXT, "ID", offsetof(struct values, show), 0, 0, "show one of them"},
    {'d', "diff", OPT_FLAG, NULL, offsetof(struct values, diff), 0, 0,
     "compare two receipts, each a file or an ID"},
    {0, "machine", OPT_TEXT, "NAME", offsetof(struct values, machine), 0, 0,
     "import, diff: where a receipt was made that does not say so"},
    {0, "silence", OPT_DURATION_MS, "DURATION", offsetof(struct values, silence_ms), 0, 0,
     "end a driver that says nothing for so long (10m)"},
    {0, "profile", OPT_FLAG, NULL, offsetof(struct values, profile), 0, 0,
     "refused: a profile belongs to another boundary"},
    {0, "profile-json", OPT_TEXT, "FILE", offsetof(struct values, profile_json), 0, 0,
     "refused, as --profile is"},
};

/* ---- what is asked for */

static int check_profilers(const struct values *v, struct err *e)
{
    const char *flag = v->profile ? "--profile" : v->profile_json ? "--profile-json" : NULL;

    if (flag)
        return err_set(e, -EINVAL, "kernel.profiler", flag,
                       "%s asks for a profile of another boundary than a receipt has; leave it "
                       "out, and profile in a run of its own",
                       flag);
    return kernel_check_environment(e);
}

/* Found before anything is timed: a receipt that cannot be written would be lost. */
static int check_output(struct cli *cli, const char *path, struct err *e)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct stat st;

    if (!path)
        return 0;
    const char *folder = slash ? arena_strndup(&cli->a, path, (size_t)(slash - path) + 1)
                               : arena_strdup(&cli->a, ".");
    if (access(folder, W_OK | X_OK) < 0)
        return err_set(e, -errno, "client.output", "--output", "could not write into %.300s: %s",
                       folder, strerror(errno));
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "client.output", "--output",
                       "%.300s is no file; a receipt replaces a whole file", path);
    return 0;
}

static int read_ask(struct cli *cli, const struct values *v, const struct opt_words *words,
                    struct kernel_ask *ask, struct err *e)
{
    const int kind = kernel_entry_parse(v->kind);

    if (words->words.n == 0 || !v->entry || !v->input)
        return err_set(e, -EINVAL, "usage", NULL,
                       "name what is measured: aurabench kernel PROGRAM --entry NAME --input FILE");
    if (kind < 0)
        return err_set(e, -EINVAL, "usage", "--entry-kind",
                       "--entry-kind is function or pipeline, not %.100s", v->kind);
    if (words->dashes && words->after.n == 0)
        return err_set(e, -EINVAL, "usage", "--", "name the driver's command behind --");
    *ask = (struct kernel_ask){
        .program = words->words.v[0],
        .entry = v->entry,
        .input_path = v->input,
        .kind = (enum kernel_entry)kind,
        .plan = {.compiles = v->compiles,
                 .dispatches = v->iterations,
                 .workers = v->threads < v->iterations ? v->threads : v->iterations},
        .driver = words->after,
        .silence_ms = v->silence_ms,
    };
    return check_output(cli, v->output, e);
}

/* ---- the receipt */

static int write_receipt(const char *path, const struct kernel_receipt *r, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0}, canonical = {0};
    struct json_out o;

    if (!path)
        return 0;
    json_out_init(&o, &text);
    kernel_receipt_encode(&o, NULL, r);
    int rc = json_canonical(text.data, text.len, &canonical, e);
    return rc < 0 ? rc : file_write_atomic(path, canonical.data, canonical.len, 0644, e);
}

static void print(struct cli *cli, const struct kernel_receipt *r, const char *stored)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    if (cli->shared.json) {
        cli_json_begin(cli, &o, &b);
        if (stored[0])
            json_put_str(&o, "id", stored);
        kernel_receipt_encode(&o, "receipt", r);
        cli_json_end(&o);
    } else {
        kernel_view_receipt(r, &cli->out, &b);
        if (stored[0])
            buf_printf(&b, "stored as %s\n", cli_short_id(stored));
        cli_put(&b);
    }
}

static int measure(struct cli *cli, const struct values *v, const struct opt_words *words)
{
    struct kernel_receipt receipt;
    struct kernel_ask ask = {0};
    char stored[64] = "";
    struct err e = {0};

    int rc = check_profilers(v, &e);
    if (rc == 0)
        rc = read_ask(cli, v, words, &ask, &e);
    if (rc == 0)
        rc = kernel_measure(cli, &ask, &receipt, &e);
    if (rc == 0)
        rc = write_receipt(v->output, &receipt, &e);
    if (rc == 0 && v->store)
        rc = kernel_store_put(cli, &receipt, stored, &e);
    if (rc < 0)
        return cli_fail(cli, &e);
    print(cli, &receipt, stored);
    return EXIT_GOOD;
}

/* ---- the receipts that there are */

/* Either something is measured, or one thing is done with receipts. */
static int check_usage(const struct values *v, const struct opt_words *words, struct err *e)
{
    const int things = (v->import != NULL) + v->list + (v->show != NULL) + v->diff;
    const bool measures = v->entry || v->input || v->output || v->store || words->dashes;

    if (things > 1 || (things && measures))
        return err_set(e, -EINVAL, "usage", NULL,
                       "--import, --list, --show and --diff stand alone, one at a time");
    if (v->machine && !v->import && !v->diff)
        return err_set(e, -EINVAL, "usage", "--machine",
                       "--machine belongs to --import and --diff; who measures here knows it");
    if (things && words->words.n != (v->diff ? 2 : 0))
        return err_set(e, -EINVAL, "usage", "--diff",
                       v->diff ? "name two receipts: aurabench kernel --diff A B"
                               : "nothing else is named beside --import, --list or --show");
    if (!things && words->words.n > 1)
        return err_set(e, -EINVAL, "usage", words->words.v[1],
                       "%.200s is too much here; one program is measured", words->words.v[1]);
    return 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    struct err e = {0};

    if (check_usage(v, words, &e) < 0)
        return cli_fail(cli, &e);
    if (v->import)
        return kernel_store_import(cli, v->import, v->machine);
    if (v->list)
        return kernel_store_list(cli);
    if (v->show)
        return kernel_store_show(cli, v->show);
    if (v->diff)
        return kernel_store_diff(cli, words->words.v[0], words->words.v[1], v->machine);
    return measure(cli, v, words);
}

const struct command command_kernel = {
    .name = "kernel",
    .usage = "PROGRAM --entry NAME --input FILE [-- DRIVER ARGS...] | --list | --diff A B",
    .summary = "time a portable kernel: compile, decode and dispatch, each by itself",
    .more = "Without DRIVER the kernel that ships is measured. Every compile must give the same "
            "bytes, every dispatch the same value.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .words_max = 2,
    .takes_command = true,
    .run = run,
};
