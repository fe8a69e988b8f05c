/* aurabench calibrate: what this host shows for one program against itself, and so what change it
 * can find. The daemon does it, in its turn; here it is asked for, waited for and shown. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/reconnect.h"
#include "client/view/calibration_view.h"

struct values {
    bool quick, show, off;
};

static const struct opt opts[] = {
    {'q', "quick", OPT_FLAG, NULL, offsetof(struct values, quick), 0, 0,
     "the short form, of some seconds"},
    {0, "show", OPT_FLAG, NULL, offsetof(struct values, show), 0, 0,
     "show the one that holds, and make none"},
    {0, "off", OPT_FLAG, NULL, offsetof(struct values, off), 0, 0,
     "take back a calibration that waits"},
};

struct calibrating {
    struct cli *cli;
    const struct values *v;
    struct answer answer; /* owns the strings of now */
    struct calibration_state_view now;
    const char *job; /* that runs first; NULL: none */
    bool drained;
    char *before;            /* the latest one when it was asked for; NULL: there was none */
    bool said;               /* the daemon has been asked */
    int64_t told_refused_ms; /* of the last refusal that was told */
    bool told_queue;         /* what it waits for, if it is the queue */
    bool drawn;              /* a line without its end stands on the terminal */
    struct reconnecting outage;
};

/* ---- how it goes */

static void erase(struct calibrating *c)
{
    if (c->drawn)
        (void)file_write_all(STDERR_FILENO, "\r\x1b[K", 4);
    c->drawn = false;
}

/* What it waits for that was not told yet; nothing otherwise. */
static void put_waiting(struct calibrating *c, struct buf *line)
{
    char at[32];

    if (c->now.refused && c->now.refused_ms != c->told_refused_ms) {
        c->told_refused_ms = c->now.refused_ms;
        buf_puts(line, "waiting: ");
        term_clean(line, c->now.refused, strlen(c->now.refused), 0);
        if (c->now.next_try_ms > c->now.refused_ms)
            buf_printf(line, "; next try at %s", cli_time(c->now.next_try_ms, at) + 11);
        buf_putc(line, '\n');
    } else if (!c->told_queue && (c->job || c->drained)) {
        c->told_queue = true;
        if (c->job)
            buf_printf(line, "waiting: job %s goes to its end first\n", cli_short_id(c->job));
        else
            buf_puts(line, "waiting: nothing is begun until aurabench drain --off\n");
    }
}

static void draw(struct calibrating *c, struct buf *line)
{
    buf_puts(line, "\r\x1b[K");
    if (c->now.total > 0)
        buf_printf(line, "calibrating  %" PRId64 " of %" PRId64, c->now.done, c->now.total);
    else
        buf_puts(line, "looking whether the host is quiet");
    c->drawn = true;
}

static void tell(struct calibrating *c)
{
    CLEANUP(buf_deinit) struct buf line = {0};

    if (c->cli->shared.json)
        return;
    if (!c->now.running)
        put_waiting(c, &line);
    if (line.len)
        erase(c);
    else if (c->cli->err.tty && c->now.running)
        draw(c, &line);
    (void)file_write_all(STDERR_FILENO, buf_str(&line), line.len);
}

/* Takes the answer over. */
static int take(struct calibrating *c, struct answer *answer, const cJSON *node, bool whole,
                struct err *e)
{
    struct json_in in;

    answer_deinit(&c->answer);
    c->answer = *answer;
    *answer = (struct answer){0};
    json_in_init(&in, &c->answer.a, e);
    calibration_state_view_read(&in, node, &c->now);
    c->job = whole ? json_opt_str(&in, node, "job", 64, NULL) : NULL;
    if (whole)
        c->drained = json_opt_int(&in, node, "drained_ms", 0, JSON_INT_MAX, -1) >= 0;
    return connection_check(&in, e);
}

static int ask(struct calibrating *c, struct connection *conn, const char *method,
               const char *params, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    int rc = connection_call(conn, method, params, &answer, e);

    return rc < 0 ? rc
                  : take(c, &answer, answer.msg.result, strcmp(method, "daemon.watch") == 0, e);
}

static int next_event(struct calibrating *c, struct connection *conn, struct err *e)
{
    CLEANUP(answer_deinit) struct answer note = {0};
    int rc = connection_next(conn, &note, e);

    if (rc < 0 || strcmp(note.msg.method, "daemon.event") != 0)
        return rc;
    rc = take(c, &note, note.msg.params, true, e);
    if (rc == 0)
        tell(c);
    return rc;
}

/* A new one is there, or nobody asks for one any more. */
static int check_made(const struct calibrating *c, struct err *e)
{
    if (c->now.latest && (!c->before || strcmp(c->before, c->now.latest) != 0))
        return 0;
    return err_set(e, -ECANCELED, "calibration.taken_back", NULL,
                   "somebody took the calibration back before it was made; ask again with "
                   "aurabench calibrate");
}

/* Watches first, so that no end is missed. */
static int calibrate_once(struct calibrating *c, struct connection *conn, struct err *e)
{
    int rc = ask(c, conn, "daemon.watch", NULL, e);

    if (rc == 0 && !c->said) {
        c->told_refused_ms = c->now.refused_ms; /* of one that was not asked for */
        c->before = c->now.latest ? mem_strdup(c->now.latest) : NULL;
    }
    if (rc == 0)
        rc = ask(c, conn, "host.calibrate", c->v->quick ? "{\"quick\":true}" : "{}", e);
    if (rc < 0)
        return rc;
    c->said = true;
    reconnected(&c->outage);
    tell(c);
    while (rc == 0 && (c->now.asked || c->now.running))
        rc = next_event(c, conn, e);
    erase(c);
    return rc < 0 ? rc : check_made(c, e);
}

/* ---- the command */

static int show(struct calibrating *c, struct connection *conn, bool *found, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    struct calibration_view view;
    int rc = connection_call(conn, "host.calibration", NULL, &answer, e);

    if (rc == 0)
        rc = calibration_view_read(&answer, &view, e);
    if (rc < 0)
        return rc;
    *found = view.found;
    if (c->cli->shared.json)
        cli_json(c->cli, answer.msg.result);
    else
        calibration_view_put(&view, &c->cli->out, &out);
    cli_put(&out);
    return 0;
}

static int calibrate(struct calibrating *c, struct connection **conn, struct err *e)
{
    int rc = calibrate_once(c, *conn, e);

    while (reconnect_may_help(&c->outage, rc)) {
        rc = reconnect(c->cli, &c->outage, conn, e);
        if (rc == 0)
            rc = calibrate_once(c, *conn, e);
    }
    return rc;
}

static int take_back(struct calibrating *c, struct connection *conn, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf out = {0};
    int rc = connection_call(conn, "host.calibrate", "{\"on\":false}", &answer, e);

    if (rc == 0 && c->cli->shared.json)
        cli_json(c->cli, answer.msg.result);
    else if (rc == 0)
        buf_puts(&out, "nobody waits for a calibration any more\n");
    cli_put(&out);
    return rc;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    struct calibrating c = {.cli = cli, .v = values};
    struct connection *conn = NULL;
    struct err e = {0};
    bool found = true;

    (void)words;
    if (c.v->quick + c.v->show + c.v->off > 1) {
        (void)err_set(&e, -EINVAL, "usage", "--quick",
                      "--quick, --show and --off exclude each other; name one");
        return cli_fail(cli, &e);
    }
    int rc = cli_connect(cli, &conn, &e);
    if (rc == 0 && c.v->off)
        rc = take_back(&c, conn, &e);
    else if (rc == 0 && !c.v->show)
        rc = calibrate(&c, &conn, &e);
    if (rc == 0 && !c.v->off)
        rc = show(&c, conn, &found, &e);
    connection_close(conn);
    answer_deinit(&c.answer);
    free(c.before);
    if (rc < 0)
        return cli_fail(cli, &e);
    return found ? EXIT_GOOD : EXIT_NOT_QUIET;
}

const struct command command_calibrate = {
    .name = "calibrate",
    .usage = "",
    .summary = "measure what change this host can find",
    .more = "It takes its turn before the queue and waits until the host is quiet; after --timeout "
            "the daemon\nstill waits, until --off. Status 6 with --show: this boot has none.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .run = run,
};
