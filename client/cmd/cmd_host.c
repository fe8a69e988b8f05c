/* aurabench host: who the measuring machine is, and what each policy would make of it now. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/keys.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/view/inventory_view.h"
#include "client/view/job_view.h"
#include "client/view/table.h"
#include "proto/doc/doc_host.h"
#include "proto/form/duration.h"

#define POLICIES_MAX 16

struct values {
    bool key;
};

static const struct opt opts[] = {
    {'k', "key", OPT_FLAG, NULL, offsetof(struct values, key), 0, 0,
     "only the public key that signs its evidence, and the key's id"},
};

struct policy_view {
    const char *name;
    enum tri met;
    struct condition_result conditions[COND_COUNT];
};

struct host_view {
    struct host_identity host;
    struct boot_identity boot;
    struct host_facts facts;
    struct policy_view policies[POLICIES_MAX];
    size_t n_policies;
};

static void view_decode(struct json_in *in, const cJSON *result, struct host_view *v)
{
    size_t n = 0;
    const cJSON *policies = json_arr(in, result, "policies", POLICIES_MAX, &n), *item;

    host_identity_decode(in, json_obj(in, result, "host"), &v->host);
    boot_identity_decode(in, json_obj(in, result, "boot"), &v->boot);
    host_facts_decode(in, json_obj(in, result, "facts"), &v->facts);
    cJSON_ArrayForEach (item, policies) {
        if (in->rc)
            return;
        struct policy_view *p = &v->policies[v->n_policies++];
        p->name = json_view_line(in, item, "name", 255);
        p->met = (enum tri)json_enum(in, item, "met", tri_parse);
        conditions_decode(in, item, "conditions", p->conditions);
    }
}

static void put_row(struct table *t, const char *label, const char *text)
{
    if (!text || !text[0])
        return;
    table_cell(t, TERM_DIM, "%s", label);
    table_cell(t, TERM_PLAIN, "%s", text);
}

static void put_identity(struct cli *cli, const struct host_view *v, struct buf *out)
{
    static const struct table_column columns[] = {{NULL, false, false}, {NULL, false, true}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    char when[32];

    put_row(t, "host", v->host.name);
    put_row(t, "id", v->host.id);
    put_row(t, "model", v->host.model && v->host.model[0] ? v->host.model : "unknown");
    table_cell(t, TERM_DIM, "cpu");
    table_cell(t, TERM_PLAIN, "%s, %d logical", v->host.cpu ? v->host.cpu : "unknown",
               v->host.cores);
    table_cell(t, TERM_DIM, "memory");
    table_cell(t, TERM_PLAIN, "%.1f GiB", (double)v->host.memory_bytes / (1 << 30));
    put_row(t, "system", v->host.os);
    put_row(t, "kernel", v->host.kernel);
    put_row(t, "arch", v->host.arch);
    put_row(t, "boot", v->boot.id);
    put_row(t, "booted", v->boot.boot_wall_ms > 0 ? cli_time(v->boot.boot_wall_ms, when) : NULL);
    table_print(t, &cli->out, 0, out);
    table_free(t);
}

/* A known fact's value in words; units as in core/host.h. */
static void put_value(enum fact_id id, const struct fact *f, struct buf *out)
{
    char text[DURATION_TEXT];

    switch (id) {
    case FACT_MAINS:
    case FACT_LOW_POWER:
    case FACT_BOOST:
    case FACT_CALIBRATION:
    case FACT_VIRTUAL:
    case FACT_PID_NAMESPACE:
        buf_puts(out, f->value ? "yes" : "no");
        break;
    case FACT_GOVERNOR:
    case FACT_ENERGY:
        buf_puts(out, f->text ? f->text : "");
        return;
    case FACT_MEMORY_AVAILABLE:
    case FACT_MEMORY_TOTAL:
        buf_printf(out, "%.1f GiB", (double)f->value / (1 << 30));
        break;
    case FACT_UPTIME:
    case FACT_SUSPEND:
        buf_puts(out, duration_format(f->value, text));
        break;
    default:
        buf_printf(out, "%" PRId64, f->value);
    }
    if (f->text)
        buf_printf(out, " (%s)", f->text);
}

static void put_facts(struct cli *cli, const struct host_facts *facts, struct buf *out)
{
    static const struct table_column columns[] = {
        {"FACT", false, false}, {"", false, false}, {"VALUE", false, true}, {"FROM", false, true}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (int i = 0; i < FACT_COUNT; i++) {
        const struct fact *f = &facts->facts[i];
        CLEANUP(buf_deinit) struct buf value = {0};
        bool known = f->state == FACT_KNOWN;
        if (known)
            put_value((enum fact_id)i, f, &value);
        else
            buf_puts(&value, f->text ? f->text : "");
        table_cell(t, TERM_PLAIN, "%s", fact_name((enum fact_id)i));
        table_cell(t, known ? TERM_PLAIN : TERM_YELLOW, "%s", fact_state_name(f->state));
        table_cell(t, TERM_PLAIN, "%s", buf_str(&value));
        table_cell(t, TERM_DIM, "%s", f->source ? f->source : "");
    }
    table_print(t, &cli->out, 0, out);
    table_free(t);
}

static const char *status_word(const struct condition_result *r)
{
    if (r->mode == RULE_WAIVE)
        return "waived";
    if (r->mode == RULE_RECORD)
        return "-";
    return r->status == TRI_NOT_APPLICABLE ? "n/a" : tri_name(r->status);
}

/* One row per condition, one column per policy. */
static void put_policies(struct cli *cli, const struct host_view *v, struct buf *out)
{
    struct table_column columns[POLICIES_MAX + 2] = {{"CONDITION", false, false}};
    size_t n = v->n_policies;

    for (size_t p = 0; p < n; p++)
        columns[p + 1] = (struct table_column){v->policies[p].name, false, false};
    columns[n + 1] = (struct table_column){"SEEN", false, true};
    struct table *t = table_new(columns, n + 2);
    for (size_t c = 0; n > 0 && c < COND_COUNT; c++) {
        const char *seen = v->policies[0].conditions[c].seen;
        table_cell(t, TERM_PLAIN, "%s", condition_title((enum condition)c));
        for (size_t p = 0; p < n; p++) {
            const struct condition_result *r = &v->policies[p].conditions[c];
            table_cell(t, r->mode == RULE_REQUIRE ? tri_style(r->status) : TERM_DIM, "%s",
                       status_word(r));
        }
        table_cell(t, TERM_PLAIN, "%s", seen ? seen : "");
    }
    table_cell(t, TERM_BOLD, "all of it");
    for (size_t p = 0; p < n; p++) {
        bool good = v->policies[p].met == TRI_NOT_APPLICABLE;
        table_cell(t, tri_style(v->policies[p].met), "%s",
                   good ? "PASS" : tri_name(v->policies[p].met));
    }
    table_cell(t, TERM_PLAIN, "%s", "");
    table_print(t, &cli->out, 0, out);
    table_free(t);
}

/* The public key alone, for `verify --key`, and its id. */
static int print_key(struct cli *cli, const cJSON *result, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct arena *a = &cli->a;
    struct json_in in;

    json_in_init(&in, a, e);
    const cJSON *key = json_obj(&in, result, "key");
    const char *public_hex = json_view_line(&in, key, "public", KEY_HEX);
    const char *id = json_view_line(&in, key, "id", KEY_ID);
    if (connection_check(&in, e) < 0)
        return cli_fail(cli, e);
    if (cli->shared.json) {
        cli_json(cli, key);
        return EXIT_GOOD;
    }
    buf_printf(&out, "%s  %s\n", public_hex, id);
    cli_put(&out);
    return EXIT_GOOD;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct host_view *view = arena_alloc(&cli->a, sizeof *view);
    struct err e = {0};
    struct json_in in;

    (void)values;
    (void)words;
    if (cli_ask(cli, "host.show", NULL, &answer, &e) < 0)
        return cli_fail(cli, &e);
    if (((const struct values *)values)->key)
        return print_key(cli, answer.msg.result, &e);
    if (cli->shared.json) {
        cli_json(cli, answer.msg.result);
        return EXIT_GOOD;
    }
    json_in_init(&in, &answer.a, &e);
    view_decode(&in, answer.msg.result, view);
    if (connection_check(&in, &e) < 0)
        return cli_fail(cli, &e);
    put_identity(cli, view, &out);
    buf_putc(&out, '\n');
    put_facts(cli, &view->facts, &out);
    buf_putc(&out, '\n');
    put_policies(cli, view, &out);
    cli_put(&out);
    return EXIT_GOOD;
}

const struct command command_host = {
    .name = "host",
    .usage = "",
    .summary = "the measuring machine, its facts, and what each policy makes of them",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .run = run,
};
