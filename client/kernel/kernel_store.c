#include "client/kernel/kernel_store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/view/kernel_view.h"
#include "client/view/list_view.h"
#include "proto/doc/doc_kernel.h"

#define RECEIPT_BYTES_MAX ((size_t)60 << 10)

static const struct whole whole_receipts = {"kernel.list", "receipts", "before"};

/* ---- put */

static int put_text(struct cli *cli, const char *text, const char *machine, struct answer *answer,
                    struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    json_put_str(&o, "receipt", text);
    if (machine)
        json_put_str(&o, "machine", machine);
    json_end(&o);
    return cli_ask(cli, "kernel.put", buf_str(&params), answer, e);
}

static int read_id(struct answer *answer, char id[64], bool *duplicate, struct err *e)
{
    struct json_in in;

    json_in_init(&in, &answer->a, e);
    const char *text = json_str(&in, answer->msg.result, "id", 63);
    *duplicate = json_bool(&in, answer->msg.result, "duplicate");
    int rc = connection_check(&in, e);
    (void)snprintf(id, 64, "%s", rc == 0 ? text : "");
    return rc;
}

int kernel_store_put(struct cli *cli, const struct kernel_receipt *r, char id[64], struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf text = {0};
    struct json_out o;
    bool duplicate = false;

    json_out_init(&o, &text);
    kernel_receipt_encode(&o, NULL, r);
    int rc = put_text(cli, buf_str(&text), NULL, &answer, e);
    return rc < 0 ? rc : read_id(&answer, id, &duplicate, e);
}

/* A file that holds a receipt; faults name the file. */
static int read_file(struct cli *cli, const char *path, struct buf *text,
                     struct kernel_receipt **out, struct err *e)
{
    struct err why = {0};
    int rc = file_read(path, RECEIPT_BYTES_MAX, text, e);

    if (rc < 0)
        return rc;
    rc = kernel_receipt_decode(&cli->a, buf_str(text), text->len, out, &why);
    return rc < 0 ? cli_fail_in_file(path, rc, &why, e) : 0;
}

int kernel_store_import(struct cli *cli, const char *path, const char *machine)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf text = {0}, out = {0};
    struct kernel_receipt *r = NULL;
    char id[64];
    bool duplicate = false;
    struct err e = {0};

    int rc = read_file(cli, path, &text, &r, &e);
    if (rc == 0)
        rc = put_text(cli, buf_str(&text), machine, &answer, &e);
    if (rc == 0)
        rc = read_id(&answer, id, &duplicate, &e);
    if (rc < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    buf_printf(&out, "receipt %s %s\n", cli_short_id(id),
               duplicate ? "is there already" : "is stored");
    cli_put(&out);
    return EXIT_GOOD;
}

/* ---- list */

static void put_listed(struct json_in *in, const cJSON *item, struct table *t)
{
    static const char *const shown[] = {"target", "profile", "entry"};
    char when[32];
    int64_t wall_ms = json_int(in, item, "wall_ms", 0, JSON_INT_MAX);
    int64_t workers = json_int(in, item, "workers", 1, KERNEL_WORKERS_MAX);
    int64_t iterations = json_int(in, item, "iterations", 1, KERNEL_DISPATCHES_MAX);
    const char *id = json_str(in, item, "id", 64), *source = json_str(in, item, "source", 4096);
    const char *machine = json_opt_str(in, item, "machine", 4096, NULL), *words[3] = {0};

    for (size_t i = 0; i < ARRAY_LEN(shown); i++)
        words[i] = json_str(in, item, shown[i], 4096);
    if (in->rc)
        return;
    table_cell(t, TERM_PLAIN, "%s", cli_short_id(id));
    table_cell(t, TERM_PLAIN, "%s", cli_time(wall_ms, when));
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        table_cell(t, i == 2 ? TERM_BOLD : TERM_PLAIN, "%s", words[i]);
    table_cell(t, TERM_PLAIN, "%" PRId64, workers);
    table_cell(t, TERM_PLAIN, "%" PRId64, iterations);
    table_cell(t, machine ? TERM_PLAIN : TERM_DIM, "%.12s", machine ? machine : "unknown");
    table_cell(t, TERM_PLAIN, "%s", source);
}

int kernel_store_list(struct cli *cli)
{
    static const struct table_column columns[] = {
        {"ID", false, false},        {"STORED", false, false},  {"TARGET", false, false},
        {"BUILD", false, false},     {"ENTRY", false, true},    {"WORKERS", true, false},
        {"DISPATCHES", true, false}, {"MACHINE", false, false}, {"SOURCE", false, true},
    };
    static const struct list_view view = {
        .whole = &whole_receipts,
        .columns = columns,
        .n_columns = ARRAY_LEN(columns),
        .put = put_listed,
        .empty = "no receipts yet; make one with aurabench kernel PROGRAM --store",
    };

    return list_view(cli, &view);
}

/* ---- show */

/* The receipt in an answer to kernel.show, in cli->a. */
static int receipt_of(struct cli *cli, const struct answer *answer, struct kernel_receipt **out,
                      const char **machine, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &text);
    cli_json_node(&o, NULL, cJSON_GetObjectItemCaseSensitive(answer->msg.result, "receipt"));
    json_in_init(&in, &cli->a, e);
    *machine = json_opt_str(&in, answer->msg.result, "machine", 4096, NULL);
    int rc = connection_check(&in, e);
    if (rc < 0)
        return rc;
    return kernel_receipt_decode(&cli->a, buf_str(&text), text.len, out, e);
}

static int ask_one(struct cli *cli, const char *id, struct answer *answer, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};

    cli_id_params(&params, id);
    return cli_ask(cli, "kernel.show", buf_str(&params), answer, e);
}

int kernel_store_show(struct cli *cli, const char *id)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct kernel_receipt *r = NULL;
    const char *machine = NULL;
    struct err e = {0};

    int rc = ask_one(cli, id, &answer, &e);
    if (rc == 0)
        rc = receipt_of(cli, &answer, &r, &machine, &e);
    if (rc < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    kernel_view_receipt(r, &cli->out, &out);
    cli_put(&out);
    return EXIT_GOOD;
}

/* ---- diff */

struct side {
    struct kernel_receipt *receipt;
    const char *machine;
};

static int load(struct cli *cli, const char *what, const char *machine, struct side *out,
                struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf text = {0};

    out->machine = machine;
    if (file_exists(what))
        return read_file(cli, what, &text, &out->receipt, e);
    int rc = ask_one(cli, what, &answer, e);
    return rc < 0 ? rc : receipt_of(cli, &answer, &out->receipt, &out->machine, e);
}

static void diff_json(struct cli *cli, const struct side *x, const struct side *y)
{
    struct kernel_figure figures[KERNEL_FIGURES];
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    kernel_figures(x->receipt, y->receipt, figures);
    cli_json_begin(cli, &o, &b);
    json_begin_array(&o, "figures");
    for (size_t i = 0; i < KERNEL_FIGURES; i++) {
        json_begin(&o, NULL);
        json_put_str(&o, "phase", figures[i].phase);
        json_put_str(&o, "figure", figures[i].name);
        json_put_str(&o, "unit", figures[i].per_second ? "per_second" : "ms");
        json_put_num(&o, "first", figures[i].x);
        json_put_num(&o, "second", figures[i].y);
        json_put_num(&o, "ratio", figures[i].ratio);
        json_end(&o);
    }
    json_end_array(&o);
    cli_json_end(&o);
}

int kernel_store_diff(struct cli *cli, const char *x, const char *y, const char *machine)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct side first = {0}, second = {0};
    struct err e = {0};

    int rc = load(cli, x, machine, &first, &e);
    if (rc == 0)
        rc = load(cli, y, machine, &second, &e);
    const char *why = rc == 0 ? kernel_unlike(&cli->a, first.receipt, first.machine, second.receipt,
                                              second.machine)
                              : NULL;
    if (why)
        rc = err_set(&e, -EINVAL, "kernel.unlike", NULL, "%s", why);
    if (rc < 0)
        return cli_fail(cli, &e);
    if (cli->shared.json) {
        diff_json(cli, &first, &second);
        return EXIT_GOOD;
    }
    kernel_view_diff(first.receipt, second.receipt, &cli->out, &out);
    cli_put(&out);
    return EXIT_GOOD;
}
