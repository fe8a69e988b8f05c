/* aurabench quiet: is the host quiet now, and if not, who makes noise. */
#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/host_look.h"
#include "client/job/policy_arg.h"
#include "client/view/host_watch.h"
#include "client/view/inventory_view.h"
#include "proto/doc/doc_host.h"

struct values {
    const char *policy;
    bool watch;
    int64_t every_ms;
};

static const struct values defaults = {.every_ms = HOST_WATCH_EVERY_MS};

static const struct opt opts[] = {
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(struct values, policy), 0, 0,
     "judge by this policy (standard)"},
    {'w', "watch", OPT_FLAG, NULL, offsetof(struct values, watch), 0, 0,
     "look again and again until interrupted: a view on a terminal, else one line each"},
    {0, "every", OPT_DURATION_MS, "DURATION", offsetof(struct values, every_ms), 0, 0,
     "with --watch: how often (10s)"},
};

static void put_look(const struct cli *cli, const struct host_look *look, struct buf *out)
{
    CLEANUP(buf_deinit) struct buf line = {0};

    inventory_line(&look->inventory, &line);
    term_styled(&cli->out, out, look->inventory.state == INVENTORY_QUIET ? TERM_GREEN : TERM_RED,
                buf_str(&line));
    buf_putc(out, '\n');
    inventory_table(&look->inventory, true, &cli->out, out);
    inventory_left_out(look->left_out, out);
    buf_printf(out, "conditions of policy %s: ", look->policy);
    term_styled(&cli->out, out, tri_style(look->met),
                look->met == TRI_NOT_APPLICABLE ? "PASS" : tri_name(look->met));
    buf_putc(out, '\n');
    conditions_table(look->conditions, false, &cli->out, out);
}

static int look_once(struct cli *cli, struct connection *c, const char *params, bool *good,
                     struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct host_look look = {0};
    int rc = connection_call(c, "host.quiet", params, &answer, e);

    if (rc == 0)
        rc = host_look_decode(&answer, &look, e);
    if (rc < 0)
        return rc;
    *good = host_look_is_good(&look);
    if (cli->shared.json)
        cli_json(cli, answer.msg.result);
    else
        put_look(cli, &look, &out);
    cli_put(&out);
    return 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    CLEANUP(buf_deinit) struct buf params = {0};
    struct connection *c = NULL;
    struct err e = {0};
    struct json_out o;
    bool good = false;

    (void)words;
    json_out_init(&o, &params);
    json_begin(&o, NULL);
    int rc = policy_arg_put(cli, v->policy, &o, "policy", &e);
    json_end(&o);
    if (rc == 0)
        rc = cli_connect(cli, &c, &e);
    if (rc == 0 && v->watch)
        rc = host_watch(cli, c, buf_str(&params), v->every_ms, &e);
    else if (rc == 0)
        rc = look_once(cli, c, buf_str(&params), &good, &e);
    connection_close(c);
    if (rc < 0)
        return cli_fail(cli, &e);
    return good ? EXIT_GOOD : EXIT_NOT_QUIET;
}

const struct command command_quiet = {
    .name = "quiet",
    .usage = "",
    .summary = "is the host quiet now, and who makes noise",
    .more = "Status 0: no competing process and every required condition met; 6: not so.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .defaults = &defaults,
    .run = run,
};
