#include "client/job/when_opts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/ids.h"
#include "base/mem.h"
#include "client/job/job_load.h"
#include "proto/form/duration.h"
#include "proto/form/instant.h"

/* ---- times */

/* "2026-12-01T01:00Z": as instants are printed. */
static bool parse_short(const char *text, int64_t *ms)
{
    char whole[INSTANT_TEXT];
    size_t len = strlen(text);

    if (len != strlen("2026-12-01T01:00Z") || text[len - 1] != 'Z')
        return false;
    (void)snprintf(whole, sizeof whole, "%.*s:00Z", (int)len - 1, text);
    return instant_parse(whole, ms);
}

static bool parse_from_now(const char *text, int64_t *ms)
{
    int64_t after_ms;

    if (text[0] != '+' || !duration_parse(text + 1, &after_ms))
        return false;
    *ms = (clock_wall_ms() + after_ms + 999) / 1000 * 1000; /* documents have whole seconds */
    return true;
}

static int read_time(const char *option, const char *text, unsigned member, struct job_edit *out,
                     int64_t *ms, struct err *e)
{
    if (!text)
        return 0;
    out->members |= member;
    *ms = 0;
    if (strcmp(text, "none") == 0 || instant_parse(text, ms) || parse_short(text, ms) ||
        parse_from_now(text, ms))
        return 0;
    return err_set(e, -EINVAL, "usage", option,
                   "%s takes a time in UTC such as 2026-12-01T01:00Z, one from now such as +2h, or "
                   "none, not %s",
                   option, text[0] ? text : "nothing");
}

/* ---- windows */

static int bad_window(const char *text, struct err *e)
{
    return err_set(e, -EINVAL, "usage", "--window",
                   "--window takes days, times and a zone such as \"mon-fri 01:00-05:00 "
                   "Europe/London\" (the days may be left out), or none, not %s",
                   text[0] ? text : "nothing");
}

/* The words of text, three at most; without the days there are two. */
static size_t split(struct arena *a, const char *text, const char *words[4])
{
    size_t n = 0;

    while (n < 4) {
        text += strspn(text, " ");
        size_t len = strcspn(text, " ");
        if (len == 0)
            break;
        words[n++] = arena_strndup(a, text, len);
        text += len;
    }
    return n;
}

static int read_window(struct cli *cli, const char *text, struct job_edit *out, struct err *e)
{
    const char *words[4] = {0};

    if (!text)
        return 0;
    out->members |= EDIT_WINDOW;
    if (strcmp(text, "none") == 0)
        return 0;
    size_t n = split(&cli->a, text, words);
    const char *days = n == 3 ? words[0] : "daily", *times = n == 3 ? words[1] : words[0];
    const char *dash = n == 2 || n == 3 ? strchr(times, '-') : NULL;
    if (!dash)
        return bad_window(text, e);
    out->to.window = arena_alloc(&cli->a, sizeof *out->to.window);
    int rc = window_parse(&cli->a, "--window", days,
                          arena_strndup(&cli->a, times, (size_t)(dash - times)), dash + 1,
                          words[n - 1], out->to.window, e);
    return rc < 0 ? rc : job_load_check_zone(out->to.window, e);
}

/* ---- jobs to come after */

static void add_after(struct job_edit *out, const struct args *ids, enum job_need need)
{
    for (size_t i = 0; i < ids->n; i++)
        out->to.after[out->to.n_after++] = (struct job_after){ids->v[i], need};
}

static int read_after(struct cli *cli, const struct when_opts *o, struct job_edit *out,
                      struct err *e)
{
    size_t n = o->after_ok.n + o->after_any.n;

    if (n == 0 && !o->after_none)
        return 0;
    if (n > 0 && o->after_none)
        return err_set(e, -EINVAL, "usage", "--after-none",
                       "--after-none takes no job, so it cannot stand beside --after-ok or "
                       "--after-any; leave one out");
    if (n > JOB_AFTER_MAX)
        return err_set(e, -EINVAL, "usage", "--after-ok", "a job comes after at most %d others",
                       JOB_AFTER_MAX);
    out->members |= EDIT_AFTER;
    out->to.after = arena_array(&cli->a, n, sizeof *out->to.after);
    add_after(out, &o->after_ok, NEED_OK);
    add_after(out, &o->after_any, NEED_ANY);
    return 0;
}

/* ---- all of them */

static void read_plain(const struct when_opts *o, struct job_edit *out)
{
    struct job *to = &out->to;

    if (o->priority != WHEN_NOT_GIVEN)
        out->members |= EDIT_PRIORITY;
    if (o->label)
        out->members |= EDIT_LABEL;
    if (o->retry_every_ms >= 0)
        out->members |= EDIT_RETRY_EVERY;
    if (o->retry_limit >= 0)
        out->members |= EDIT_RETRY_LIMIT;
    to->priority = o->priority;
    to->label = o->label;
    to->retry_every_ms = o->retry_every_ms;
    to->retry_limit = o->retry_limit;
}

int when_opts_read(struct cli *cli, const struct when_opts *o, struct job_edit *out, struct err *e)
{
    *out = (struct job_edit){0};
    read_plain(o, out);
    int rc =
        read_time("--not-before", o->not_before, EDIT_NOT_BEFORE, out, &out->to.not_before_ms, e);
    if (rc == 0)
        rc = read_time("--deadline", o->deadline, EDIT_DEADLINE, out, &out->to.deadline_ms, e);
    if (rc == 0)
        rc = read_window(cli, o->window, out, e);
    return rc < 0 ? rc : read_after(cli, o, out, e);
}

int when_opts_apply(struct cli *cli, const struct when_opts *o, struct job *job, struct err *e)
{
    CLEANUP(buf_deinit) struct buf words = {0};
    struct job_edit edit;
    int rc = when_opts_read(cli, o, &edit, e);

    if (rc == 0)
        (void)job_edit_apply(&edit, job, &words);
    return rc;
}

/* ---- whole ids */

static int find(struct cli *cli, struct connection *c, const struct args *parts, struct args *whole,
                struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;
    struct json_in in;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    json_put_args(&o, "ids", parts);
    json_end(&o);
    int rc = connection_call(c, "job.find", buf_str(&params), &answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &cli->a, e); /* the strings outlive the answer */
    *whole = json_opt_args(&in, answer.msg.result, "ids", JOB_AFTER_MAX);
    if (in.rc == 0 && whole->n != parts->n)
        json_fail(&in, "ids", "json.value", "the answer has another number of ids");
    return connection_check(&in, e);
}

int when_resolve(struct cli *cli, struct connection *c, struct job_after *after, size_t n,
                 struct err *e)
{
    struct args parts = {arena_array(&cli->a, n + 1, sizeof(char *)), 0}, whole = {0};

    for (size_t i = 0; i < n; i++)
        if (!ulid_valid(after[i].job))
            parts.v[parts.n++] = after[i].job;
    if (parts.n == 0)
        return 0;
    int rc = find(cli, c, &parts, &whole, e);
    for (size_t i = 0, k = 0; rc == 0 && i < n; i++)
        if (!ulid_valid(after[i].job))
            after[i].job = whole.v[k++];
    return rc;
}
