#include "client/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"

#define SHORT_ID 8

const struct opt cli_shared_opts[] = {
    {'H', "host", OPT_TEXT, "URL", offsetof(struct cli, shared.host), 0, 0,
     "the daemon of another machine: ssh://[user@]host[:port]"},
    {0, "socket", OPT_TEXT, "PATH", offsetof(struct cli, shared.socket), 0, 0,
     "the socket of the daemon on this machine"},
    {0, "json", OPT_FLAG, NULL, offsetof(struct cli, shared.json), 0, 0,
     "print one JSON document instead of text"},
    {0, "timeout", OPT_DURATION_MS, "DURATION", offsetof(struct cli, shared.timeout_ms), 0, 0,
     "give up after so long (10s, 5m), with status 124"},
    {'h', "help", OPT_FLAG, NULL, offsetof(struct cli, shared.help), 0, 0, "explain the command"},
    {0, "version", OPT_FLAG, NULL, offsetof(struct cli, shared.version), 0, 0,
     "print the version of this program"},
};
const size_t cli_n_shared_opts = ARRAY_LEN(cli_shared_opts);

/* ---- errors */

static void fail_as_json(struct cli *cli, const struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(cli, &o, &b);
    cli_json_error(&o, e);
    cli_json_end(&o);
}

int cli_say(const struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    buf_puts(&b, "aurabench: ");
    term_clean(&b, e->text, strlen(e->text), 0);
    buf_putc(&b, '\n');
    (void)file_write_all(STDERR_FILENO, b.data, b.len);
    return (int)error_exit_status(e->code);
}

int cli_fail(struct cli *cli, const struct err *e)
{
    int status = cli_say(e);

    if (cli->shared.json)
        fail_as_json(cli, e);
    return status;
}

int cli_fail_in_file(const char *path, int rc, const struct err *why, struct err *e)
{
    return err_set(e, rc, why->code, why->field, "%.300s: %s", path, why->text);
}

/* ---- the daemon */

int cli_connect(struct cli *cli, struct connection **out, struct err *e)
{
    struct connection_how how = {
        .host = cli->shared.host,
        .socket = cli->shared.socket,
        .deadline_ns = cli->deadline_ns,
        .say_waiting = cli->err.tty && !cli->shared.json,
    };

    return connection_open(&how, out, e);
}

int cli_ask(struct cli *cli, const char *method, const char *params, struct answer *answer,
            struct err *e)
{
    struct connection *c = NULL;
    int rc = cli_connect(cli, &c, e);

    *answer = (struct answer){0};
    if (rc == 0)
        rc = connection_call(c, method, params, answer, e);
    connection_close(c);
    return rc;
}

void cli_id_params(struct buf *out, const char *id)
{
    struct json_out o;

    json_out_init(&o, out);
    json_begin(&o, NULL);
    json_put_str(&o, "id", id);
    json_end(&o);
}

/* ---- stdout */

void cli_write(const void *data, size_t len)
{
    int rc = file_write_all(STDOUT_FILENO, data, len);

    if (rc == 0)
        return;
    if (rc != -EPIPE)
        (void)fprintf(stderr, "aurabench: could not write to stdout: %s\n", strerror(-rc));
    /* From here, because nobody above could do anything else about it. */
    _exit(rc == -EPIPE ? EXIT_GOOD : EXIT_JOB);
}

void cli_put(struct buf *b)
{
    if (b->len)
        cli_write(b->data, b->len);
    buf_clear(b);
}

/* ---- JSON */

void cli_json_begin(const struct cli *cli, struct json_out *o, struct buf *b)
{
    json_out_init(o, b);
    json_begin(o, NULL);
    json_put_int(o, "aurabench", 1);
    json_put_str(o, "command", cli->command ? cli->command->name : NULL);
}

void cli_json_end(struct json_out *o)
{
    json_end(o);
    buf_putc(o->b, '\n');
    cli_put(o->b);
}

void cli_json_error(struct json_out *o, const struct err *e)
{
    json_begin(o, "error");
    json_put_str(o, "code", e->code);
    json_put_str(o, "field", e->field);
    json_put_str(o, "message", e->text);
    json_end(o);
}

void cli_json_node(struct json_out *o, const char *key, const cJSON *node)
{
    if (cJSON_IsObject(node)) {
        json_begin(o, key);
        cli_json_members(o, node);
        json_end(o);
    } else if (cJSON_IsArray(node)) {
        const cJSON *item;
        json_begin_array(o, key);
        cJSON_ArrayForEach (item, node)
            cli_json_node(o, NULL, item);
        json_end_array(o);
    } else if (cJSON_IsString(node)) {
        json_put_str(o, key, node->valuestring);
    } else if (cJSON_IsNumber(node)) {
        double v = node->valuedouble;
        if (v >= -(double)JSON_INT_MAX && v <= (double)JSON_INT_MAX && v == (double)(int64_t)v)
            json_put_int(o, key, (int64_t)v);
        else
            json_put_num(o, key, v);
    } else if (cJSON_IsBool(node)) {
        json_put_bool(o, key, cJSON_IsTrue(node));
    } else {
        json_put_null(o, key);
    }
}

void cli_json_members(struct json_out *o, const cJSON *obj)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, obj)
        cli_json_node(o, item->string, item);
}

void cli_json(const struct cli *cli, const cJSON *result)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(cli, &o, &b);
    cli_json_members(&o, result);
    cli_json_end(&o);
}

/* ---- small things for people */

char *cli_time(int64_t wall_ms, char *out)
{
    time_t t = (time_t)(wall_ms / 1000);
    struct tm tm = {0};

    (void)localtime_r(&t, &tm);
    (void)strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm);
    return out;
}

const char *cli_short_id(const char *id)
{
    size_t len = strlen(id);

    return len > SHORT_ID ? id + len - SHORT_ID : id;
}
