#include "client/link/report_fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/link/chunks.h"

#define REPORT_BYTES_MAX ((size_t)512 << 20)
/* What the daemon renders reports for. */
#define WIDTH_MIN 60
#define WIDTH_MAX 400
#define WIDTH_PLAIN 100 /* where it is no terminal */

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

struct asking {
    const char *id;
    const struct term *term;
    struct report *report;
};

void report_put_style(struct json_out *o, const struct term *term, int plain_width)
{
    int width = term->width ? term->width : plain_width;

    json_put_int(o, "width", width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width);
    json_put_bool(o, "colour", term->colour);
}

static void put_params(void *ctx, int64_t offset, struct json_out *o)
{
    const struct asking *q = ctx;

    json_put_str(o, "id", q->id);
    if (q->report->number)
        json_put_int(o, "attempt", q->report->number);
    json_put_str(o, "format", formats[q->report->format].wire);
    json_put_int(o, "offset", offset);
    if (q->report->format == REPORT_TEXT)
        report_put_style(o, q->term, WIDTH_PLAIN);
}

static void take_whose(void *ctx, struct json_in *in, const cJSON *result)
{
    struct report *r = ((struct asking *)ctx)->report;
    const char *attempt = json_str(in, result, "attempt", sizeof r->attempt - 1);
    const char *grade = json_str(in, result, "grade", sizeof r->grade - 1);

    if (in->rc == 0 && r->attempt[0] && strcmp(r->attempt, attempt) != 0)
        json_fail(in, "attempt", "json.value", "the job has another report now");
    if (in->rc != 0)
        return;
    (void)snprintf(r->attempt, sizeof r->attempt, "%s", attempt);
    (void)snprintf(r->grade, sizeof r->grade, "%s", grade);
}

int report_fetch(struct connection *c, const char *id, const struct term *term, struct report *r,
                 struct err *e)
{
    struct asking q = {.id = id, .term = term, .report = r};
    const struct fetch f = {.method = "report.get",
                            .what = "the report",
                            .max_bytes = REPORT_BYTES_MAX,
                            .ctx = &q,
                            .put = put_params,
                            .look = take_whose};

    return fetch_whole(c, &f, &r->data, e);
}

void report_print(struct cli *cli, const struct buf *text)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    if (!text->len)
        return;
    if (!cli->out.tty) {
        cli_write(text->data, text->len);
        return;
    }
    unsigned keep = TERM_KEEP_LINES | (cli->out.colour ? TERM_KEEP_STYLES : 0);
    term_clean(&b, text->data, text->len, keep);
    cli_put(&b);
}
