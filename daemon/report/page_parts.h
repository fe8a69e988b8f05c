/* The parts of a release page, each one function that writes nothing when it has nothing to say,
 * and what they share. Internal to the report module; page_session.c holds their order. */
#pragma once

#include "base/arena.h"
#include "report/page_session.h"
#include "report/sections.h"

struct release {
    struct page *page;
    const struct page_input *in;
    struct arena *a;    /* lives as long as the page is written */
    const char **names; /* of the reports, each different */
    struct gate_result gate;
};

/* One report on the page; r serves the look-ups that a single report has (sections.h). */
struct member {
    const struct release *release;
    const struct page_report *report;
    const char *name;
    struct report r;
};
void member_init(struct member *m, const struct release *release, size_t index);

/* page_head.c */
void part_title(const struct release *p);
void part_reports(const struct release *p);
void part_hosts(const struct release *p);
/* page_sources.c */
void part_sources(const struct release *p);
/* page_results.c, page_adjusted.c, page_changes.c, page_grade.c: of one report */
void part_results(const struct member *m);
void part_adjusted(const struct member *m);
void part_lanes(const struct member *m);
void part_changes(const struct member *m);
void part_controls(const struct member *m);
void part_operations(const struct member *m);
void part_waits(const struct member *m);
void part_grade(const struct member *m);
/* report_values.c, report_attribution.c: of one report */
void part_values(const struct member *m);
void part_attribution(const struct member *m);
/* report_samples.c: of one report */
void part_samples(const struct member *m);
/* page_gaps.c */
void part_gaps(const struct release *p);
void part_targets(const struct release *p);
/* page_evidence.c */
void part_evidence(const struct release *p);
void part_reproduce(const struct release *p);
void part_notes(const struct release *p);

/* page_session.c */
/* "contractual", "diagnostic", or "contractual but for the rows marked diagnostic". */
const char *grade_caption(const struct member *m);
/* "GO to DONE", "whole process", "one operation"; of values the measure's name. */
const char *measure_title(enum measure m);
bool row_is_diagnostic(const struct member *m, const struct row *row);
/* A lane with figures of its own: neither control nor the startup lane of another. */
bool lane_is_subject(const struct raw_workload *w, const struct raw_lane *lane);
/* A change that the page shows: of a lane of its own, between two sides. */
bool comparison_is_change(const struct member *m, const struct comparison *c);
/* The comparisons that the page gives a verdict on: changes, and the lanes of a report with one
 * side against each other. */
bool comparison_has_verdict(const struct member *m, const struct comparison *c);
/* The report whose pair this one was repeated for; NULL: it was not repeated. */
const struct page_report *repeated_by(const struct release *p, const struct page_report *report);
/* The side that gaps and targets speak of: the last one. */
const char *judged_side(const struct raw *raw);
