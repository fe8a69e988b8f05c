/* aurabench drain: what runs goes to its end, and nothing else is begun. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/reconnect.h"

struct values {
    bool wait, off;
};

static const struct opt opts[] = {
    {'w', "wait", OPT_FLAG, NULL, offsetof(struct values, wait), 0, 0,
     "return when nothing runs any more"},
    {0, "off", OPT_FLAG, NULL, offsetof(struct values, off), 0, 0, "begin jobs again"},
};

/* As the daemon told of it last. */
struct state {
    struct answer answer; /* owns the strings */
    const cJSON *node;
    int64_t drained_ms; /* -1: not drained */
    const char *job, *hook;
    bool idle;
};

struct draining {
    struct cli *cli;
    bool off, wait;
    bool said; /* the daemon has been told */
    struct state now;
    struct reconnecting outage;
};

/* Takes the answer over. */
static int state_take(struct state *s, struct answer *answer, const cJSON *node, struct err *e)
{
    struct json_in in;

    answer_deinit(&s->answer);
    s->answer = *answer;
    *answer = (struct answer){0};
    s->node = node;
    json_in_init(&in, &s->answer.a, e);
    s->drained_ms = json_opt_int(&in, node, "drained_ms", 0, JSON_INT_MAX, -1);
    s->job = json_opt_str(&in, node, "job", 64, NULL);
    s->hook = json_opt_str(&in, node, "hook", 64, NULL);
    s->idle = json_bool(&in, node, "idle");
    return connection_check(&in, e);
}

static int ask(struct draining *d, struct connection *c, const char *method, const char *params,
               struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    int rc = connection_call(c, method, params, &answer, e);

    return rc < 0 ? rc : state_take(&d->now, &answer, answer.msg.result, e);
}

static int next_event(struct draining *d, struct connection *c, struct err *e)
{
    CLEANUP(answer_deinit) struct answer note = {0};
    int rc = connection_next(c, &note, e);

    if (rc < 0 || strcmp(note.msg.method, "daemon.event") != 0)
        return rc;
    return state_take(&d->now, &note, note.msg.params, e);
}

static int check_drained(const struct draining *d, struct err *e)
{
    if (d->off || d->now.drained_ms >= 0)
        return 0;
    return err_set(
        e, -ECANCELED, "daemon.drain_ended", "--wait",
        "somebody ended the drain meanwhile; jobs are begun again, see aurabench status");
}

/* Watches first, so that no end is missed. */
static int drain_once(struct draining *d, struct connection *c, struct err *e)
{
    int rc = d->wait ? ask(d, c, "daemon.watch", NULL, e) : 0;

    if (rc == 0 && !d->said)
        rc = ask(d, c, "daemon.drain", d->off ? "{\"on\":false}" : "{\"on\":true}", e);
    if (rc < 0)
        return rc;
    d->said = true;
    reconnected(&d->outage);
    rc = check_drained(d, e);
    while (rc == 0 && d->wait && !d->now.idle) {
        rc = next_event(d, c, e);
        if (rc == 0)
            rc = check_drained(d, e);
    }
    return rc;
}

static int drain(struct draining *d, struct err *e)
{
    struct connection *c = NULL;
    int rc = cli_connect(d->cli, &c, e);

    if (rc == 0)
        rc = drain_once(d, c, e);
    while (d->wait && reconnect_may_help(&d->outage, rc)) {
        rc = reconnect(d->cli, &d->outage, &c, e);
        if (rc == 0)
            rc = drain_once(d, c, e);
    }
    connection_close(c);
    return rc;
}

static void say(const struct draining *d)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    if (d->cli->shared.json) {
        cli_json(d->cli, d->now.node);
        return;
    }
    if (d->off)
        buf_puts(&out, "jobs are begun again\n");
    else if (d->now.job)
        buf_printf(&out,
                   "drained: job %s goes to its end, and no other is begun\n"
                   "  next: aurabench drain --wait, and aurabench drain --off to go on\n",
                   cli_short_id(d->now.job));
    else
        buf_printf(&out,
                   "drained: %s, and no job is begun\n  next: aurabench drain --off to go on\n",
                   d->now.hook ? "a hook is being told" : "nothing runs");
    cli_put(&out);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    struct draining d = {.cli = cli, .off = v->off, .wait = v->wait};
    struct err e = {0};

    (void)words;
    if (v->off && v->wait) {
        (void)err_set(&e, -EINVAL, "usage", "--wait",
                      "--off has nothing to wait for; leave out --wait");
        return cli_fail(cli, &e);
    }
    int rc = drain(&d, &e);
    if (rc == 0)
        say(&d);
    answer_deinit(&d.now.answer);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_drain = {
    .name = "drain",
    .usage = "",
    .summary = "let what runs go to its end, and begin nothing else",
    .more = "Accepted jobs stay, and new ones are taken. A restart changes nothing; --off ends it.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .run = run,
};
