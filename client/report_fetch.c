#include "client/report_fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/chunks.h"

#define REPORT_BYTES_MAX ((size_t)512 << 20)
/* What the daemon renders reports for. */
#define WIDTH_MIN 60
#define WIDTH_MAX 400

/* For people, and on the wire. */
static const struct {
    const char *word, *wire;
} formats[] = {
    [REPORT_TEXT] = {"text", "text"},
    [REPORT_MARKDOWN] = {"markdown", "markdown"},
    [REPORT_SUMMARY] = {"json", "summary"},
    [REPORT_RAW] = {"raw", "raw"},
};

int report_format_parse(const char *word, enum report_format *out, struct err *e)
{
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(word, formats[i].word) == 0) {
            *out = (enum report_format)i;
            return 0;
        }
    return err_set(e, -EINVAL, "usage", "--format",
                   "there is no report format %.40s; use text, markdown, json or raw", word);
}

const char *report_format_name(enum report_format f)
{
    return formats[f].word;
}

bool report_format_is_json(enum report_format f)
{
    return f == REPORT_SUMMARY || f == REPORT_RAW;
}

void report_deinit(struct report *r)
{
    buf_deinit(&r->data);
}

static void put_params(const char *id, const struct term *term, const struct report *r,
                       struct buf *out)
{
    struct json_out o;

    json_out_init(&o, out);
    json_begin(&o, NULL);
    json_put_str(&o, "id", id);
    json_put_str(&o, "format", formats[r->format].wire);
    json_put_int(&o, "offset", (int64_t)r->data.len);
    if (r->format == REPORT_TEXT) {
        int width = term->width ? term->width : 100;
        json_put_int(&o, "width",
                     width < WIDTH_MIN   ? WIDTH_MIN
                     : width > WIDTH_MAX ? WIDTH_MAX
                                         : width);
        json_put_bool(&o, "colour", term->colour);
    }
    json_end(&o);
}

static int fetch_piece(struct connection *c, const char *id, const struct term *term,
                       struct report *r, bool *whole, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    CLEANUP(chunk_deinit) struct chunk chunk = {0};
    struct json_in in;

    put_params(id, term, r, &params);
    int rc = connection_call(c, "report.get", buf_str(&params), &answer, e);
    if (rc == 0)
        rc = chunk_decode(&answer, (int64_t)r->data.len, &chunk, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer.a, e);
    const char *attempt = json_str(&in, answer.msg.result, "attempt", sizeof r->attempt - 1);
    const char *grade = json_str(&in, answer.msg.result, "grade", sizeof r->grade - 1);
    if (in.rc == 0 && r->attempt[0] && strcmp(r->attempt, attempt) != 0)
        json_fail(&in, "attempt", "json.value", "the job has another report now");
    rc = connection_check(&in, e);
    if (rc < 0)
        return rc;
    (void)snprintf(r->attempt, sizeof r->attempt, "%s", attempt);
    (void)snprintf(r->grade, sizeof r->grade, "%s", grade);
    buf_add(&r->data, chunk.data.data, chunk.data.len);
    *whole = chunk.next >= chunk.total;
    return 0;
}

int report_fetch(struct connection *c, const char *id, const struct term *term, struct report *r,
                 struct err *e)
{
    bool whole = false;

    while (!whole) {
        int rc = fetch_piece(c, id, term, r, &whole, e);
        if (rc < 0)
            return rc;
        if (r->data.len > REPORT_BYTES_MAX)
            return err_set(e, -EFBIG, "client.output", "report",
                           "the report is longer than %zu MiB; read it in its evidence folder",
                           REPORT_BYTES_MAX >> 20);
    }
    return 0;
}

void report_print(struct cli *cli, const struct report *r)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    if (!r->data.len)
        return;
    if (!cli->out.tty) {
        cli_write(r->data.data, r->data.len);
        return;
    }
    unsigned keep = TERM_KEEP_LINES | (cli->out.colour ? TERM_KEEP_STYLES : 0);
    term_clean(&b, r->data.data, r->data.len, keep);
    cli_put(&b);
}
