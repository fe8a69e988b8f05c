/* A published performance page, made again: raw reports with its medians are written as raw.json,
 * read back, summarised and put on one page, whose tables then have the published figures, each in
 * its row. The figures are facts of tests/fixtures/seed-page.json. */
#include "../unit.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "base/files.h"
#include "base/mem.h"
#include "page_table.h"
#include "proto/doc/doc_evidence.h"
#include "proto/doc/documents.h"
#include "report/page_session.h"
#include "sample.h"

#define REPETITIONS 11
#define REPORTS 4
#define FIGURES 131

/* ---- raw reports of the fixture's medians */

static const char *text_of(const cJSON *obj, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(obj, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

static void fill_lane(const cJSON *doc, struct raw_lane *lane)
{
    *lane = (struct raw_lane){.name = text_of(doc, "name"),
                              .startup = text_of(doc, "startup"),
                              .control = cJSON_IsTrue(cJSON_GetObjectItem(doc, "control"))};
}

static void fill_workload(struct arena *a, const cJSON *doc, struct raw_workload *w)
{
    const cJSON *lanes = cJSON_GetObjectItem(doc, "lanes"), *lane;
    *w = (struct raw_workload){.name = text_of(doc, "name"),
                               .measure = (enum measure)measure_parse(text_of(doc, "measure")),
                               .n_lanes = (size_t)cJSON_GetArraySize(lanes)};
    w->lanes = arena_array(a, w->n_lanes, sizeof *w->lanes);
    size_t i = 0;
    cJSON_ArrayForEach (lane, lanes)
        fill_lane(lane, &w->lanes[i++]);
}

static int64_t elapsed_of(const cJSON *workload, int lane, const char *side, int repetition)
{
    const cJSON *lanes = cJSON_GetObjectItem(workload, "lanes");
    const cJSON *series = cJSON_GetObjectItem(cJSON_GetArrayItem(lanes, lane), "series");
    const cJSON *values = cJSON_GetObjectItem(series, side);
    assert_int_equal(cJSON_GetArraySize(values), REPETITIONS);
    return (int64_t)cJSON_GetArrayItem(values, repetition)->valuedouble;
}

static void observe(struct raw *raw, const cJSON *workload, const struct plan_step *step)
{
    const struct raw_workload *w = &raw->workloads[step->workload];
    bool process = w->measure == MEASURE_PROCESS;
    struct raw_observation *o = &raw->observations[raw->n_observations++];
    int64_t elapsed = elapsed_of(workload, step->lane, raw->sides[step->side], step->repetition);
    *o = (struct raw_observation){.seq = step->seq,
                                  .workload = w->name,
                                  .lane = w->lanes[step->lane].name,
                                  .side = raw->sides[step->side],
                                  .repetition = step->repetition,
                                  .position = step->position,
                                  .kind = OBS_TIMED,
                                  .outcome = "ok",
                                  RAW_OBSERVATION_NO_LEDGER,
                                  .start_ns = (int64_t)step->seq * 1000000000,
                                  .elapsed_ns = elapsed,
                                  .interval_cpu_ns = elapsed,
                                  .cpu = -1,
                                  .threads = process ? -1 : 1,
                                  .ready = process ? NULL : "READY x",
                                  .done = process ? NULL : "DONE x"};
    o->go_ns = process ? -1 : o->start_ns + 1000;
    o->done_ns = process ? -1 : o->go_ns + elapsed;
    o->exit_ns = process ? o->start_ns + elapsed : o->done_ns + 1000;
    o->process_ns = o->exit_ns - o->start_ns;
}

static void observe_repetition(struct raw *raw, const cJSON *workloads, int repetition)
{
    for (size_t w = 0; w < raw->n_workloads; w++) {
        size_t n = raw->workloads[w].n_lanes * raw->n_sides;
        for (size_t i = 0; i < n; i++) {
            struct plan_step *step = &raw->plan.steps[raw->plan.n];
            *step = (struct plan_step){.seq = (int)raw->plan.n,
                                       .workload = (int)w,
                                       .lane = (int)(i / raw->n_sides),
                                       .side = (int)(i % raw->n_sides),
                                       .repetition = repetition,
                                       .position = (int)i,
                                       .kind = OBS_TIMED};
            raw->plan.n++;
            observe(raw, cJSON_GetArrayItem(workloads, (int)w), step);
        }
    }
}

/* One side: only the last source, build and product stay. */
static void keep_last_side(struct raw *raw)
{
    raw->sides++;
    raw->n_sides = 1;
    raw->sources++;
    raw->job.sources++;
    raw->builds++;
    raw->artifacts++;
    raw->n_sources = raw->job.n_sources = raw->n_builds = raw->n_artifacts = 1;
}

static struct raw *raw_of(struct arena *a, const cJSON *doc, int number)
{
    const cJSON *workloads = cJSON_GetObjectItem(doc, "workloads");
    struct raw *raw = sample_raw(a);
    size_t lanes = 0;
    raw->id = arena_printf(a, "01KB9XK3Q8Z4T1V7N5M2C0D6E%d", number);
    raw->job.label = text_of(doc, "label");
    raw->job.suite_name = text_of(doc, "suite");
    raw->job.warmups = 0;
    if (cJSON_GetArraySize(cJSON_GetObjectItem(doc, "sides")) == 1)
        keep_last_side(raw);
    raw->n_workloads = (size_t)cJSON_GetArraySize(workloads);
    raw->workloads = arena_array(a, raw->n_workloads, sizeof *raw->workloads);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        fill_workload(a, cJSON_GetArrayItem(workloads, (int)w), &raw->workloads[w]);
        lanes += raw->workloads[w].n_lanes;
    }
    size_t n = lanes * raw->n_sides * REPETITIONS;
    raw->plan = (struct plan){.steps = arena_array(a, n, sizeof *raw->plan.steps)};
    raw->observations = arena_array(a, n, sizeof *raw->observations);
    raw->n_observations = 0;
    for (int r = 0; r < REPETITIONS; r++)
        observe_repetition(raw, workloads, r);
    return raw;
}

/* As it would come from another machine: through its bytes. */
static const struct raw *imported(struct arena *a, const struct raw *raw)
{
    struct buf text = {0};
    struct raw *again = NULL;
    struct err e = {0};
    if (evidence_raw_text(raw, &text, &e) || raw_decode(a, text.data, text.len, &again, &e))
        fail_msg("%s: %s", e.field, e.text);
    buf_deinit(&text);
    return again;
}

/* ---- the page */

struct world {
    struct arena a;
    cJSON *doc;
    char *page;
};

static int setup(void **state)
{
    struct world *w = mem_alloc(sizeof *w);
    struct page_report reports[REPORTS] = {{0}};
    struct buf text = {0}, page = {0};
    struct err e = {0};
    CLEANUP(mem_freep) char *path = mem_printf("%s/seed-page.json", getenv("AURABENCH_FIXTURES"));
    assert_int_equal(file_read(path, 1 << 20, &text, &e), 0);
    w->doc = cJSON_Parse(buf_str(&text));
    buf_deinit(&text);
    const cJSON *list = cJSON_GetObjectItem(w->doc, "reports");
    assert_int_equal(cJSON_GetArraySize(list), REPORTS);
    for (int i = 0; i < REPORTS; i++) {
        reports[i].raw = imported(&w->a, raw_of(&w->a, cJSON_GetArrayItem(list, i), i));
        reports[i].s = summarise(&w->a, reports[i].raw);
    }
    const struct page_input in = {
        .label = "foundations", .opened_wall_ms = -1, .reports = reports, .n_reports = REPORTS};
    report_page(&page, &in);
    w->page = buf_take(&page);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    cJSON_Delete(w->doc);
    arena_deinit(&w->a);
    free(w->page);
    free(w);
    return 0;
}

/* ---- the rows */

/* What the page must say; a cell that follows from rounded inputs is near the published one. */
static const char *expected(const cJSON *cell)
{
    if (cJSON_IsString(cell))
        return cell->valuestring;
    const char *page = text_of(cell, "page"), *published = text_of(cell, "published");
    assert_non_null(page);
    assert_non_null(published);
    double tolerance = strchr(page, '%') ? 6e-4 : 2e-5;
    assert_true(fabs(strtod(page, NULL) - strtod(published, NULL)) <= tolerance);
    return page;
}

static int expect_rows(const struct world *w, bool spoil)
{
    const cJSON *rows = cJSON_GetObjectItem(w->doc, "rows"), *row, *cell;
    int figures = 0;
    cJSON_ArrayForEach (row, rows) {
        const char *cells[PAGE_CELLS_MAX];
        const char *heading = text_of(row, "heading");
        int n = 0;
        cJSON_ArrayForEach (cell, cJSON_GetObjectItem(row, "cells")) {
            assert_true(n < PAGE_CELLS_MAX);
            cells[n++] = expected(cell);
            figures += strpbrk(cells[n - 1], "0123456789") != NULL && strchr(cells[n - 1], '.');
        }
        if (spoil)
            assert_false(page_has_row(w->page, text_of(row, "report"), *heading ? heading : NULL,
                                      cells, n - 1));
        else
            page_expect_row(w->page, text_of(row, "report"), *heading ? heading : NULL, cells, n);
    }
    return figures;
}

static void every_published_figure_stands_in_its_row(void **state)
{
    assert_int_equal(expect_rows(*state, false), FIGURES);
}

/* The comparison itself would see a table of another shape. */
static void a_row_with_a_cell_too_few_is_not_found(void **state)
{
    (void)expect_rows(*state, true);
}

static void a_figure_off_by_one_in_the_last_digit_is_not_found(void **state)
{
    static const char *const right[] = {"fib30",    "after",    "89.359292", "158.321541",
                                        "3.012292", "0.564417", "29.664884"};
    static const char *const wrong[] = {"fib30",    "after",    "89.359292", "158.321541",
                                        "3.012292", "0.564418", "29.664884"};
    const struct world *w = *state;
    assert_true(page_has_row(w->page, "foundations-release", "Results: GO to DONE", right, 7));
    assert_false(page_has_row(w->page, "foundations-release", "Results: GO to DONE", wrong, 7));
}

static void the_controls_say_that_no_repeated_pair_was_needed(void **state)
{
    const struct world *w = *state;
    CLEANUP(mem_freep) char *text = page_section_text(w->page, "foundations-release");
    assert_non_null(strstr(text, "Every control drifts by less than 5.0%. No repeated pair was "
                                 "needed."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_figure_stands_in_its_row),
        cmocka_unit_test(a_row_with_a_cell_too_few_is_not_found),
        cmocka_unit_test(a_figure_off_by_one_in_the_last_digit_is_not_found),
        cmocka_unit_test(the_controls_say_that_no_repeated_pair_was_needed),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
