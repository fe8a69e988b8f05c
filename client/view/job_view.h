/* A job as the daemon tells of it, decoded: what list, show and the followers of a job print. All
 * strings belong to the arena of the json_in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/view/term.h"
#include "core/job_state.h"
#include "proto/json/json.h"

struct progress_view {
    const char *step;    /* one word: "build" */
    const char *text;    /* a phrase; may be NULL */
    int64_t done, total; /* total 0: not countable */
    int64_t left_ms;     /* -1 unknown */
};

struct report_view {
    const char *attempt; /* its id */
    const char *grade;
    const char *line;     /* the grade line; may be NULL */
    const char *evidence; /* folder on the daemon's machine; may be NULL */
};

struct job_view {
    const char *id;
    int64_t number;
    enum job_state state;
    const char *label; /* may be NULL */
    const char *suite; /* name; may be NULL */
    int64_t priority, refusals, attempts;
    int64_t submitted_ms, changed_ms;
    int64_t next_try_ms; /* -1: not waiting */
    const char *why;     /* why it does not run now; NULL: nothing to be said */
    int64_t blocked;     /* jobs that have to end before */
    const char *error_code, *error_field, *error_text; /* code NULL: no error */
    struct report_view report;                         /* grade NULL: no report */
    struct progress_view progress;                     /* step NULL: nothing runs */
};

/* An error sticks to in. */
void job_view_decode(struct json_in *in, const cJSON *obj, struct job_view *out);
void progress_view_decode(struct json_in *in, const cJSON *obj, struct progress_view *out);

/* json_str and json_opt_str for text that is put onto a terminal as it is: cleaned (term_clean). */
const char *json_view_line(struct json_in *in, const cJSON *obj, const char *key, size_t max_len);
const char *json_view_opt_line(struct json_in *in, const cJSON *obj, const char *key,
                               size_t max_len, const char *fallback);

/* Member key with its underscores as spaces; NULL when it is missing or null. */
const char *json_view_words(struct json_in *in, const cJSON *obj, const char *key);

/* "45 of 132, about 2m 10s left": what is known of it, "" when nothing is. */
void progress_view_count(const struct progress_view *p, struct buf *out);

enum term_style job_state_style(enum job_state s);
/* The exit status that the state of an ended job stands for. */
int job_state_status(enum job_state s);
