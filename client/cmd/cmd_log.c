/* aurabench log: what the attempts of a job said, and its builds and lanes printed. */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"
#include "client/link/chunks.h"
#include "client/link/reconnect.h"

#define UTF8_MAX 4

struct values {
    bool follow;
    int offset;
};

static const struct opt opts[] = {
    {'f', "follow", OPT_FLAG, NULL, offsetof(struct values, follow), 0, 0,
     "go on until the job ends"},
    {0, "offset", OPT_INT, "BYTES", offsetof(struct values, offset), 0, INT_MAX,
     "from this byte of the log on (0)"},
};

struct tail {
    struct cli *cli;
    bool follow;
    const char *id;
    int64_t offset; /* read so far */
    bool ended;
    struct buf rest; /* of a character whose end has not been read yet */
    struct buf text; /* for one document of all of it */
    bool said_end;   /* in the last document of a follower */
    struct reconnecting outage;
};

/* ---- writing */

/* Bytes at the end that begin a character and do not end it. */
static size_t unfinished(const struct buf *b)
{
    for (size_t n = 1; n < UTF8_MAX && n <= b->len; n++) {
        unsigned char c = (unsigned char)b->data[b->len - n];
        size_t wants = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
        if ((c & 0xc0) != 0x80)
            return wants > n ? n : 0;
    }
    return 0;
}

static void put_terminal(const char *data, size_t len)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    term_clean(&b, data, len, TERM_KEEP_LINES);
    cli_put(&b);
}

/* A document's string has no place for NUL; what else is no text is replaced where it is quoted. */
static void add_text(struct buf *out, const char *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (data[i])
            buf_putc(out, data[i]);
        else
            buf_puts(out, "\xef\xbf\xbd");
}

static void put_document(struct tail *t, const char *text)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(t->cli, &o, &b);
    json_put_str(&o, "text", text);
    json_put_int(&o, "next", t->offset);
    json_put_bool(&o, "ended", t->ended);
    cli_json_end(&o);
    t->said_end = t->ended;
}

/* Whole characters of what is at hand; all of it when nothing more is to come. */
static void put(struct tail *t, bool all)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    size_t len = t->rest.len - (all ? 0 : unfinished(&t->rest));

    if (len == 0)
        return;
    if (t->cli->shared.json)
        add_text(t->follow ? &text : &t->text, t->rest.data, len);
    else if (t->cli->out.tty)
        put_terminal(t->rest.data, len);
    else
        cli_write(t->rest.data, len);
    if (text.len)
        put_document(t, buf_str(&text));
    buf_consume(&t->rest, len);
}

/* ---- reading */

static int read_piece(struct tail *t, struct connection *c, int64_t *total, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    CLEANUP(chunk_deinit) struct chunk chunk = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    json_put_str(&o, "id", t->id);
    json_put_int(&o, "offset", t->offset);
    json_end(&o);
    int rc = connection_call(c, "job.log", buf_str(&params), &answer, e);
    if (rc == 0)
        rc = chunk_decode(&answer, t->offset, &chunk, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    t->ended = json_bool(&in, answer.msg.result, "ended");
    t->offset = chunk.next;
    *total = chunk.total;
    buf_add(&t->rest, chunk.data.data, chunk.data.len);
    return connection_check(&in, e);
}

static int read_all(struct tail *t, struct connection *c, struct err *e)
{
    int64_t total = INT64_MAX;
    int rc = 0;

    while (rc == 0 && t->offset < total) {
        rc = read_piece(t, c, &total, e);
        put(t, rc == 0 && t->ended && t->offset >= total);
    }
    return rc;
}

/* Before the log is read, so that nothing is missed between the two. */
static int watch(struct tail *t, struct connection *c, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_in in;

    cli_id_params(&params, t->id);
    int rc = connection_call(c, "job.watch", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    const char *id = json_str(&in, json_obj(&in, answer.msg.result, "job"), "id", 64);
    rc = connection_check(&in, e);
    if (rc == 0)
        t->id = arena_strdup(&t->cli->a, id);
    return rc;
}

/* Waits for an event; *more: the log has grown, or may have. */
static int next_event(struct tail *t, struct connection *c, bool *more, struct err *e)
{
    CLEANUP(answer_deinit) struct answer note = {0};
    struct json_in in;
    int rc = connection_next(c, &note, e);

    *more = false;
    if (rc < 0 || strcmp(note.msg.method, "job.event") != 0)
        return rc;
    json_in_init(&in, &note.a, e);
    const char *job = json_str(&in, note.msg.params, "job", 64);
    int64_t log_bytes = json_opt_int(&in, note.msg.params, "log_bytes", 0, JSON_INT_MAX, INT64_MAX);
    bool final = json_opt_bool(&in, note.msg.params, "final", false);
    rc = connection_check(&in, e);
    if (rc == 0)
        *more = strcmp(job, t->id) == 0 && (final || log_bytes > t->offset);
    return rc;
}

static int read_on(struct tail *t, struct connection *c, struct err *e)
{
    int rc = t->follow ? watch(t, c, e) : 0;

    if (rc == 0)
        rc = read_all(t, c, e);
    reconnected(&t->outage);
    while (rc == 0 && t->follow && !t->ended) {
        bool more = false;
        rc = next_event(t, c, &more, e);
        if (rc == 0 && more)
            rc = read_all(t, c, e);
    }
    return rc;
}

static int read_log(struct tail *t, struct err *e)
{
    struct connection *c = NULL;
    int rc = cli_connect(t->cli, &c, e);

    if (rc == 0)
        rc = read_on(t, c, e);
    while (t->follow && reconnect_may_help(&t->outage, rc)) {
        rc = reconnect(t->cli, &t->outage, &c, e);
        if (rc == 0)
            rc = read_on(t, c, e);
    }
    connection_close(c);
    return rc;
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    const struct values *v = values;
    struct tail t = {.cli = cli, .follow = v->follow, .id = words->words.v[0], .offset = v->offset};
    struct err e = {0};

    int rc = read_log(&t, &e);
    put(&t, true);
    if (rc == 0 && cli->shared.json && !t.said_end)
        put_document(&t, buf_str(&t.text));
    buf_deinit(&t.rest);
    buf_deinit(&t.text);
    return rc < 0 ? cli_fail(cli, &e) : EXIT_GOOD;
}

const struct command command_log = {
    .name = "log",
    .usage = "ID",
    .summary = "what the builds of a job printed, and its lanes at last",
    .more = "With --follow it goes on over attempts, told by the daemon when there is more; with "
            "--json one document\na line then.",
    .opts = opts,
    .n_opts = ARRAY_LEN(opts),
    .values_bytes = sizeof(struct values),
    .words_min = 1,
    .words_max = 1,
    .run = run,
};
