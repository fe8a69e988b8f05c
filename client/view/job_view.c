#include "client/view/job_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "client/cli.h"
#include "proto/form/duration.h"

#define TEXT_MAX 4096

static void report_decode(struct json_in *in, const cJSON *obj, struct report_view *out)
{
    size_t mark = json_enter(in, "report");

    out->attempt = json_opt_str(in, obj, "attempt", TEXT_MAX, NULL);
    out->grade = json_str(in, obj, "grade", TEXT_MAX);
    out->line = json_opt_str(in, obj, "line", TEXT_MAX, NULL);
    out->evidence = json_view_opt_line(in, obj, "evidence", TEXT_MAX, NULL);
    json_leave(in, mark);
}

static const char *clean(struct json_in *in, const char *text)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    if (!text)
        return NULL;
    term_clean(&b, text, strlen(text), 0);
    return arena_strdup(in->a, buf_str(&b));
}

const char *json_view_line(struct json_in *in, const cJSON *obj, const char *key, size_t max_len)
{
    return clean(in, json_str(in, obj, key, max_len));
}

const char *json_view_opt_line(struct json_in *in, const cJSON *obj, const char *key,
                               size_t max_len, const char *fallback)
{
    return clean(in, json_opt_str(in, obj, key, max_len, fallback));
}

const char *json_view_words(struct json_in *in, const cJSON *obj, const char *key)
{
    char *words = arena_strdup(in->a, json_opt_str(in, obj, key, TEXT_MAX, NULL));

    for (char *p = words; p && *p; p++)
        if (*p == '_')
            *p = ' ';
    return words;
}

/* A step without a sentence is called by its name. */
void progress_view_decode(struct json_in *in, const cJSON *obj, struct progress_view *out)
{
    out->step = json_opt_str(in, obj, "step", TEXT_MAX, NULL);
    out->text = json_opt_str(in, obj, "text", TEXT_MAX, NULL);
    if (!out->text)
        out->text = json_view_words(in, obj, "step");
    out->done = json_opt_int(in, obj, "done", 0, JSON_INT_MAX, 0);
    out->total = json_opt_int(in, obj, "total", 0, JSON_INT_MAX, 0);
    out->left_ms = json_opt_int(in, obj, "left_ms", -1, JSON_INT_MAX, -1);
}

static void parts_decode(struct json_in *in, const cJSON *obj, struct job_view *out)
{
    const cJSON *error = json_opt_obj(in, obj, "error");
    const cJSON *report = json_opt_obj(in, obj, "report");
    const cJSON *progress = json_opt_obj(in, obj, "progress");

    if (error) {
        out->error_code = json_str(in, error, "code", TEXT_MAX);
        out->error_field = json_opt_str(in, error, "field", TEXT_MAX, "");
        out->error_text = json_str(in, error, "text", TEXT_MAX);
    }
    if (report)
        report_decode(in, report, &out->report);
    if (progress)
        progress_view_decode(in, progress, &out->progress);
}

void job_view_decode(struct json_in *in, const cJSON *obj, struct job_view *out)
{
    *out = (struct job_view){.next_try_ms = -1};
    out->id = json_view_line(in, obj, "id", 64);
    out->number = json_opt_int(in, obj, "number", 0, JSON_INT_MAX, 0);
    out->state = (enum job_state)json_enum(in, obj, "state", job_state_parse);
    out->label = json_opt_str(in, obj, "label", TEXT_MAX, NULL);
    out->suite = json_opt_str(in, obj, "suite", TEXT_MAX, NULL);
    out->priority = json_opt_int(in, obj, "priority", -1000000, 1000000, 0);
    out->refusals = json_opt_int(in, obj, "refusals", 0, JSON_INT_MAX, 0);
    out->attempts = json_opt_int(in, obj, "attempts", 0, JSON_INT_MAX, 0);
    out->submitted_ms = json_int(in, obj, "submitted_ms", 0, JSON_INT_MAX);
    out->changed_ms = json_opt_int(in, obj, "changed_ms", 0, JSON_INT_MAX, out->submitted_ms);
    out->next_try_ms = json_opt_int(in, obj, "next_try_ms", 0, JSON_INT_MAX, -1);
    out->why = json_opt_str(in, obj, "why", TEXT_MAX, NULL);
    out->blocked = json_opt_int(in, obj, "blocked", 0, JSON_INT_MAX, 0);
    parts_decode(in, obj, out);
}

void progress_view_count(const struct progress_view *p, struct buf *out)
{
    char left[DURATION_TEXT];

    if (p->total > 0)
        buf_printf(out, "%" PRId64 " of %" PRId64, p->done, p->total);
    if (p->left_ms > 0) /* an estimate: no fractions of a second */
        buf_printf(out, "%sabout %s left", p->total > 0 ? ", " : "",
                   duration_format((p->left_ms + 999) / 1000 * 1000, left));
}

enum term_style job_state_style(enum job_state s)
{
    if (s == JOB_DONE)
        return TERM_GREEN;
    if (s == JOB_FAILED || s == JOB_LOST)
        return TERM_RED;
    if (job_state_is_running(s))
        return TERM_BOLD;
    return s == JOB_WAITING || s == JOB_UNQUALIFIED || s == JOB_EXPIRED ? TERM_YELLOW : TERM_PLAIN;
}

int job_state_status(enum job_state s)
{
    if (s == JOB_CANCELLED)
        return EXIT_CANCELLED;
    if (s == JOB_UNQUALIFIED)
        return EXIT_NOT_QUIET;
    if (s == JOB_LOST)
        return EXIT_LOST;
    return s == JOB_FAILED || s == JOB_EXPIRED ? EXIT_JOB : EXIT_GOOD;
}
