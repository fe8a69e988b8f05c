#include "client/view/host_view.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/cli.h"
#include "client/view/inventory_view.h"
#include "proto/form/duration.h"

#define TITLE_COLUMNS 10
#define BAR_COLUMNS 10
#define CORE_COLUMNS 25 /* "cpu 12 [##########] 100 %" */
#define CORE_GAP 2
#define TEXT_MAX 4096
#define CORE_LOUD_PCT 50.0

/* ---- what is read */

void host_view_status(struct json_in *in, const cJSON *result, struct host_view *v)
{
    const cJSON *active = json_opt_obj(in, result, "active");
    const cJSON *state = json_opt_obj(in, result, "state");
    const cJSON *jobs = json_obj(in, result, "jobs");
    const cJSON *calibration = state ? json_opt_obj(in, state, "calibration") : NULL;

    v->host = json_view_line(in, result, "host", 255);
    v->now_ms = json_int(in, result, "now_ms", 0, JSON_INT_MAX);
    v->next_try_ms = json_opt_int(in, result, "next_due_ms", 0, JSON_INT_MAX, -1);
    v->blocked = json_opt_str(in, result, "blocked", TEXT_MAX, NULL);
    v->queued = json_opt_int(in, jobs, "queued", 0, JSON_INT_MAX, 0);
    v->waiting = json_opt_int(in, jobs, "waiting", 0, JSON_INT_MAX, 0);
    v->held = json_opt_int(in, jobs, "held", 0, JSON_INT_MAX, 0);
    v->drained = state && json_opt_int(in, state, "drained_ms", 0, JSON_INT_MAX, -1) >= 0;
    v->calibrating = calibration && json_opt_bool(in, calibration, "running", false);
    v->job = v->state = NULL;
    if (active) {
        v->job = json_view_line(in, active, "job", 64);
        v->state = json_view_line(in, active, "state", 64);
        progress_view_decode(in, active, &v->progress);
    }
    v->measuring =
        v->calibrating || (v->state && strcmp(v->state, job_state_name(JOB_MEASURING)) == 0);
}

/* ---- lines */

struct page {
    const struct host_view *v;
    const struct term *term;
    size_t rows, n; /* rows 0: any number */
    struct buf *out;
};

__attribute__((format(printf, 4, 5))) static void
put_line(struct page *p, const char *title, enum term_style style, const char *fmt, ...)
{
    CLEANUP(buf_deinit) struct buf raw = {0}, clean = {0}, cut = {0}, head = {0};
    size_t width = p->term->width ? (size_t)p->term->width - 1 : 200;
    va_list args;

    if (p->rows && p->n >= p->rows)
        return;
    p->n++;
    va_start(args, fmt);
    buf_vprintf(&raw, fmt, args);
    va_end(args);
    term_clean(&clean, buf_str(&raw), raw.len, 0);
    buf_printf(&head, "%-*s", TITLE_COLUMNS, title);
    term_styled(p->term, p->out, TERM_DIM, buf_str(&head));
    term_cut(&cut, buf_str(&clean), width - head.len);
    term_styled(p->term, p->out, style, buf_str(&cut));
    buf_putc(p->out, '\n');
}

static void put_now(struct page *p)
{
    CLEANUP(buf_deinit) struct buf count = {0};
    const struct host_view *v = p->v;

    progress_view_count(&v->progress, &count);
    if (v->calibrating)
        put_line(p, "now", TERM_BOLD, "measuring  the host itself (calibration)");
    else if (v->job)
        put_line(p, "now", TERM_BOLD, "%s %s  %s  %s", v->state, cli_short_id(v->job),
                 v->progress.text   ? v->progress.text
                 : v->progress.step ? v->progress.step
                                    : "",
                 buf_str(&count));
    else if (v->drained)
        put_line(p, "now", TERM_YELLOW, "drained: nothing is begun until aurabench drain --off");
    else if (v->waiting > 0)
        put_line(p, "now", TERM_YELLOW, "waiting  for a quiet host, a window or a moment");
    else
        put_line(p, "now", TERM_PLAIN, "idle");
    if (v->blocked)
        put_line(p, "blocked", TERM_RED, "%s", v->blocked);
}

static void put_core(const struct host_look *look, size_t i, struct buf *out)
{
    int filled = (int)(look->busy_pct[i] * BAR_COLUMNS / 100 + 0.5);

    buf_printf(out, "cpu %-2d [", look->cpus[i]);
    for (int k = 0; k < BAR_COLUMNS; k++)
        buf_putc(out, k < filled ? '#' : '.');
    buf_printf(out, "] %3.0f %%", look->busy_pct[i]);
}

static void put_cores(struct page *p)
{
    const struct host_look *look = p->v->look;
    size_t width = p->term->width ? (size_t)p->term->width : 100;
    size_t room = width > TITLE_COLUMNS + 1 ? width - TITLE_COLUMNS - 1 : 0;
    size_t across = (room + CORE_GAP) / (CORE_COLUMNS + CORE_GAP);

    /* With nothing of ours under way, whatever keeps a core busy is somebody else's. */
    const char *title = p->v->job || p->v->calibrating ? "busy" : "foreign";

    across = across ? across : 1;
    for (size_t i = 0; i < look->n_cpus; i += across) {
        CLEANUP(buf_deinit) struct buf line = {0};
        bool loud = false;
        for (size_t k = i; k < look->n_cpus && k < i + across; k++) {
            buf_printf(&line, "%*s", k > i ? CORE_GAP : 0, "");
            put_core(look, k, &line);
            loud = loud || look->busy_pct[k] >= CORE_LOUD_PCT;
        }
        put_line(p, i ? "" : title, loud ? TERM_YELLOW : TERM_PLAIN, "%s", buf_str(&line));
    }
}

static void put_short_look(struct page *p)
{
    CLEANUP(buf_deinit) struct buf line = {0}, names = {0};
    const struct host_look *look = p->v->look;
    bool quiet = look->inventory.state == INVENTORY_QUIET;

    inventory_line(&look->inventory, &line);
    inventory_names(&look->inventory, &names);
    put_line(p, "host", quiet ? TERM_GREEN : TERM_RED, "%s", buf_str(&line));
    if (names.len)
        put_line(p, "noise", TERM_RED, "%s", buf_str(&names));
    put_line(p, "policy", tri_style(look->met), "%s: %s", look->policy,
             look->met == TRI_NOT_APPLICABLE ? "PASS" : tri_name(look->met));
}

static void put_look(struct page *p)
{
    if (p->v->measuring) {
        put_line(p, "host", TERM_DIM, "not looked at while it measures");
        return;
    }
    if (!p->v->look)
        return;
    put_short_look(p);
    put_cores(p);
}

static void put_next(struct page *p)
{
    const struct host_view *v = p->v;
    char wait[DURATION_TEXT], at[32];

    put_line(p, "queue", TERM_PLAIN, "%" PRId64 " queued, %" PRId64 " waiting, %" PRId64 " held",
             v->queued, v->waiting, v->held);
    if (v->next_try_ms >= 0)
        put_line(
            p, "next try", TERM_PLAIN, "%s, in %s", cli_time(v->next_try_ms, at) + 11,
            duration_format(v->next_try_ms > v->now_ms ? v->next_try_ms - v->now_ms : 0, wait));
}

static void put_jobs(struct page *p)
{
    const struct host_view *v = p->v;
    char at[32];

    for (size_t i = 0; i < v->n_jobs; i++) {
        const struct job_view *job = &v->jobs[i].job;
        put_line(p, i ? "" : "waiting", TERM_PLAIN, "%s  %s%srefused %" PRId64 " time%s",
                 cli_short_id(job->id), job->label ? job->label : "", job->label ? ", " : "",
                 job->refusals, job->refusals == 1 ? "" : "s");
        if (v->jobs[i].refused)
            put_line(p, "", TERM_YELLOW, "  %s  %s", cli_time(v->jobs[i].refused_ms, at) + 11,
                     v->jobs[i].refused);
    }
}

void host_view_put(const struct host_view *v, const struct term *term, size_t rows, struct buf *out)
{
    struct page p = {.v = v, .term = term, .rows = rows, .out = out};
    char now[32];

    put_line(&p, v->host ? v->host : "", TERM_BOLD, "  %s", cli_time(clock_wall_ms(), now));
    put_now(&p);
    put_look(&p);
    put_next(&p);
    put_jobs(&p);
}

/* ---- as a line */

/* "unknown: mains power, thermal", for one line. */
static void put_short_conditions(const struct host_look *look, struct buf *out)
{
    size_t shown = 0;

    buf_printf(out, "policy %s: %s", look->policy,
               look->met == TRI_NOT_APPLICABLE ? "PASS" : tri_name(look->met));
    for (size_t i = 0; i < COND_COUNT; i++) {
        const struct condition_result *r = &look->conditions[i];
        if (r->mode != RULE_REQUIRE || r->status != look->met || look->met == TRI_PASS ||
            look->met == TRI_NOT_APPLICABLE)
            continue;
        buf_printf(out, "%s%s", shown++ ? ", " : " (", condition_title(r->condition));
    }
    buf_puts(out, shown ? ")" : "");
}

void host_view_line(const struct host_look *look, const struct term *term, struct buf *out)
{
    CLEANUP(buf_deinit) struct buf text = {0}, line = {0};
    char now[32];
    bool quiet = look->inventory.state == INVENTORY_QUIET;

    if (quiet || look->inventory.n_competitors == 0)
        inventory_line(&look->inventory, &text);
    else
        inventory_names(&look->inventory, &text);
    buf_printf(&line, "%s  %s  ", cli_time(clock_wall_ms(), now) + 11, quiet ? "quiet" : "NOISY");
    buf_printf(&line, "%s  ", buf_str(&text));
    put_short_conditions(look, &line);
    buf_clear(&text);
    if (term->width)
        term_cut(&text, buf_str(&line), (size_t)term->width);
    term_styled(term, out,
                host_look_is_good(look) ? TERM_GREEN
                : quiet                 ? TERM_YELLOW
                                        : TERM_RED,
                buf_str(term->width ? &text : &line));
    buf_putc(out, '\n');
}
