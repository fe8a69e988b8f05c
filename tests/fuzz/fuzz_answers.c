/* What the client shows of a daemon's answers: nothing that the daemon says steers the terminal,
 * --json is JSON whatever came, and an answer that cannot be read is told in a sentence.
 *
 * The client's own commands run over a connection that reads the input: the first byte is the
 * command, the second how the terminal is; then one line an answer, the text of a result (behind
 * "!": of an error's sentence, behind ">": of a notification's parameters). */
#include <errno.h>
#include <string.h>

#include "base/spawn.h"
#include "client/cmd/commands.h"
#include "fuzz/fuzz.h"
#include "proto/wire/frame.h"

int fuzz_file_write_all(int fd, const void *data, size_t len);
void fuzz_clock_sleep_ns(int64_t ns);
int64_t fuzz_clock_mono_ns(void);
int fuzz_spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
                   struct err *e);

struct connection {
    int unused;
};

static struct {
    struct fuzz_in in;
    struct buf out, err; /* what the client wrote */
    struct connection connection;
    int64_t now_ns;
} world;

/* ---- in place of system calls */

int fuzz_file_write_all(int fd, const void *data, size_t len)
{
    buf_add(fd == 2 ? &world.err : &world.out, data, len);
    return 0;
}

void fuzz_clock_sleep_ns(int64_t ns)
{
    world.now_ns += ns;
}

/* Moves by itself too: nothing waits for ever for time to pass. */
int64_t fuzz_clock_mono_ns(void)
{
    return world.now_ns += 1000000;
}

/* No command that is run here needs a program. */
int fuzz_spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
                   struct err *e)
{
    (void)status, (void)out, (void)errout;
    return err_sys(e, -ENOENT, "run", req->argv[0]);
}

/* ---- in place of client/link/connection.c */

static int broken(struct err *e)
{
    return err_set(e, -EPIPE, "daemon.unreachable", "", "the connection to the daemon broke");
}

static int unread(struct err *e, const struct err *why)
{
    return err_set(e, -EPROTO, "daemon.version", why->field, "it cannot be read: %s", why->text);
}

int connection_open(const struct connection_how *how, struct connection **out, struct err *e)
{
    (void)how;
    if (world.in.left == 0)
        return broken(e);
    *out = &world.connection;
    return 0;
}

void connection_close(struct connection *c)
{
    (void)c;
}

int connection_dial(const char *socket_option, int *fd, struct err *e)
{
    (void)socket_option, (void)fd;
    return broken(e);
}

void answer_deinit(struct answer *answer)
{
    rpc_message_deinit(&answer->msg);
    arena_deinit(&answer->a);
}

int connection_check(const struct json_in *in, struct err *e)
{
    if (in->rc == 0)
        return 0;
    struct err why = *in->e;
    err_clear(e);
    return unread(e, &why);
}

/* The line as the message that the real connection would have read. */
static void put_message(struct buf *b, const char *line)
{
    struct err e = {0};

    if (line[0] == '!') {
        (void)err_set(&e, -EINVAL, "job.not_found", "id", "%s", line + 1);
        rpc_put_error(b, "1", &e);
    } else if (line[0] == '>') {
        buf_printf(b, "{\"jsonrpc\":\"2.0\",\"method\":\"job.event\",\"params\":%s}", line + 1);
    } else {
        buf_printf(b, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}", line);
    }
}

static int next(struct answer *answer, struct err *e)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct err why = {0};

    if (world.in.left == 0)
        return broken(e);
    CLEANUP(mem_freep) char *line = fuzz_line(&world.in);
    put_message(&b, line);
    answer_deinit(answer);
    *answer = (struct answer){0};
    if (rpc_message_decode(&answer->a, b.data, b.len, &answer->msg, &why) < 0)
        return unread(e, &why);
    return 0;
}

int connection_call(struct connection *c, const char *method, const char *params,
                    struct answer *answer, struct err *e)
{
    int rc;

    (void)c, (void)method, (void)params;
    do
        rc = next(answer, e);
    while (rc == 0 && answer->msg.kind == RPC_NOTIFICATION);
    if (rc == 0 && answer->msg.kind == RPC_ERROR) {
        *e = answer->msg.error;
        return -EREMOTEIO;
    }
    return rc;
}

int connection_send(struct connection *c, const char *method, const char *params, int64_t *id,
                    struct err *e)
{
    (void)c, (void)method, (void)params, (void)e;
    *id = 1;
    return 0;
}

int connection_receive(struct connection *c, int64_t id, struct answer *answer, struct err *e)
{
    (void)id;
    return connection_call(c, "", NULL, answer, e);
}

int connection_next(struct connection *c, struct answer *answer, struct err *e)
{
    int rc;

    (void)c;
    do
        rc = next(answer, e);
    while (rc == 0 && answer->msg.kind != RPC_NOTIFICATION);
    return rc;
}

/* ---- the commands */

struct run {
    const struct command *command;
    const char *words[2];
    const char *set; /* an option that is given, a flag or a text; NULL: none */
    const char *value;
    bool is_raw;  /* what it prints where no terminal is are the daemon's own bytes */
    bool redraws; /* it moves the cursor on a terminal */
};

static const struct run runs[] = {
    {.command = &command_list},
    {.command = &command_show, .words = {"K3F8QW2M"}},
    {.command = &command_show, .words = {"K3F8QW2M"}, .set = "all"},
    {.command = &command_status},
    {.command = &command_host},
    {.command = &command_host, .set = "key"},
    {.command = &command_quiet},
    {.command = &command_session, .words = {"list"}},
    {.command = &command_session, .words = {"show", "nightly"}},
    {.command = &command_session, .words = {"close", "nightly"}},
    {.command = &command_session, .words = {"report", "nightly"}, .is_raw = true},
    {.command = &command_watch, .words = {"K3F8QW2M"}, .redraws = true},
    {.command = &command_wait, .words = {"K3F8QW2M"}},
    {.command = &command_cancel, .words = {"K3F8QW2M"}},
    {.command = &command_report, .words = {"K3F8QW2M"}, .is_raw = true},
    {.command = &command_report, .words = {"K3F8QW2M"}, .set = "format", .value = "json"},
    {.command = &command_log, .words = {"K3F8QW2M"}, .is_raw = true},
    {.command = &command_doctor},
    {.command = &command_page, .words = {"nightly"}, .is_raw = true},
    {.command = &command_calibrate, .set = "show"},
    {.command = &command_kernel, .set = "list"},
    {.command = &command_kernel, .set = "show", .value = "K3F8QW2M"},
    {.command = &command_kernel, .words = {"K3F8QW2M", "7QX2M4TD"}, .set = "diff"},
};

static void set_option(const struct run *r, void *values)
{
    for (size_t i = 0; r->set && i < r->command->n_opts; i++) {
        const struct opt *o = &r->command->opts[i];
        if (strcmp(o->name, r->set) != 0)
            continue;
        if (o->kind == OPT_FLAG)
            *(bool *)((char *)values + o->offset) = true;
        else
            *(const char **)((char *)values + o->offset) = r->value;
        return;
    }
    MUST(!r->set, "%s", r->set);
}

static int run_command(struct cli *cli, const struct run *r)
{
    const char *words[2] = {r->words[0], r->words[1]};
    struct opt_words w = {.words = {words, (size_t) !!words[0] + !!words[1]}};
    void *values = arena_alloc(&cli->a, r->command->values_bytes + 1);

    cli->command = r->command;
    if (r->command->defaults)
        memcpy(values, r->command->defaults, r->command->values_bytes);
    set_option(r, values);
    return r->command->run(cli, values, &w);
}

/* The two sequences by which `watch` draws its one line again. */
static void drop_redraws(struct buf *b)
{
    static const char wipe[] = "\r\x1b[K";
    char *at;

    while (b->len && (at = memmem(b->data, b->len, wipe, sizeof wipe - 1))) {
        size_t n = sizeof wipe - 1;
        memmove(at, at + n, b->len - (size_t)(at - b->data) - n);
        b->len -= n;
        b->data[b->len] = '\0';
    }
}

static void must_be_json_lines(const struct buf *b)
{
    const char *p = buf_str(b), *end = p + b->len;

    for (const char *newline; p < end; p = newline + 1) {
        struct err e = {0};
        cJSON *doc = NULL;
        newline = memchr(p, '\n', (size_t)(end - p));
        MUST(newline, "the last line does not end: %s", p);
        MUST(json_parse_max(p, (size_t)(newline - p), SIZE_MAX, &doc, &e) == 0, "%s %s: %s",
             e.field, e.text, p);
        MUST(cJSON_IsObject(doc));
        cJSON_Delete(doc);
    }
}

static void check_output(const struct run *r, const struct cli *cli, int status)
{
    fuzz_must_be_shown(buf_str(&world.err), world.err.len, FUZZ_LINES);
    MUST(status == 0 || status == EXIT_TIMEOUT || (status >= 1 && status <= 7), "%d", status);
    if (r->redraws && cli->out.tty)
        drop_redraws(&world.out);
    if (cli->shared.json)
        must_be_json_lines(&world.out);
    else if (cli->out.tty || !r->is_raw)
        fuzz_must_be_shown(buf_str(&world.out), world.out.len,
                           FUZZ_LINES | (cli->out.colour ? FUZZ_STYLES : 0));
    if (status == 0)
        fuzz_count_good();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cli cli = {.deadline_ns = -1, .shared.timeout_ms = -1};

    world.in = (struct fuzz_in){data, size};
    world.now_ns = 0;
    const struct run *r = &runs[fuzz_below(&world.in, ARRAY_LEN(runs))];
    uint8_t how = fuzz_byte(&world.in);
    cli.shared.json = (how & 7) == 7;
    cli.out = (struct term){.fd = 1, .tty = how & 8, .colour = how & 8 && how & 16};
    cli.out.width = cli.out.tty ? 40 + how % 120 : 0;
    cli.err = (struct term){.fd = 2};
    check_output(r, &cli, run_command(&cli, r));
    buf_deinit(&world.out);
    buf_deinit(&world.err);
    arena_deinit(&cli.a);
    return 0;
}
