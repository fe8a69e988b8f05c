/* The page of a release: several reports as one Markdown document.
 *
 * It says which host and boot they were made in, under which grade and policy, from which commits;
 * then each report's results by families, what changed between its sides, and its controls; then
 * the gaps to references, targets met and missed, the evidence with its hashes, and how to measure
 * again. Each caption names the grade. Only figures of one report are ever divided by each other.
 * Every figure follows from the raw reports by the rules of core; the page makes none of its own.
 * Pure.
 */
#pragma once

#include "base/buf.h"
#include "core/gate/gate.h"

/* One file of the evidence, with its hash. */
struct page_file {
    const char *path; /* as the page shows it: "01KB.../raw.json" */
    const char *sha256;
};

struct page_report {
    const char *name; /* for people; NULL: the job's label, else the attempt's id */
    const struct raw *raw;
    const struct summary *s; /* what summarise() made of raw */
    const char *folder;      /* of its evidence, as the page shows it; NULL: the attempt's id */
    bool has_bundle;         /* the folder has commits.bundle */
    const char *repeats;     /* id of the attempt whose pair of sides it repeats; NULL: of none */
    const struct page_file *files;
    size_t n_files;
};

/* A job of the session that has no report. */
struct page_missing {
    const char *label;
    const char *state; /* "waiting", "unqualified", ... */
    const char *why;   /* NULL: nothing is known */
};

struct page_input {
    const char *label;       /* of the session; NULL: none */
    const char *session;     /* id of the session; NULL: the reports were put together by hand */
    int64_t opened_wall_ms;  /* when the session was opened; -1: unknown or no session */
    const char *opened_boot; /* the boot it was opened in; NULL: no report is called post-reboot */
    int64_t settle_ms;       /* what a boot needs before it counts as settled */
    const struct page_report *reports;
    size_t n_reports;
    const struct page_missing *missing;
    size_t n_missing;
    const struct targets *targets; /* held against the reports; NULL: none */
};

/* Appends the page; it ends with a newline. */
void report_page(struct buf *out, const struct page_input *in);
