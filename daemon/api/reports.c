/* report.get: the report of a job, rendered from its evidence. */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "base/files.h"
#include "base/mem.h"
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

/* Of the attempt with this number; a job keeps the reports of all its runs. */
static int find_attempt(struct api_call *c, const struct store_job *job, int number,
                        const char **attempt)
{
    struct store_attempt *attempts;
    size_t n = 0;
    int rc = store_job_attempts(c->api->config.store, job->id, &c->arena, &attempts, &n, &c->e);

    for (size_t i = 0; rc == 0 && i < n; i++)
        if (attempts[i].number == number) {
            *attempt = attempts[i].id;
            return 0;
        }
    if (rc < 0)
        return rc;
    return err_set(&c->e, -ENOENT, "attempt.not_found", "attempt",
                   "job %s has no attempt %d; `aurabench show %s` lists those it has had", job->id,
                   number, job->id);
}

static int no_report(struct api_call *c, const struct store_job *job, int number)
{
    if (number > 0)
        return err_set(&c->e, -ENOENT, "report.not_ready", "attempt",
                       "attempt %d of job %s has no report; see `aurabench show %s`", number,
                       job->id, job->id);
    return err_set(&c->e, -ENOENT, "report.not_ready", "id",
                   "job %s is %s and has no report%s; see `aurabench show %s`", job->id,
                   job_state_name(job->state),
                   job->run_from > 1 ? " of this run (those of earlier ones: --attempt N)" : "",
                   job->id);
}

static int find_report(struct api_call *c, int number, struct store_report **report)
{
    struct store *store = c->api->config.store;
    struct store_job *job;
    char id[ULID_LEN + 1];
    const char *attempt;

    int rc = api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(store, id, &c->arena, &job, &c->e);
    if (rc < 0)
        return rc;
    attempt = job->report;
    if (number > 0)
        rc = find_attempt(c, job, number, &attempt);
    if (rc < 0)
        return rc;
    if (!attempt)
        return no_report(c, job, number);
    rc = store_report_get(store, attempt, &c->arena, report, &c->e);
    return rc > 0 ? no_report(c, job, number) : rc;
}

int api_read_style(struct api_call *c, struct report_style *style)
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

struct getting {
    enum format format;
    int attempt; /* its number; 0: the job's report */
    struct report_style style;
    struct store_report *report;
    struct api_text text;   /* of what is rendered */
    struct api_piece piece; /* of a file */
};

static bool is_file(const struct getting *g)
{
    return g->format == FORMAT_RAW || g->format == FORMAT_SUMMARY;
}

static int read_file(struct api_call *c)
{
    struct getting *g = c->data;
    const char *name = g->format == FORMAT_RAW ? "raw.json" : "summary.json";

    return api_piece_read(arena_printf(&c->arena, "%s/%s", g->report->evidence, name), &g->piece,
                          &c->e);
}

static int make_text(struct api_call *c)
{
    struct getting *g = c->data;
    struct buf json = {0};
    int rc = file_read(arena_printf(&c->arena, "%s/raw.json", g->report->evidence), RAW_BYTES_MAX,
                       &json, &c->e);

    if (rc == 0)
        rc = render(c, g->format, &g->style, &json, &g->text.out);
    buf_deinit(&json);
    if (rc == 0)
        api_text_finish(&g->text);
    return rc;
}

static void put_whose(struct api_call *c)
{
    const struct getting *g = c->data;

    json_put_str(c->o, "attempt", g->report->attempt);
    json_put_str(c->o, "grade", grade_name(g->report->grade));
}

static int answer_file(struct api_call *c)
{
    const struct getting *g = c->data;

    api_piece_put(c, &g->piece,
                  g->format == FORMAT_RAW ? g->report->raw_sha256 : g->report->summary_sha256);
    put_whose(c);
    return 0;
}

static int answer_text(struct api_call *c)
{
    struct getting *g = c->data;

    api_text_put(c, &g->text);
    put_whose(c);
    return 0;
}

static void free_out(struct api_call *c)
{
    struct getting *g = c->data;

    buf_deinit(&g->text.out);
    buf_deinit(&g->piece.data);
}

static int read_params(struct api_call *c, struct getting *g)
{
    g->text.offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX, 0);
    g->piece.offset = g->text.offset;
    g->attempt = (int)json_opt_int(&c->in, c->req.params, "attempt", 1, INT32_MAX, 0);
    g->format = (enum format)json_enum(&c->in, c->req.params, "format", format_parse);
    return api_read_style(c, &g->style);
}

/* A large report is work: between two observations, on a worker thread. */
int api_report_get(struct api_call *c)
{
    struct getting *g = arena_alloc(&c->arena, sizeof *g);
    int rc = read_params(c, g);

    if (rc == 0)
        rc = find_report(c, g->attempt, &g->report);
    if (rc == 0 && g->format == FORMAT_SUMMARY && !g->report->summary_sha256)
        rc = err_set(&c->e, -ENOENT, "report.void", "format",
                     "a void attempt has no summary; ask for format text or raw");
    if (rc < 0)
        return rc;
    c->data = g;
    c->at_end = free_out;
    if (is_file(g))
        return api_defer(c, true, read_file, answer_file);
    g->text.key = arena_printf(&c->arena, "report %s %d %d %d", g->report->attempt, g->format,
                               g->style.width, g->style.colour);
    if (!api_text_put_kept(c, &g->text))
        return api_defer(c, true, make_text, answer_text);
    put_whose(c);
    return 0;
}
