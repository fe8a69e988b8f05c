/* history.get: one figure through many reports, or which figures there are. */
#include <string.h>

#include "api/internal.h"
#include "report/history.h"
#include "store/figures.h"

#define TEXT_MAX 200
#define LIMIT_DEFAULT 20
#define SERIES_MAX 256 /* of one workload, that one answer shows */
#define ROWS_MAX 20000 /* of all of them: the loop reads them */

/* Gathered on the loop, rendered on a worker thread. */
struct looking {
    struct store_series of; /* lane and value: NULL, all */
    bool changes;
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
        .limit = (int)json_opt_int(in, p, "limit", 1, STORE_SERIES_MAX - 1, LIMIT_DEFAULT)};
    l->changes = json_opt_bool(in, p, "changes", false);
    l->format = (enum history_format)json_enum(in, p, "format", history_format_parse);
    l->style.width = (int)json_opt_int(in, p, "width", REPORT_WIDTH_MIN, REPORT_WIDTH_MAX, 100);
    l->style.colour = json_opt_bool(in, p, "colour", false);
    l->text.offset = json_opt_int(in, p, "offset", 0, JSON_INT_MAX, 0);
    if (in->rc == 0 && l->changes && l->of.against)
        json_fail(in, "changes", "json.value",
                  "ask for changes (side against side) or for against (lane against lane)");
    return in->rc;
}

/* ---- gathering */

static bool is_asked_for(const struct looking *l, const struct history_name *name)
{
    const char *against = l->changes ? name->lane : l->of.against;
    bool compared = !against;

    if (l->of.against && strcmp(l->of.against, name->lane) == 0)
        return false; /* its own sides are changes */

    for (size_t i = 0; i < name->n_against && !compared; i++)
        compared = strcmp(name->against[i], against) == 0;
    return compared && (!l->of.lane || strcmp(l->of.lane, name->lane) == 0) &&
           (!l->of.value || strcmp(l->of.value, name->value) == 0);
}

static void append(struct api_call *c, void **to, size_t *n, const void *rows, size_t n_rows,
                   size_t bytes)
{
    char *all = arena_array(&c->arena, *n + n_rows, bytes);

    if (*n)
        memcpy(all, *to, *n * bytes);
    if (n_rows)
        memcpy(all + *n * bytes, rows, n_rows * bytes);
    *to = all;
    *n += n_rows;
}

/* One more than wanted was asked for. */
static size_t within(struct looking *l, size_t n)
{
    if (n <= (size_t)l->of.limit)
        return n;
    l->view.cut = true;
    return (size_t)l->of.limit;
}

static int add_figures(struct api_call *c, struct looking *l, const struct store_series *of)
{
    struct history_figure *rows = NULL;
    void *all = l->found.figures;
    size_t n = 0;
    int rc = store_figure_list(c->api->config.store, of, &c->arena, &rows, &n, &c->e);

    append(c, &all, &l->found.n_figures, rows, within(l, n), sizeof *rows);
    l->found.figures = all;
    return rc;
}

static int add_ratios(struct api_call *c, struct looking *l, const struct store_series *of)
{
    struct history_ratio *rows = NULL;
    void *all = l->found.ratios;
    size_t n = 0;
    int rc = store_ratio_list(c->api->config.store, of, &c->arena, &rows, &n, &c->e);

    append(c, &all, &l->found.n_ratios, rows, within(l, n), sizeof *rows);
    l->found.ratios = all;
    return rc;
}

static int add_series(struct api_call *c, struct looking *l, const struct history_name *name)
{
    struct store_series of = l->of;

    of.limit++;
    of.value = name->value;
    of.lane = name->lane;
    of.against = l->changes ? name->lane : l->of.against;
    return of.against ? add_ratios(c, l, &of) : add_figures(c, l, &of);
}

/* "subject time (against c, rust)": what could have been asked for. */
static void put_there(struct buf *out, const struct history_name *name)
{
    buf_printf(out, "%s %s", name->lane, name->value[0] ? name->value : "time");
    for (size_t i = 0; i < name->n_against; i++)
        buf_printf(out, "%s%s", i ? ", " : " (against ",
                   strcmp(name->against[i], name->lane) == 0 ? "its other sides"
                                                             : name->against[i]);
    buf_puts(out, name->n_against ? ")" : "");
}

static int none_such(struct api_call *c, const struct looking *l, const struct history_name *names,
                     size_t n)
{
    struct buf there = {0};

    if (n == 0)
        return err_set(&c->e, -ENOENT, "history.not_found", "workload",
                       "no report here has a workload %s; `aurabench history` lists those there "
                       "are",
                       l->of.workload);
    for (size_t i = 0; i < n; i++) {
        buf_puts(&there, i ? "; " : "");
        put_there(&there, &names[i]);
    }
    (void)err_set(&c->e, -ENOENT, "history.not_found",
                  l->changes      ? "changes"
                  : l->of.against ? "against"
                  : l->of.lane    ? "lane"
                                  : "value",
                  "no report has that of workload %s; there is: %.400s", l->of.workload,
                  buf_str(&there));
    buf_deinit(&there);
    return -ENOENT;
}

static int gather_rows(struct api_call *c, struct looking *l)
{
    struct history_name *names;
    size_t n = 0, asked = 0;
    int rc = store_series_list(c->api->config.store, l->of.workload, SERIES_MAX, &c->arena, &names,
                               &n, &l->view.cut, &c->e);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (!is_asked_for(l, &names[i]))
            continue;
        asked++;
        l->view.cut = l->view.cut || l->found.n_figures + l->found.n_ratios >= ROWS_MAX;
        if (l->found.n_figures + l->found.n_ratios < ROWS_MAX)
            rc = add_series(c, l, &names[i]);
    }
    return rc == 0 && asked == 0 ? none_such(c, l, names, n) : rc;
}

static int gather(struct api_call *c, struct looking *l)
{
    l->view = (struct history_view){.h = &l->found,
                                    .workload = l->of.workload,
                                    .against = l->of.against,
                                    .changes = l->changes};
    if (l->of.workload)
        return gather_rows(c, l);
    return store_series_list(c->api->config.store, NULL, STORE_SERIES_MAX, &c->arena,
                             &l->found.names, &l->found.n_names, &l->view.cut, &c->e);
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
    rc = gather(c, l);
    return rc < 0 ? rc : api_defer(c, true, render, answer);
}
