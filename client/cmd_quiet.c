/* aurabench quiet: is the host quiet now, and if not, who makes noise. */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/commands.h"
#include "client/inventory_view.h"
#include "client/policy_arg.h"
#include "proto/doc_host.h"

struct values {
    const char *policy;
    bool watch;
    int64_t every_ms;
};

static const struct values defaults = {.every_ms = 5000};

static const struct opt opts[] = {
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(struct values, policy), 0, 0,
     "judge by this policy (standard)"},
    {'w', "watch", OPT_FLAG, NULL, offsetof(struct values, watch), 0, 0,
     "look again and again, one line each, until interrupted"},
    {0, "every", OPT_DURATION_MS, "DURATION", offsetof(struct values, every_ms), 0, 0,
     "with --watch: how often (5s)"},
};

/* What one look saw. */
struct look {
    const char *policy;
    struct inventory inventory;
    int64_t left_out; /* competitors that the daemon did not name */
    struct condition_result conditions[COND_COUNT];
    enum tri met;
};

static bool is_good(const struct look *look)
{
    return look->inventory.state == INVENTORY_QUIET &&
           (look->met == TRI_PASS || look->met == TRI_NOT_APPLICABLE);
}

static int look_decode(struct answer *answer, struct look *look, struct err *e)
{
    const cJSON *result = answer->msg.result;
    struct json_in in;

    json_in_init(&in, &answer->a, e);
    look->policy = json_str(&in, result, "policy", 255);
    look->met = (enum tri)json_enum(&in, result, "met", tri_parse);
    inventory_decode(&in, json_obj(&in, result, "inventory"), &look->inventory);
    look->left_out = json_opt_int(&in, result, "competitors_left_out", 0, JSON_INT_MAX, 0);
    conditions_decode(&in, result, "conditions", look->conditions);
    return connection_check(&in, e);
}

/* "unknown: mains power, thermal", for one line. */
static void put_short_conditions(const struct look *look, struct buf *out)
{
    size_t shown = 0;

    buf_printf(out, "policy %s: %s", look->policy,
               look->met == TRI_NOT_APPLICABLE ? "PASS" : tri_name(look->met));
    for (size_t i = 0; i < COND_COUNT; i++) {
        const struct condition_result *r = &look->conditions[i];
        if (r->mode != RULE_REQUIRE || r->status != look->met || look->met == TRI_PASS ||
            look->met == TRI_NOT_APPLICABLE)
            continue;
        buf_printf(out, "%s%s", shown++ ? ", " : " (", condition_title(r->condition));
    }
    buf_puts(out, shown ? ")" : "");
}

static void put_look(const struct cli *cli, const struct look *look, struct buf *out)
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

static void put_watch_line(const struct cli *cli, const struct look *look, struct buf *out)
{
    CLEANUP(buf_deinit) struct buf text = {0}, line = {0};
    char now[32];
    bool quiet = look->inventory.state == INVENTORY_QUIET;

    if (quiet || look->inventory.n_competitors == 0)
        inventory_line(&look->inventory, &text);
    else
        inventory_names(&look->inventory, &text);
    buf_printf(&line, "%s  %s  ", cli_time(clock_wall_ms(), now) + 11, quiet ? "quiet" : "NOISY");
    buf_printf(&line, "%s  ", buf_str(&text));
    put_short_conditions(look, &line);
    buf_clear(&text);
    if (cli->out.width)
        term_cut(&text, buf_str(&line), (size_t)cli->out.width);
    term_styled(&cli->out, out,
                is_good(look) ? TERM_GREEN
                : quiet       ? TERM_YELLOW
                              : TERM_RED,
                buf_str(cli->out.width ? &text : &line));
    buf_putc(out, '\n');
}

static int look_once(struct cli *cli, struct connection *c, const char *params, bool watch,
                     bool *good, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct look look = {0};
    int rc = connection_call(c, "host.quiet", params, &answer, e);

    if (rc == 0)
        rc = look_decode(&answer, &look, e);
    if (rc < 0)
        return rc;
    *good = is_good(&look);
    if (cli->shared.json)
        cli_json(cli, answer.msg.result);
    else if (watch)
        put_watch_line(cli, &look, &out);
    else
        put_look(cli, &look, &out);
    cli_put(&out);
    return 0;
}

/* A host that measures is not asked to look around; that is no reason to stop watching it. */
static bool is_measuring(const struct cli *cli, struct err *e)
{
    if (strcmp(e->code, "host.measuring") != 0)
        return false;
    if (!cli->shared.json) {
        CLEANUP(buf_deinit) struct buf out = {0};
        char now[32];
        buf_printf(&out, "%s  measuring: not looked at\n", cli_time(clock_wall_ms(), now) + 11);
        cli_put(&out);
    }
    err_clear(e);
    return true;
}

static int watch(struct cli *cli, struct connection *c, const char *params, int64_t every_ms,
                 struct err *e)
{
    bool good = false;

    for (;;) {
        int rc = look_once(cli, c, params, true, &good, e);
        if (rc < 0 && !is_measuring(cli, e))
            return rc;
        if (cli->deadline_ns >= 0 && clock_mono_ns() + every_ms * 1000000 > cli->deadline_ns)
            return err_set(e, -ETIMEDOUT, "client.timeout", "--timeout",
                           "the time of --timeout is over");
        clock_sleep_ns(every_ms * 1000000);
    }
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
        rc = watch(cli, c, buf_str(&params), v->every_ms < 100 ? 100 : v->every_ms, &e);
    else if (rc == 0)
        rc = look_once(cli, c, buf_str(&params), false, &good, &e);
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
