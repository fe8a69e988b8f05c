/* The sections of a report, each one function that writes nothing when it has nothing to say, and
 * what they share. Internal to the report module; report.c holds their order. */
#pragma once

#include "core/raw.h"
#include "core/summary/summarise.h"
#include "report/page.h"

struct report {
    struct page *page;
    const struct raw *raw;
    const struct summary *s;
};

/* report_head.c */
void section_head(const struct report *r);
void section_void(const struct report *r);
void section_commands(const struct report *r);
/* report_verdicts.c */
void section_verdicts(const struct report *r);
void section_cpu_time(const struct report *r);
void section_controls(const struct report *r);
void section_references(const struct report *r);
/* A cell "0.98 to 1.02", or "none". */
void report_add_interval(struct table *t, const struct interval *v);
/* "1.00%"; where a control's drift is larger, that it is. malloc'd. */
char *report_margin(const struct report *r, double in_force);
/* report_pairs.c; part of the controls */
void report_repeats(const struct report *r);
/* report_calibration.c */
void section_calibration(const struct report *r);
/* Of it, what says something of the report's figures; for pages too. */
void report_put_calibration(const struct report *r);
/* report_disturbances.c */
void section_disturbances(const struct report *r);
/* report_operations.c */
#define OPERATIONS_NOTE "the time from GO to DONE, divided by the operations done in it"
void section_operations(const struct report *r);
/* Of it, for pages too: its table, with the number of rows; and the rows that are coarse. */
size_t operations_table(const struct report *r, struct table *t);
void operations_put_coarse(const struct report *r);
/* What follows "before" in the title of a column of times: " ms", or nothing where cells have units
 * because the report has operations. */
const char *times_unit(const struct report *r);
const char *times_unit_of(const struct raw_workload *w); /* of a table of such workloads alone */
/* A time of the workload, in its unit; out has NUMBER_MAX bytes and is returned. */
char *times_text(char *out, const struct report *r, const char *workload, double ns);
/* report_tables.c */
void section_startup(const struct report *r);
void section_waits(const struct report *r);
void section_dispersion(const struct report *r);
/* report_values.c */
/* A value in the unit that people read: MiB of memory, percent of a core, else as it is. */
char *values_text(char *out, enum measure m, double v);
/* How many comparisons of values that are shown have this verdict. */
size_t report_count_values(const struct report *r, enum value_verdict verdict);
/* Adds the intervals of values that are shown, and how many are expected to miss by chance. */
struct interval_count {
    size_t n;
    double misses;
};
void report_count_value_intervals(const struct report *r, struct interval_count *count);
/* Says so, unless there are none. */
void report_put_value_intervals(struct page *page, const struct interval_count *count);
void section_values(const struct report *r);
/* report_samples.c */
void section_samples(const struct report *r);
/* report_outputs.c */
void section_outputs(const struct report *r);
/* report_attribution.c */
void section_attribution(const struct report *r);
/* report_host.c */
void section_inventories(const struct report *r);
void section_conditions(const struct report *r);
/* report_grade.c */
void section_grade(const struct report *r);
/* report_sources.c */
void section_sources(const struct report *r);
void section_host(const struct report *r);
/* report_notes.c */
void section_notes(const struct report *r);

/* report_lookup.c */
const struct row *lookup_row(const struct report *r, const char *workload, const char *lane,
                             const char *side);
const struct raw_workload *lookup_workload(const struct report *r, const char *workload);
const struct raw_lane *lookup_lane(const struct report *r, const char *workload, const char *lane);
bool lookup_is_control(const struct report *r, const char *workload, const char *lane);
/* Comparisons that the page gives a verdict on: of sides without the controls, or, where there is
 * one side only, of lanes. */
bool lookup_has_verdict(const struct report *r, const struct comparison *c);
/* "fib30 c", or "fib30 c / cpython" for lanes; malloc'd. */
char *lookup_subject(const struct comparison *c);
/* "before (v1.2, 3f2a91c0de)"; malloc'd. */
char *lookup_side(const struct report *r, const char *side);
enum text_style style_of_verdict(enum verdict v);
enum text_style style_of_tri(enum tri t);
enum text_style style_of_grade(enum grade g);
/* Appends an argument list as one line; an argument with a blank or a quote stands in quotes. */
void put_args(struct buf *out, const struct args *args);
