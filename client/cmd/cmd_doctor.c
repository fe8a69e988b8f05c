/* aurabench doctor: line by line, what keeps this host from contractual reports, and how to mend
 * it.
 *
 * What is judged is judged by the daemon, by the rules that an attempt is judged by; here stand
 * only the words about it. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/host_look.h"
#include "client/job/policy_arg.h"
#include "client/view/calibration_view.h"
#include "client/view/inventory_view.h"
#include "client/view/table.h"

#define LINES_MAX (COND_COUNT + 8)
#define FREE_MIN_BYTES (INT64_C(1) << 30)
#define CLOCK_APART_MS 2000

struct values {
    const char *policy;
};

static const struct opt opts[] = {
    {'p', "policy", OPT_TEXT, "NAME|FILE", offsetof(struct values, policy), 0, 0,
     "judge by this policy (standard)"},
};

struct line {
    const char *name; /* one word, for --json */
    const char *title;
    enum tri status;
    bool needed;      /* a contractual report needs it */
    const char *seen; /* in the arena */
    const char *mend; /* NULL: nothing to do */
};

struct doctor {
    struct cli *cli;
    const char *policy;
    struct answer status, quiet, calibration; /* what the lines are made of */
    struct line lines[LINES_MAX];
    size_t n;
};

static const char *const mends[COND_COUNT] = {
    [COND_MAINS] =
        "plug the machine in; a guest does not see its host's supply: use policy virtual",
    [COND_LOW_POWER] = "switch low-power mode off; in a guest, use policy virtual",
    [COND_GOVERNOR] = "set one governor for all cores and leave it: cpupower frequency-set -g "
                      "performance; in a guest, use policy virtual",
    [COND_BOOST] = "switch boost off, or on, and leave it so while measuring",
    [COND_ENERGY] = "set one energy preference for all cores and leave it",
    [COND_THERMAL] = "let the machine cool down, clean its fans; in a guest, use policy virtual",
    [COND_STEAL] = "give this guest cores of its own, or measure when its neighbours are quiet",
    [COND_SWAP] = "free memory, or switch swap off: swapoff -a",
    [COND_MEMORY] = "end what holds memory",
    [COND_UPTIME] = "wait until the machine has settled after its start",
    [COND_SUSPEND] = "keep the machine awake: systemd-inhibit --what=sleep:idle",
    [COND_PID_NAMESPACE] = "run aurabenchd outside of the container: from inside, other processes "
                           "cannot be seen",
    [COND_HOST_CONTRACT] = "measure on the machine that the policy names, or name this one in it",
    [COND_BARE_METAL] = "measure on a machine of its own, or by policy virtual",
    [COND_CONTROL] = "give every comparison a control lane in its suite",
};

static void add(struct doctor *d, struct line line)
{
    d->lines[d->n++] = line;
}

static bool passes(enum tri status)
{
    return status == TRI_PASS || status == TRI_NOT_APPLICABLE;
}

/* ---- the daemon and its state */

static void judge_disk(struct doctor *d, const cJSON *status, struct json_in *in)
{
    int64_t free_bytes = json_opt_int(in, status, "disk_free_bytes", 0, JSON_INT_MAX, -1);
    const char *dir = json_opt_str(in, status, "state_dir", 4096, "");
    struct line line = {.name = "disk", .title = "disk", .needed = true};

    line.status = free_bytes < 0 ? TRI_UNKNOWN : free_bytes < FREE_MIN_BYTES ? TRI_FAIL : TRI_PASS;
    line.seen = free_bytes < 0
                    ? "how much is free is not known"
                    : arena_printf(&d->cli->a, "%.1f GiB free at %s",
                                   (double)free_bytes / (double)FREE_MIN_BYTES, dir ? dir : "");
    if (!passes(line.status))
        line.mend = "free at least 1 GiB there: a full disk refuses jobs and holds reports back";
    add(d, line);
}

static void judge_clock(struct doctor *d, const cJSON *status, struct json_in *in, int64_t asked_ms)
{
    int64_t now_ms = json_int(in, status, "now_ms", 0, JSON_INT_MAX);
    int64_t apart_ms = now_ms - asked_ms;
    bool apart = apart_ms > CLOCK_APART_MS || apart_ms < -CLOCK_APART_MS;

    if (!d->cli->shared.host && !apart)
        return; /* one machine has one clock */
    add(d, (struct line){.name = "clock",
                         .title = "wall clock",
                         .status = apart ? TRI_FAIL : TRI_PASS,
                         .seen = arena_printf(&d->cli->a, "%.1f s apart from this machine's",
                                              (double)apart_ms / 1000),
                         .mend =
                             apart ? "let both machines keep the time (chrony, systemd-timesyncd): "
                                     "windows and deadlines go by it"
                                   : NULL});
}

static void judge_daemon(struct doctor *d, const cJSON *status, struct json_in *in)
{
    const char *blocked = json_opt_str(in, status, "blocked", 4096, NULL);
    const char *version = json_str(in, status, "version", 64);
    const char *host = json_str(in, status, "host", 255);

    add(d, (struct line){.name = "daemon",
                         .title = "daemon",
                         .needed = true,
                         .status = blocked ? TRI_FAIL : TRI_PASS,
                         .seen = blocked ? blocked
                                         : arena_printf(&d->cli->a, "aurabenchd %s answers on %s",
                                                        version ? version : "", host ? host : ""),
                         .mend =
                             blocked ? "see aurabench status; nothing is begun until then" : NULL});
}

/* ---- the host */

static void judge_inventory(struct doctor *d, const struct host_look *look)
{
    CLEANUP(buf_deinit) struct buf seen = {0};
    bool quiet = look->inventory.state == INVENTORY_QUIET;

    inventory_line(&look->inventory, &seen);
    if (look->inventory.n_competitors > 0) {
        buf_puts(&seen, ": ");
        inventory_names(&look->inventory, &seen);
    }
    add(d, (struct line){.name = "inventory",
                         .title = "quiet host",
                         .needed = true,
                         .status = quiet                                        ? TRI_PASS
                                   : look->inventory.state == INVENTORY_PARTIAL ? TRI_UNKNOWN
                                                                                : TRI_FAIL,
                         .seen = arena_strdup(&d->cli->a, buf_str(&seen)),
                         .mend = quiet ? NULL
                                       : "end or move what runs; aurabench quiet shows all of it"});
}

static void judge_condition(struct doctor *d, const struct condition_result *r)
{
    bool needed = r->mode == RULE_REQUIRE;

    /* Which controls a job has is not known before there is a job. */
    if (r->mode == RULE_RECORD || r->condition == COND_CALIBRATION ||
        (r->condition == COND_CONTROL && r->status == TRI_NOT_APPLICABLE))
        return;
    add(d, (struct line){.name = condition_name(r->condition),
                         .title = condition_title(r->condition),
                         .needed = needed,
                         .status = r->status,
                         .seen = r->seen ? r->seen : "",
                         .mend = needed && !passes(r->status) ? mends[r->condition] : NULL});
}

/* Needed by every report: without it no row is above resolution, and nothing is ever SAME. */
static void judge_calibration(struct doctor *d, const struct calibration_view *v)
{
    CLEANUP(buf_deinit) struct buf seen = {0};

    if (v->found)
        calibration_view_line(v, &seen);
    else if (v->state.refused)
        buf_printf(&seen, "none of this boot; the last try: %s", v->state.refused);
    else
        buf_puts(&seen, v->state.running ? "being made" : "none of this boot");
    add(d, (struct line){.name = "calibration",
                         .title = "calibration",
                         .needed = true,
                         .status = v->found ? TRI_PASS : TRI_UNKNOWN,
                         .seen = arena_strdup(&d->cli->a, buf_str(&seen)),
                         .mend = v->found ? NULL : "aurabench calibrate, while nothing else runs"});
}

/* ---- telling it */

static bool is_good(const struct doctor *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->lines[i].needed && !passes(d->lines[i].status))
            return false;
    return true;
}

static const char *word_of(const struct line *line)
{
    if (!line->needed && !passes(line->status))
        return "waived";
    return line->status == TRI_NOT_APPLICABLE ? "n/a" : tri_name(line->status);
}

static void put_text(const struct doctor *d, struct buf *out)
{
    static const struct table_column columns[] = {
        {"", false, false}, {"CHECK", false, false}, {"SEEN", false, true}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    size_t missing = 0;

    for (size_t i = 0; i < d->n; i++) {
        const struct line *line = &d->lines[i];
        missing += line->needed && !passes(line->status);
        table_cell(t, line->needed || passes(line->status) ? tri_style(line->status) : TERM_DIM,
                   "%s", word_of(line));
        table_cell(t, TERM_PLAIN, "%s", line->title);
        table_cell(t, TERM_PLAIN, "%s", line->seen);
    }
    table_print(t, &d->cli->out, 0, out);
    table_free(t);
    if (missing == 0) {
        buf_printf(out, "\nNothing keeps this host from contractual reports by policy %s.\n",
                   d->policy);
        return;
    }
    buf_printf(out, "\nBy policy %s, %zu check%s keep%s reports diagnostic:\n", d->policy, missing,
               missing == 1 ? "" : "s", missing == 1 ? "s" : "");
    for (size_t i = 0; i < d->n; i++)
        if (d->lines[i].mend)
            buf_printf(out, "  %s: %s\n", d->lines[i].title, d->lines[i].mend);
}

static void put_json(const struct doctor *d, struct buf *out)
{
    struct json_out o;

    cli_json_begin(d->cli, &o, out);
    json_put_str(&o, "policy", d->policy);
    json_put_bool(&o, "contractual_possible", is_good(d));
    json_begin_array(&o, "checks");
    for (size_t i = 0; i < d->n; i++) {
        const struct line *line = &d->lines[i];
        json_begin(&o, NULL);
        json_put_str(&o, "name", line->name);
        json_put_str(&o, "status", tri_name(line->status));
        json_put_bool(&o, "needed", line->needed);
        json_put_str(&o, "seen", line->seen);
        json_put_str(&o, "mend", line->mend);
        json_end(&o);
    }
    json_end_array(&o);
    cli_json_end(&o);
}

static int examine(struct doctor *d, struct connection *c, const char *params, struct err *e)
{
    struct host_look look = {0};
    struct calibration_view calibration;
    struct json_in in;
    int64_t asked_ms = clock_wall_ms();
    int rc = connection_call(c, "daemon.status", NULL, &d->status, e);

    if (rc == 0) {
        json_in_init(&in, &d->cli->a, e);
        judge_daemon(d, d->status.msg.result, &in);
        judge_disk(d, d->status.msg.result, &in);
        judge_clock(d, d->status.msg.result, &in, asked_ms);
        rc = connection_check(&in, e);
    }
    if (rc == 0)
        rc = connection_call(c, "host.quiet", params, &d->quiet, e);
    if (rc == 0)
        rc = host_look_decode(&d->quiet, &look, e);
    if (rc == 0)
        rc = connection_call(c, "host.calibration", NULL, &d->calibration, e);
    if (rc == 0)
        rc = calibration_view_read(&d->calibration, &calibration, e);
    if (rc < 0)
        return rc;
    d->policy = look.policy;
    judge_inventory(d, &look);
    for (size_t i = 0; i < COND_COUNT; i++)
        judge_condition(d, &look.conditions[i]);
    judge_calibration(d, &calibration);
    return 0;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    CLEANUP(buf_deinit) struct buf params = {0}, out = {0};
    struct doctor d = {.cli = cli};
    struct connection *c = NULL;
    struct err e = {0};
    struct json_out o;

    (void)words;
    json_out_init(&o, &params);
    json_begin(&o, NULL);
    int rc = policy_arg_put(cli, v->policy, &o, "policy", &e);
    json_end(&o);
    if (rc == 0)
        rc = cli_connect(cli, &c, &e);
    if (rc == 0)
        rc = examine(&d, c, buf_str(&params), &e);
    connection_close(c);
    if (rc == 0 && cli->shared.json)
        put_json(&d, &out);
    else if (rc == 0)
        put_text(&d, &out);
    cli_put(&out);
    answer_deinit(&d.status);
    answer_deinit(&d.quiet);
    answer_deinit(&d.calibration);
    if (rc < 0)
        return cli_fail(cli, &e);
    return is_good(&d) ? EXIT_GOOD : EXIT_NOT_QUIET;
}

const struct command command_doctor = {
    .name = "doctor",
    .usage = "",
    .summary = "what keeps this host from contractual reports",
    .more = "Status 0: nothing does; 6: something does.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .run = run,
};
