/* report.get: the report of a job, rendered from its evidence. */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/base64.h"
#include "report/report.h"

#define RAW_BYTES_MAX ((size_t)512 << 20)

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_SUMMARY, FORMAT_RAW };

static int format_parse(const char *s)
{
    static const char *const names[] = {"text", "markdown", "summary", "raw"};

    for (int i = 0; i < (int)ARRAY_LEN(names); i++)
        if (strcmp(names[i], s) == 0)
            return i;
    return -1;
}

void api_put_chunk(struct api_call *c, const char *data, size_t len, int64_t offset)
{
    struct buf text = {0};
    size_t from = offset < (int64_t)len ? (size_t)offset : len;
    size_t n = len - from < API_CHUNK_BYTES ? len - from : API_CHUNK_BYTES;

    base64_encode(&text, data + from, n);
    json_put_str(c->o, "data", buf_str(&text));
    json_put_int(c->o, "next", (int64_t)(from + n));
    buf_deinit(&text);
}

static int find_report(struct api_call *c, struct store_report **report)
{
    struct store *store = c->api->config.store;
    struct store_job *job;
    char id[ULID_LEN + 1];

    int rc = api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(store, id, &c->arena, &job, &c->e);
    if (rc < 0)
        return rc;
    if (!job->report)
        return err_set(&c->e, -ENOENT, "report.not_ready", "id",
                       "job %s is %s and has no report; see `aurabench show %s`", id,
                       job_state_name(job->state), id);
    rc = store_report_get(store, job->report, &c->arena, report, &c->e);
    return rc > 0 ? -ENOENT : rc;
}

static int read_style(struct api_call *c, struct report_style *style)
{
    style->width =
        (int)json_opt_int(&c->in, c->req.params, "width", REPORT_WIDTH_MIN, REPORT_WIDTH_MAX, 100);
    style->colour = json_opt_bool(&c->in, c->req.params, "colour", false);
    return c->in.rc;
}

static int render(struct api_call *c, enum format format, const struct report_style *style,
                  const struct buf *json, struct buf *out)
{
    struct raw *raw;
    int rc = raw_decode(&c->arena, json->data, json->len, &raw, &c->e);

    if (rc < 0)
        return rc;
    const struct summary *summary = summarise(&c->arena, raw);
    if (format == FORMAT_TEXT)
        report_text(out, raw, summary, style);
    else
        report_markdown(out, raw, summary);
    return 0;
}

static int read_evidence(struct api_call *c, const struct store_report *report, const char *name,
                         struct buf *out)
{
    return file_read(arena_printf(&c->arena, "%s/%s", report->evidence, name), RAW_BYTES_MAX, out,
                     &c->e);
}

struct getting {
    enum format format;
    int64_t offset;
    struct report_style style;
    struct store_report *report;
    struct buf out;
};

static int produce(struct api_call *c)
{
    struct getting *g = c->data;
    struct buf json = {0};

    if (g->format == FORMAT_RAW)
        return read_evidence(c, g->report, "raw.json", &g->out);
    if (g->format == FORMAT_SUMMARY)
        return read_evidence(c, g->report, "summary.json", &g->out);
    int rc = read_evidence(c, g->report, "raw.json", &json);
    if (rc == 0)
        rc = render(c, g->format, &g->style, &json, &g->out);
    buf_deinit(&json);
    return rc;
}

static int answer(struct api_call *c)
{
    struct getting *g = c->data;

    api_put_chunk(c, buf_str(&g->out), g->out.len, g->offset);
    json_put_int(c->o, "total", (int64_t)g->out.len);
    json_put_str(c->o, "attempt", g->report->attempt);
    json_put_str(c->o, "grade", grade_name(g->report->grade));
    return 0;
}

static void free_out(struct api_call *c)
{
    struct getting *g = c->data;

    buf_deinit(&g->out);
}

static int read_params(struct api_call *c, struct getting *g)
{
    g->offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX, 0);
    g->format = (enum format)json_enum(&c->in, c->req.params, "format", format_parse);
    return read_style(c, &g->style);
}

/* A large report is work: between two observations, on a worker thread. */
int api_report_get(struct api_call *c)
{
    struct getting *g = arena_alloc(&c->arena, sizeof *g);
    int rc = read_params(c, g);

    if (rc == 0)
        rc = find_report(c, &g->report);
    if (rc == 0 && g->format == FORMAT_SUMMARY && !g->report->summary_sha256)
        rc = err_set(&c->e, -ENOENT, "report.void", "format",
                     "a void attempt has no summary; ask for format text or raw");
    if (rc < 0)
        return rc;
    c->data = g;
    c->at_end = free_out;
    return api_defer(c, true, produce, answer);
}
