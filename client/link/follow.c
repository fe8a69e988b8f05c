#include "client/link/follow.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/link/reconnect.h"
#include "proto/form/duration.h"

#define DRAINED "drained: nothing is begun until aurabench drain --off"
#define BAR_COLUMNS 20
#define BAR_FROM_WIDTH 90
#define TENTHS 10

struct event {
    enum job_state state;
    struct progress_view progress;
    int64_t next_try_ms;
    bool final;
};

struct follower {
    struct cli *cli;
    const struct follow_how *how;
    const char *id; /* whole, once it is known */
    /* what was last written as lines */
    enum job_state last_state;
    struct buf last_text;
    int64_t last_tenth;
    bool drawn; /* a line without its end stands on the terminal */
    struct reconnecting outage;
};

/* ---- what is written */

static void put(const struct follower *f, struct buf *b)
{
    if (f->how->term->fd == STDOUT_FILENO) {
        cli_put(b);
        return;
    }
    (void)file_write_all(f->how->term->fd, b->data, b->len);
    buf_clear(b);
}

/* "waiting: next try at 17:45:10; a competitor ..." */
static void put_phrase(const struct event *ev, struct buf *out)
{
    char at[32];

    if (ev->state == JOB_WAITING && ev->next_try_ms >= 0)
        buf_printf(out, "next try at %s", cli_time(ev->next_try_ms, at) + 11);
    const char *text = ev->progress.text;
    if (!text || strcmp(text, job_state_name(ev->state)) == 0)
        return;
    buf_puts(out, out->len ? "; " : "");
    term_clean(out, text, strlen(text), 0);
}

static void put_bar(const struct progress_view *p, struct buf *out)
{
    int64_t filled = p->done >= p->total ? BAR_COLUMNS : p->done * BAR_COLUMNS / p->total;

    buf_putc(out, '[');
    for (int64_t i = 0; i < BAR_COLUMNS; i++)
        buf_putc(out, i < filled ? '=' : i == filled ? '>' : ' ');
    buf_puts(out, "] ");
}

static bool is_countable(const struct event *ev)
{
    return ev->state == JOB_MEASURING && ev->progress.total > 0;
}

static void draw(struct follower *f, const struct event *ev)
{
    CLEANUP(buf_deinit) struct buf left = {0}, right = {0}, out = {0};
    const struct term *term = f->how->term;
    size_t width = (size_t)term->width - 1; /* the last column makes some terminals wrap */

    put_phrase(ev, &left);
    if (is_countable(ev)) {
        if (term->width >= BAR_FROM_WIDTH)
            put_bar(&ev->progress, &right);
        progress_view_count(&ev->progress, &right);
    }
    const char *state = job_state_name(ev->state);
    size_t used = strlen(state) + 2 + (right.len ? right.len + 2 : 0);
    buf_puts(&out, "\r\x1b[K");
    term_styled(term, &out, job_state_style(ev->state), state);
    buf_puts(&out, "  ");
    if (right.len)
        buf_printf(&out, "%s  ", buf_str(&right));
    term_cut(&out, buf_str(&left), width > used ? width - used : 0);
    f->drawn = true;
    put(f, &out);
}

/* Whether a line is due where lines are appended: at each change, but one in ten percent while
 * observations are counted. */
static bool is_new(struct follower *f, const struct event *ev, const struct buf *text)
{
    int64_t tenth = is_countable(ev) ? ev->progress.done * TENTHS / ev->progress.total : -1;
    bool same_text = strcmp(buf_str(&f->last_text), buf_str(text)) == 0;
    bool is = ev->state != f->last_state || tenth != f->last_tenth || (tenth < 0 && !same_text);

    f->last_state = ev->state;
    f->last_tenth = tenth;
    buf_clear(&f->last_text);
    buf_puts(&f->last_text, buf_str(text));
    return is;
}

static void append(struct follower *f, const struct event *ev)
{
    CLEANUP(buf_deinit) struct buf text = {0}, out = {0};
    char now[32];

    put_phrase(ev, &text);
    if (!is_new(f, ev, &text))
        return;
    const char *state = job_state_name(ev->state);
    int pad = text.len || is_countable(ev) ? 10 : 0;
    buf_printf(&out, "%s  %-*s", cli_time(clock_wall_ms(), now) + 11, pad, state);
    if (is_countable(ev)) {
        buf_puts(&out, "  ");
        progress_view_count(&ev->progress, &out);
    }
    if (text.len)
        buf_printf(&out, "  %s", buf_str(&text));
    buf_putc(&out, '\n');
    put(f, &out);
}

static void tell_json(const struct follower *f, const char *key, const cJSON *node)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    cli_json_begin(f->cli, &o, &b);
    cli_json_node(&o, key, node);
    cli_json_end(&o);
}

static void tell(struct follower *f, const struct event *ev)
{
    if (f->how->style != FOLLOW_TEXT)
        return;
    if (f->how->term->tty)
        draw(f, ev);
    else
        append(f, ev);
}

static void wipe(struct follower *f)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    if (!f->drawn)
        return;
    buf_puts(&b, "\r\x1b[K");
    f->drawn = false;
    put(f, &b);
}

/* ---- what is read */

static int event_decode(struct answer *note, struct event *ev, const char **job, struct err *e)
{
    const cJSON *p = note->msg.params;
    struct json_in in;

    json_in_init(&in, &note->a, e);
    *job = json_str(&in, p, "job", 64);
    ev->state = (enum job_state)json_enum(&in, p, "state", job_state_parse);
    progress_view_decode(&in, p, &ev->progress);
    ev->next_try_ms = json_opt_int(&in, p, "next_try_ms", 0, JSON_INT_MAX, -1);
    ev->final = json_opt_bool(&in, p, "final", false);
    return connection_check(&in, e);
}

/* Asks to be told of the job; the answer is how it is now. */
static int subscribe(struct follower *f, struct connection *c, struct answer *answer,
                     struct job_view *job, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_in in;

    cli_id_params(&params, f->id);
    int rc = connection_call(c, "job.watch", buf_str(&params), answer, e);
    if (rc < 0)
        return rc;
    json_in_init(&in, &answer->a, e);
    job_view_decode(&in, json_obj(&in, answer->msg.result, "job"), job);
    return connection_check(&in, e);
}

int follow_look(struct cli *cli, struct connection *c, const char *id, struct job_view *job,
                struct err *e)
{
    struct follower f = {.cli = cli, .id = id};
    CLEANUP(answer_deinit) struct answer answer = {0};
    int rc = subscribe(&f, c, &answer, job, e);

    if (rc < 0)
        return rc;
    /* The strings outlive the answer. */
    const char **strings[] = {
        &job->id,          &job->label,           &job->suite,          &job->error_code,
        &job->error_field, &job->error_text,      &job->report.attempt, &job->report.grade,
        &job->report.line, &job->report.evidence, &job->progress.step,  &job->progress.text};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        *strings[i] = arena_strdup(&cli->a, *strings[i]);
    return 0;
}

int follow_until(const char *word, enum job_state *until, struct err *e)
{
    int state = word ? job_state_parse(word) : JOB_NEW;

    if (state < 0 || (word && state == JOB_NEW))
        return err_set(e, -EINVAL, "usage", "--until",
                       "there is no state %s; name one of those that `aurabench list` shows", word);
    *until = (enum job_state)state;
    return 0;
}

/* A job that runs has reached the states of a running job that come before its own, too. */
bool follow_has_reached(enum job_state until, enum job_state state)
{
    if (until == JOB_NEW)
        return false;
    return state == until ||
           (job_state_is_running(until) && job_state_is_running(state) && state > until);
}

/* Reads events until one says that the job is over, or as far as was asked. */
static int read_events(struct follower *f, struct connection *c, struct err *e)
{
    for (bool over = false; !over;) {
        CLEANUP(answer_deinit) struct answer note = {0};
        struct event ev = {0};
        const char *job = NULL;
        int rc = connection_next(c, &note, e);
        if (rc < 0)
            return rc;
        if (strcmp(note.msg.method, "job.event") != 0)
            continue;
        rc = event_decode(&note, &ev, &job, e);
        if (rc < 0)
            return rc;
        if (strcmp(job, f->id) != 0)
            continue;
        if (f->how->style == FOLLOW_JSON)
            tell_json(f, "event", note.msg.params);
        else if (!ev.final)
            tell(f, &ev);
        over = ev.final || follow_has_reached(f->how->until, ev.state);
    }
    return 0;
}

/* The queue is drained, and the job does not run. */
static bool is_held_back(const struct answer *answer, const struct job_view *job)
{
    const cJSON *drained = cJSON_GetObjectItemCaseSensitive(answer->msg.result, "drained");

    return cJSON_IsTrue(drained) && !job_state_is_running(job->state);
}

static int follow_once(struct follower *f, struct connection *c, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct job_view job;
    int rc = subscribe(f, c, &answer, &job, e);

    if (rc < 0)
        return rc;
    reconnected(&f->outage);
    f->id = arena_strdup(&f->cli->a, job.id);
    if ((job_state_is_final(job.state) && !job.progress.step) ||
        follow_has_reached(f->how->until, job.state))
        return 0;
    struct event ev = {job.state, job.progress, job.next_try_ms, false};
    if (!ev.progress.text)
        ev.progress.text = job.why;
    if (is_held_back(&answer, &job))
        ev.progress.text = DRAINED;
    if (f->how->style == FOLLOW_JSON)
        tell_json(f, "job", cJSON_GetObjectItemCaseSensitive(answer.msg.result, "job"));
    tell(f, &ev);
    return read_events(f, c, e);
}

/* The job as it ended, with its report or error, which events do not carry. */
static int finish(struct follower *f, struct connection *c, struct job_view *end, struct err *e)
{
    CLEANUP(answer_deinit) struct answer answer = {0};
    struct job_view last;

    if (f->how->style != FOLLOW_JSON)
        return follow_look(f->cli, c, f->id, end, e);
    int rc = subscribe(f, c, &answer, &last, e);
    if (rc == 0)
        tell_json(f, "job", cJSON_GetObjectItemCaseSensitive(answer.msg.result, "job"));
    return rc < 0 ? rc : follow_look(f->cli, c, f->id, end, e);
}

static int follow_and_finish(struct follower *f, struct connection *c, struct job_view *end,
                             struct err *e)
{
    int rc = follow_once(f, c, e);

    wipe(f);
    return rc < 0 ? rc : finish(f, c, end, e);
}

int follow_job(struct cli *cli, struct connection **c, const char *id, const struct follow_how *how,
               struct job_view *end, struct err *e)
{
    struct follower f = {.cli = cli, .how = how, .id = id, .last_tenth = -1};
    int rc = follow_and_finish(&f, *c, end, e);

    while (reconnect_may_help(&f.outage, rc)) {
        wipe(&f);
        rc = reconnect(cli, &f.outage, c, e);
        if (rc == 0)
            rc = follow_and_finish(&f, *c, end, e);
    }
    wipe(&f);
    buf_deinit(&f.last_text);
    return rc;
}

/* ---- the end */

static const char *next_step(const struct job_view *job)
{
    if (job->state == JOB_DONE)
        return "aurabench report";
    if (!job_state_is_final(job->state))
        return "aurabench watch";
    return job->state == JOB_CANCELLED ? NULL : "aurabench show";
}

void follow_end_line(const struct term *term, const struct job_view *job, struct buf *out)
{
    CLEANUP(buf_deinit) struct buf clean = {0};
    const char *why = job->error_code     ? job->error_text
                      : job->report.line  ? job->report.line
                      : job->report.grade ? job->report.grade
                                          : "";

    term_clean(&clean, why, strlen(why), 0);
    buf_printf(out, "job %s ", cli_short_id(job->id));
    term_styled(term, out, job_state_style(job->state), job_state_name(job->state));
    buf_printf(out, "%s%s\n", clean.len ? ": " : "", buf_str(&clean));
    if (next_step(job))
        buf_printf(out, "  next: %s %s\n", next_step(job), cli_short_id(job->id));
}
