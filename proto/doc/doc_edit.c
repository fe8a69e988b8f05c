#include "proto/doc/doc_edit.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"
#include "proto/doc/doc_schedule.h"
#include "proto/form/duration.h"
#include "proto/form/instant.h"

const char *const job_edit_keys[] = {"priority", "label", "not_before", "deadline",
                                     "window",   "retry", "after",      NULL};

static bool has(const cJSON *obj, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(obj, key) != NULL;
}

static unsigned members_of(const cJSON *obj)
{
    static const struct {
        const char *key;
        unsigned member;
    } rows[] = {{"priority", EDIT_PRIORITY},     {"label", EDIT_LABEL},
                {"not_before", EDIT_NOT_BEFORE}, {"deadline", EDIT_DEADLINE},
                {"window", EDIT_WINDOW},         {"after", EDIT_AFTER}};
    const cJSON *retry = cJSON_GetObjectItemCaseSensitive(obj, "retry");
    unsigned members = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (has(obj, rows[i].key))
            members |= rows[i].member;
    if (cJSON_IsNull(retry))
        members |= EDIT_RETRY_EVERY | EDIT_RETRY_LIMIT;
    if (retry && has(retry, "every"))
        members |= EDIT_RETRY_EVERY;
    if (retry && has(retry, "limit"))
        members |= EDIT_RETRY_LIMIT;
    return members;
}

int job_edit_decode(struct arena *a, const char *key, const cJSON *obj, struct job_edit *out,
                    struct err *e)
{
    struct json_in in;
    struct job *to = &out->to;

    *out = (struct job_edit){0};
    json_in_init(&in, a, e);
    (void)json_enter(&in, key);
    json_closed(&in, obj, job_edit_keys);
    to->priority = (int)json_opt_int(&in, obj, "priority", JOB_PRIORITY_MIN, JOB_PRIORITY_MAX, 0);
    to->label = doc_opt_line(&in, obj, "label", DOC_LABEL_MAX, "");
    to->not_before_ms = doc_opt_instant(&in, obj, "not_before");
    to->deadline_ms = doc_opt_instant(&in, obj, "deadline");
    to->window = window_decode(&in, obj);
    retry_decode(&in, obj, &to->retry_every_ms, &to->retry_limit);
    after_decode(&in, obj, true, &to->after, &to->n_after);
    if (in.rc == 0)
        out->members = members_of(obj);
    if (in.rc == 0 && out->members == 0)
        json_fail(&in, NULL, "job.bad", "name at least one thing to change");
    return in.rc;
}

/* ---- writing */

static void put_retry(struct json_out *o, const struct job_edit *edit)
{
    const struct job *to = &edit->to;

    if (!(edit->members & (EDIT_RETRY_EVERY | EDIT_RETRY_LIMIT)))
        return;
    json_begin(o, "retry");
    if (edit->members & EDIT_RETRY_EVERY && to->retry_every_ms >= 0)
        doc_put_duration(o, "every", to->retry_every_ms);
    else if (edit->members & EDIT_RETRY_EVERY)
        json_put_null(o, "every");
    if (edit->members & EDIT_RETRY_LIMIT)
        json_put_int_or_null(o, "limit", to->retry_limit);
    json_end(o);
}

static void put_instant(struct json_out *o, const char *key, int64_t ms)
{
    if (ms > 0)
        doc_put_instant(o, key, ms);
    else
        json_put_null(o, key);
}

void job_edit_encode(struct json_out *o, const char *key, const struct job_edit *edit)
{
    const struct job *to = &edit->to;

    json_begin(o, key);
    if (edit->members & EDIT_PRIORITY)
        json_put_int(o, "priority", to->priority);
    if (edit->members & EDIT_LABEL)
        json_put_str(o, "label", to->label);
    if (edit->members & EDIT_NOT_BEFORE)
        put_instant(o, "not_before", to->not_before_ms);
    if (edit->members & EDIT_DEADLINE)
        put_instant(o, "deadline", to->deadline_ms);
    if (edit->members & EDIT_WINDOW && to->window)
        window_encode(o, "window", to->window);
    else if (edit->members & EDIT_WINDOW)
        json_put_null(o, "window");
    put_retry(o, edit);
    if (edit->members & EDIT_AFTER)
        after_encode(o, to->after, to->n_after);
    json_end(o);
}

/* ---- a job's members in words */

static void say_label(struct buf *out, const struct job *job)
{
    if (job->label && *job->label)
        buf_printf(out, "\"%s\"", job->label);
    else
        buf_puts(out, "none");
}

static void say_instant(struct buf *out, int64_t ms)
{
    char text[INSTANT_TEXT];

    buf_puts(out, ms > 0 ? instant_short(ms, text) : "none");
}

static void say_window(struct buf *out, const struct job *job)
{
    char days[WINDOW_DAYS_TEXT];
    const struct window *w = job->window;

    if (w)
        buf_printf(out, "%s %02d:%02d-%02d:%02d %s", window_days_text(w->days, days),
                   w->from_min / 60, w->from_min % 60, w->to_min / 60, w->to_min % 60, w->zone);
    else
        buf_puts(out, "none");
}

static void say_every(struct buf *out, const struct job *job)
{
    char text[DURATION_TEXT];

    buf_puts(out,
             job->retry_every_ms >= 0 ? duration_text(job->retry_every_ms, text) : "the policy's");
}

static void say_limit(struct buf *out, const struct job *job)
{
    if (job->retry_limit >= 0)
        buf_printf(out, "%d", job->retry_limit);
    else
        buf_puts(out, "the policy's");
}

static void say_after(struct buf *out, const struct job *job)
{
    for (size_t i = 0; i < job->n_after; i++)
        buf_printf(out, "%s%s (%s)", i ? ", " : "", job->after[i].job,
                   job_need_name(job->after[i].need));
    if (job->n_after == 0)
        buf_puts(out, "none");
}

static const struct said {
    unsigned member;
    const char *name;
} said[] = {
    {EDIT_PRIORITY, "priority"},       {EDIT_LABEL, "label"},   {EDIT_NOT_BEFORE, "not before"},
    {EDIT_DEADLINE, "deadline"},       {EDIT_WINDOW, "window"}, {EDIT_RETRY_EVERY, "retry every"},
    {EDIT_RETRY_LIMIT, "retry limit"}, {EDIT_AFTER, "after"},
};

static void say(struct buf *out, unsigned member, const struct job *job)
{
    switch ((enum job_edit_member)member) {
    case EDIT_PRIORITY:
        buf_printf(out, "%d", job->priority);
        return;
    case EDIT_LABEL:
        say_label(out, job);
        return;
    case EDIT_NOT_BEFORE:
        say_instant(out, job->not_before_ms);
        return;
    case EDIT_DEADLINE:
        say_instant(out, job->deadline_ms);
        return;
    case EDIT_WINDOW:
        say_window(out, job);
        return;
    case EDIT_RETRY_EVERY:
        say_every(out, job);
        return;
    case EDIT_RETRY_LIMIT:
        say_limit(out, job);
        return;
    case EDIT_AFTER:
        say_after(out, job);
        return;
    case EDIT_WHEN:
        return;
    }
}

/* ---- applying */

static void set(struct job *job, unsigned members, const struct job *to)
{
    if (members & EDIT_PRIORITY)
        job->priority = to->priority;
    if (members & EDIT_LABEL)
        job->label = to->label;
    if (members & EDIT_NOT_BEFORE)
        job->not_before_ms = to->not_before_ms;
    if (members & EDIT_DEADLINE)
        job->deadline_ms = to->deadline_ms;
    if (members & EDIT_WINDOW)
        job->window = to->window;
    if (members & EDIT_RETRY_EVERY)
        job->retry_every_ms = to->retry_every_ms;
    if (members & EDIT_RETRY_LIMIT)
        job->retry_limit = to->retry_limit;
    if (members & EDIT_AFTER) {
        job->after = to->after;
        job->n_after = to->n_after;
    }
}

/* What reads the same is the same: the words hold all there is of a member. */
unsigned job_edit_apply(const struct job_edit *edit, struct job *job, struct buf *words)
{
    CLEANUP(buf_deinit) struct buf from = {0}, to = {0};
    unsigned changed = 0;

    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        if (!(edit->members & said[i].member))
            continue;
        buf_clear(&from);
        buf_clear(&to);
        say(&from, said[i].member, job);
        say(&to, said[i].member, &edit->to);
        if (strcmp(buf_str(&from), buf_str(&to)) == 0)
            continue;
        changed |= said[i].member;
        buf_printf(words, "%s%s from %s to %s", words->len ? "; " : "", said[i].name,
                   buf_str(&from), buf_str(&to));
    }
    set(job, changed, &edit->to);
    return changed;
}
