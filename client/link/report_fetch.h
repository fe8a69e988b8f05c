/* A report as the daemon renders it, fetched whole. */
#pragma once

#include "client/cli.h"

enum report_format { REPORT_TEXT, REPORT_MARKDOWN, REPORT_SUMMARY, REPORT_RAW };

/* "text", "markdown", "json" (the summary), "raw". -EINVAL with e filled ("usage"). */
int report_format_parse(const char *word, enum report_format *out, struct err *e);
const char *report_format_name(enum report_format f); /* the same words */
bool report_format_is_json(enum report_format f);

struct report {
    enum report_format format; /* set before fetching, like the next */
    int number;                /* of the attempt; 0: the job's report */
    struct buf data;
    char grade[32];
    char attempt[32];
};
void report_deinit(struct report *r);

/* width and colour of text are those of the terminal it is for. */
int report_fetch(struct connection *c, const char *id, const struct term *term, struct report *r,
                 struct err *e);
/* Members width and colour for what the daemon renders; plain_width: where it is no terminal. */
void report_put_style(struct json_out *o, const struct term *term, int plain_width);
/* Writes what the daemon rendered to stdout; cleaned when that is a terminal. */
void report_print(struct cli *cli, const struct buf *text);
