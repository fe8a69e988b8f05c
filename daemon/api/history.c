/* history.get: one figure through many reports, or which figures there are. */
#include <string.h>

#include "api/internal.h"
#include "report/history.h"
#include "store/figures.h"

#define TEXT_MAX 200
#define LIMIT_DEFAULT 20
#define SERIES_MAX 256 /* of one workload, that one answer shows */
#define ROWS_MAX 10000 /* looked at for one answer: the loop reads them */

/* The rows of one series, until all are there. */
struct part {
    void *rows;
    size_t n;
};

/* Gathered on the loop, rendered on a worker thread. */
struct looking {
    struct store_series of; /* lane and value: NULL, all */
    bool changes;
    int may_read; /* rows */
    enum history_format format;
    struct report_style style;
    struct history found;
    struct history_view view;
    struct api_text text;
};

static int read_params(struct api_call *c, struct looking *l)
{
    struct json_in *in = &c->in;
    const cJSON *p = c->req.params;

    l->of = (struct store_series){
        .workload = json_opt_str(in, p, "workload", TEXT_MAX, NULL),
        .value = json_opt_str(in, p, "value", TEXT_MAX, NULL),
        .lane = json_opt_str(in, p, "lane", TEXT_MAX, NULL),
        .against = json_opt_str(in, p, "against", TEXT_MAX, NULL),
        .side = json_opt_str(in, p, "side", TEXT_MAX, NULL),
        .suite = json_opt_str(in, p, "suite", TEXT_MAX, NULL),
        .contractual = json_opt_bool(in, p, "contractual", false),
        .since_ms = json_opt_int(in, p, "since_ms", 0, JSON_INT_MAX, 0),
        .until_ms = json_opt_int(in, p, "until_ms", 0, JSON_INT_MAX, JSON_INT_MAX),
        .limit = (int)json_opt_int(in, p, "limit", 1, STORE_SERIES_MAX, LIMIT_DEFAULT)};
    l->may_read = ROWS_MAX;
    l->changes = json_opt_bool(in, p, "changes", false);
    l->format = (enum history_format)json_enum(in, p, "format", history_format_parse);
    (void)api_read_style(c, &l->style);
    l->text.offset = json_opt_int(in, p, "offset", 0, JSON_INT_MAX, 0);
    if (in->rc == 0 && l->changes && l->of.against)
        json_fail(in, "changes", "json.value",
                  "ask for changes (side against side) or for against (lane against lane)");
    if (in->rc == 0 && !l->of.workload &&
        (l->of.value || l->of.lane || l->of.against || l->of.side || l->of.suite || l->changes ||
         l->of.contractual))
        json_fail(in, "workload", "json.value", "name the workload that this is asked of");
    return in->rc;
}

/* ---- gathering */

/* Whether there may be rows of it: a ratio is of two lanes, or of two sides of one. */
static bool is_compared(const struct looking *l, const struct history_name *name)
{
    const char *against = l->changes ? name->lane : l->of.against;

    if (!against)
        return true;
    if (l->of.against && strcmp(against, name->lane) == 0)
        return false;
    for (size_t i = 0; i < name->n_against; i++)
        if (strcmp(name->against[i], against) == 0)
            return true;
    return name->more_against;
}

static int read_series(struct api_call *c, struct looking *l, const struct history_name *name,
                       struct part *out)
{
    struct store *store = c->api->config.store;
    struct store_series of = l->of;
    struct history_figure *figures = NULL;
    struct history_ratio *ratios = NULL;
    bool more = false;
    int rc;

    of.value = name->value;
    of.lane = name->lane;
    of.against = l->changes ? name->lane : l->of.against;
    if (of.against)
        rc = store_ratio_list(store, &of, &l->may_read, &c->arena, &ratios, &out->n, &more, &c->e);
    else
        rc =
            store_figure_list(store, &of, &l->may_read, &c->arena, &figures, &out->n, &more, &c->e);
    out->rows = of.against ? (void *)ratios : (void *)figures;
    l->view.cut_rows = l->view.cut_rows || more;
    return rc;
}

static void *join(struct api_call *c, const struct part *parts, size_t n, size_t bytes, size_t *all)
{
    *all = 0;
    for (size_t i = 0; i < n; i++)
        *all += parts[i].n;
    char *rows = arena_array(&c->arena, *all, bytes), *to = rows;
    for (size_t i = 0; i < n; to += parts[i++].n * bytes)
        if (parts[i].n)
            memcpy(to, parts[i].rows, parts[i].n * bytes);
    return rows;
}

static void join_all(struct api_call *c, struct looking *l, const struct part *parts, size_t n)
{
    struct history *h = &l->found;

    if (l->changes || l->of.against)
        h->ratios = join(c, parts, n, sizeof *h->ratios, &h->n_ratios);
    else
        h->figures = join(c, parts, n, sizeof *h->figures, &h->n_figures);
}

/* "subject time (against c, rust)": what could have been asked for. */
static void put_there(struct buf *out, const struct history_name *name)
{
    buf_printf(out, "%s %s", name->lane, name->value[0] ? name->value : HISTORY_TIME);
    for (size_t i = 0; i < name->n_against; i++)
        buf_printf(out, "%s%s", i ? ", " : " (against ",
                   strcmp(name->against[i], name->lane) == 0 ? "its other sides"
                                                             : name->against[i]);
    buf_puts(out, name->n_against == 0 ? "" : name->more_against ? ", ...)" : ")");
}

static const char *what_is_missing(const struct looking *l)
{
    return l->changes ? "changes" : l->of.against ? "against" : l->of.lane ? "lane" : "value";
}

static int none_such(struct api_call *c, const struct looking *l)
{
    const struct store_series all = {.workload = l->of.workload, .limit = SERIES_MAX};
    struct history_name *names;
    struct buf there = {0};
    bool more;
    size_t n;
    int rc = store_series_list(c->api->config.store, &all, &c->arena, &names, &n, &more, &c->e);

    if (rc == 0 && n == 0)
        return err_set(&c->e, -ENOENT, "history.not_found", "workload",
                       "no report here has a workload %s; `aurabench history` lists those there "
                       "are",
                       l->of.workload);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        buf_puts(&there, i ? "; " : "");
        put_there(&there, &names[i]);
    }
    if (rc == 0)
        rc = err_set(&c->e, -ENOENT, "history.not_found", what_is_missing(l),
                     "no report has that of workload %s; there is: %.400s%s", l->of.workload,
                     buf_str(&there), more || there.len > 400 ? " and more" : "");
    buf_deinit(&there);
    return rc;
}

static int gather_rows(struct api_call *c, struct looking *l)
{
    struct store_series all = l->of;
    struct part *parts = arena_array(&c->arena, SERIES_MAX, sizeof *parts);
    struct history_name *names;
    size_t n = 0, n_parts = 0;

    all.limit = SERIES_MAX;
    int rc = store_series_list(c->api->config.store, &all, &c->arena, &names, &n,
                               &l->view.cut_series, &c->e);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (!is_compared(l, &names[i]))
            continue;
        l->view.cut_series = l->view.cut_series || l->may_read == 0;
        if (l->may_read > 0)
            rc = read_series(c, l, &names[i], &parts[n_parts++]);
    }
    if (rc == 0 && n_parts == 0 && !l->view.cut_series)
        return none_such(c, l);
    join_all(c, l, parts, n_parts);
    return rc;
}

/* Thousands of rows are read: not while something is timed. */
static int gather(struct api_call *c)
{
    struct looking *l = c->data;
    const struct store_series all = {.limit = STORE_SERIES_MAX};

    l->view = (struct history_view){.h = &l->found,
                                    .workload = l->of.workload,
                                    .against = l->of.against,
                                    .changes = l->changes};
    if (l->of.workload)
        return gather_rows(c, l);
    return store_series_list(c->api->config.store, &all, &c->arena, &l->found.names,
                             &l->found.n_names, &l->view.cut_series, &c->e);
}

/* ---- the answer */

static int render(struct api_call *c)
{
    struct looking *l = c->data;

    history_render(&l->text.out, &l->view, l->format, &l->style);
    api_text_finish(&l->text);
    return 0;
}

static int answer(struct api_call *c)
{
    struct looking *l = c->data;

    api_text_put(c, &l->text);
    return 0;
}

static void free_out(struct api_call *c)
{
    buf_deinit(&((struct looking *)c->data)->text.out);
}

int api_history_get(struct api_call *c)
{
    struct looking *l = arena_alloc(&c->arena, sizeof *l);
    int rc = read_params(c, l);

    if (rc < 0)
        return rc;
    l->text.key = api_question(c);
    c->data = l;
    c->at_end = free_out;
    if (api_text_put_kept(c, &l->text))
        return 0;
    c->begin_fn = gather;
    return api_defer(c, true, render, answer);
}
