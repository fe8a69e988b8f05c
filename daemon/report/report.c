#include "report/report.h"

#include "report/sections.h"

typedef void (*section_fn)(const struct report *r);

static const section_fn measured[] = {
    section_head,        section_verdicts,
    section_cpu_time,    section_controls,
    section_references,  section_values,
    section_attribution, section_samples,
    section_outputs,     section_disturbances,
    section_startup,     section_waits,
    section_operations,  section_dispersion,
    section_calibration, section_inventories,
    section_conditions,  section_grade,
    section_sources,     section_host,
    section_notes,       NULL,
};

static const section_fn commands[] = {
    section_head,
    section_commands,
    section_verdicts,
    section_cpu_time,
    section_disturbances,
    section_dispersion,
    section_calibration,
    section_inventories,
    section_conditions,
    section_grade,
    section_host,
    section_notes,
    NULL,
};

static const section_fn voided[] = {
    section_head,  section_void,    section_inventories, section_conditions,
    section_grade, section_sources, section_host,        NULL,
};

static void render(struct page *page, const struct raw *raw, const struct summary *s)
{
    const struct report r = {.page = page, .raw = raw, .s = s};
    const section_fn *sections = raw->void_code ? voided : raw->job.is_run ? commands : measured;
    for (; *sections; sections++)
        (*sections)(&r);
}

void report_text(struct buf *out, const struct raw *raw, const struct summary *s,
                 const struct report_style *style)
{
    int width = style->width;
    width = width < REPORT_WIDTH_MIN ? REPORT_WIDTH_MIN : width;
    width = width > REPORT_WIDTH_MAX ? REPORT_WIDTH_MAX : width;
    struct page page = {
        .out = out, .form = PAGE_TEXT, .width = (size_t)width, .colour = style->colour};
    render(&page, raw, s);
}

void report_markdown(struct buf *out, const struct raw *raw, const struct summary *s)
{
    struct page page = {.out = out, .form = PAGE_MARKDOWN};
    render(&page, raw, s);
}
