#include "client/view/session_view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "client/view/job_view.h"
#include "client/view/table.h"

#define LABEL_COLUMNS 12
#define TEXT_MAX 65536
#define JOBS_MAX 1000
#define BOOT_SHOWN 8 /* of a boot identity */

struct view {
    struct cli *cli;
    struct json_in *in;
    const cJSON *session, *jobs;
    const char *label, *state;
    struct buf *out;
};

static void put_line(struct view *v, const char *label, enum term_style style, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void put_line(struct view *v, const char *label, enum term_style style, const char *fmt, ...)
{
    CLEANUP(buf_deinit) struct buf text = {0}, clean = {0}, wrapped = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    term_clean(&clean, buf_str(&text), text.len, 0);
    term_styled(&v->cli->out, v->out, TERM_DIM, label);
    for (size_t i = strlen(label); i < LABEL_COLUMNS; i++)
        buf_putc(v->out, ' ');
    term_wrap(&wrapped, buf_str(&clean), LABEL_COLUMNS, (size_t)v->cli->out.width);
    wrapped.data[--wrapped.len] = '\0';
    term_styled(&v->cli->out, v->out, style, buf_str(&wrapped));
    buf_putc(v->out, '\n');
}

static const char *text_of(struct view *v, const cJSON *obj, const char *key, const char *fallback)
{
    return json_opt_str(v->in, obj, key, TEXT_MAX, fallback);
}

static int64_t count_of(struct view *v, const cJSON *obj, const char *key)
{
    return json_opt_int(v->in, obj, key, 0, JSON_INT_MAX, 0);
}

static const char *name_of(struct view *v, const cJSON *job)
{
    const char *label = text_of(v, job, "label", "");

    return label[0] ? label : cli_short_id(text_of(v, job, "id", ""));
}

static const cJSON *job_of(struct view *v, const char *id)
{
    const cJSON *job;

    cJSON_ArrayForEach (job, v->jobs)
        if (strcmp(text_of(v, job, "id", ""), id) == 0)
            return job;
    return NULL;
}

/* ---- head */

void session_view_window(struct json_in *in, const cJSON *document, struct buf *out)
{
    const cJSON *w = json_opt_obj(in, document, "window");

    if (!w)
        return;
    const char *days = json_opt_str(in, w, "days", 64, "daily");
    const char *from = json_str(in, w, "from", 16), *to = json_str(in, w, "to", 16);
    const char *zone = json_str(in, w, "zone", 64);
    if (in->rc == 0)
        buf_printf(out, "%s %s to %s %s", days, from, to, zone);
}

static void put_state(struct view *v)
{
    int64_t n = 0, over = 0, done = 0;
    const cJSON *job;

    cJSON_ArrayForEach (job, v->jobs) {
        int state = job_state_parse(text_of(v, job, "state", ""));
        n++;
        over += state >= 0 && job_state_is_final((enum job_state)state);
        done += state == JOB_DONE;
    }
    put_line(v, "state", done == n ? TERM_GREEN : TERM_PLAIN,
             "%s: %" PRId64 " of %" PRId64 " jobs measured, %" PRId64 " ended otherwise", v->state,
             done, n, over - done);
}

static void put_head(struct view *v, const cJSON *document)
{
    CLEANUP(buf_deinit) struct buf window = {0};
    const char *deadline = text_of(v, document, "deadline", NULL);
    char when[32];

    put_line(v, "session", TERM_BOLD, "%s  (%s)", v->label, text_of(v, v->session, "id", ""));
    put_state(v);
    put_line(v, "opened", TERM_PLAIN, "%s", cli_time(count_of(v, v->session, "opened_ms"), when));
    session_view_window(v->in, document, &window);
    if (window.len)
        put_line(v, "window", TERM_PLAIN, "%s", buf_str(&window));
    if (deadline)
        put_line(v, "deadline", TERM_PLAIN, "%s", deadline);
}

/* ---- boots */

/* "a, b": the jobs of one boot. */
static void put_names(struct view *v, const cJSON *ids, struct buf *out)
{
    const cJSON *id;

    cJSON_ArrayForEach (id, ids) {
        const cJSON *job = cJSON_IsString(id) ? job_of(v, id->valuestring) : NULL;
        if (job)
            buf_printf(out, "%s%s", id == ids->child ? "" : ", ", name_of(v, job));
    }
}

static const char *boot_label(struct view *v)
{
    const char *found = NULL;
    const cJSON *job;

    cJSON_ArrayForEach (job, v->jobs) {
        const cJSON *report = json_opt_obj(v->in, job, "report");
        const char *label = report ? text_of(v, report, "boot_label", NULL) : NULL;
        if (!label)
            continue;
        if (found && strcmp(found, label) != 0)
            return "post-reboot in part";
        found = label;
    }
    return found;
}

static void put_boots(struct view *v, const cJSON *document, const cJSON *boots)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const char *label = boot_label(v);
    const cJSON *boot;
    bool split = json_opt_bool(v->in, v->session, "split", false);

    put_line(v, "boot rule", TERM_PLAIN, "%s%s%s", text_of(v, document, "boot", "any"),
             label ? ": " : "", label ? label : "");
    cJSON_ArrayForEach (boot, boots) {
        buf_puts(&text, boot == boots->child ? "" : "; ");
        put_names(v, cJSON_GetObjectItemCaseSensitive(boot, "jobs"), &text);
        buf_printf(&text, " in boot %.*s", BOOT_SHOWN, text_of(v, boot, "id", ""));
    }
    if (split)
        put_line(v, "split", TERM_YELLOW, "%s", buf_str(&text));
    else if (text.len)
        put_line(v, "boots", TERM_PLAIN, "%s", buf_str(&text));
}

/* ---- jobs */

static void put_cells(struct view *v, struct table *t, const cJSON *job)
{
    const cJSON *tries = json_obj(v->in, job, "tries");
    const cJSON *report = json_opt_obj(v->in, job, "report");
    const cJSON *verdicts = json_opt_obj(v->in, job, "verdicts");
    const cJSON *controls = json_opt_obj(v->in, job, "controls");
    const char *state = json_str(v->in, job, "state", 32);

    if (v->in->rc)
        return;
    int parsed = job_state_parse(state);
    table_cell(t, TERM_PLAIN, "%s", cli_short_id(text_of(v, job, "id", "")));
    table_cell(t, TERM_PLAIN, "%s", text_of(v, job, "label", ""));
    table_cell(t, parsed >= 0 ? job_state_style((enum job_state)parsed) : TERM_PLAIN, "%s", state);
    table_cell(t, TERM_PLAIN, "%s", report ? text_of(v, report, "grade", "") : "");
    table_cell(t, TERM_PLAIN, "%" PRId64, count_of(v, tries, "attempts"));
    table_cell(t, TERM_PLAIN, "%" PRId64, count_of(v, tries, "refused"));
    table_cell(t, TERM_PLAIN, "%" PRId64,
               count_of(v, tries, "disturbed") + count_of(v, tries, "drifted") +
                   count_of(v, tries, "lost"));
    if (controls)
        table_cell(t, count_of(v, controls, "drifted") ? TERM_YELLOW : TERM_PLAIN,
                   "%" PRId64 "/%" PRId64, count_of(v, controls, "drifted"),
                   count_of(v, controls, "compared"));
    else
        table_cell(t, TERM_PLAIN, "%s", "");
    if (verdicts)
        table_cell(t, TERM_PLAIN, "%" PRId64 " / %" PRId64 " / %" PRId64 " / %" PRId64,
                   count_of(v, verdicts, "faster"), count_of(v, verdicts, "slower"),
                   count_of(v, verdicts, "same"), count_of(v, verdicts, "unresolved"));
    else
        table_cell(t, TERM_PLAIN, "%s", "");
}

static void put_jobs(struct view *v)
{
    static const struct table_column columns[] = {{"JOB", false, false},
                                                  {"LABEL", false, true},
                                                  {"STATE", false, false},
                                                  {"GRADE", false, false},
                                                  {"TRIES", true, false},
                                                  {"REFUSED", true, false},
                                                  {"RETRIED", true, false},
                                                  {"DRIFTED", false, false},
                                                  {"FASTER/SLOWER/SAME/UNRESOLVED", false, false}};
    struct table *t = table_new(columns, ARRAY_LEN(columns));
    const cJSON *job;

    cJSON_ArrayForEach (job, v->jobs)
        put_cells(v, t, job);
    if (v->in->rc == 0 && table_rows(t))
        table_print(t, &v->cli->out, 0, v->out);
    table_free(t);
}

static void put_troubles(struct view *v)
{
    const cJSON *job;

    cJSON_ArrayForEach (job, v->jobs) {
        const char *why = text_of(v, job, "error", NULL);
        const char *waits = text_of(v, job, "waits_for", NULL);
        if (waits)
            put_line(v, "waiting", TERM_YELLOW, "%s: %s", name_of(v, job), waits);
        else if (why)
            put_line(v, "ended", TERM_RED, "%s: %s", name_of(v, job), why);
    }
}

static void put_noise(struct view *v, const cJSON *noise)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const cJSON *item;

    cJSON_ArrayForEach (item, noise)
        buf_printf(&text, "%s%s (%" PRId64 ")", item == noise->child ? "" : ", ",
                   text_of(v, item, "command", "?"), count_of(v, item, "refusals"));
    if (text.len)
        put_line(v, "refused by", TERM_PLAIN, "%s", buf_str(&text));
}

/* ---- what to do next */

static const char *waits_for_boot(struct view *v)
{
    const cJSON *job;

    cJSON_ArrayForEach (job, v->jobs) {
        const char *waits = text_of(v, job, "waits_for", NULL);
        if (waits && strstr(waits, "reboot"))
            return waits;
    }
    return NULL;
}

static void put_next(struct view *v)
{
    const char *evidence = text_of(v, v->session, "evidence", NULL);

    if (evidence) {
        put_line(v, "evidence", TERM_PLAIN, "%s", evidence);
        put_line(v, "next", TERM_PLAIN, "aurabench session report %s", v->label);
    } else if (strcmp(v->state, "closed") == 0 || strcmp(v->state, "over") == 0) {
        put_line(v, "next", TERM_PLAIN, "aurabench session close %s, which seals its evidence",
                 v->label);
    } else if (waits_for_boot(v)) {
        put_line(v, "next", TERM_PLAIN, "boot the host; the jobs begin by themselves after it");
    } else {
        put_line(v, "next", TERM_PLAIN, "nothing; the jobs begin by themselves");
    }
}

void session_view_text(struct cli *cli, struct json_in *in, const cJSON *result, struct buf *out)
{
    struct view v = {.cli = cli, .in = in, .out = out};
    const cJSON *document = json_obj(in, result, "document");
    size_t n = 0;

    v.session = json_obj(in, result, "session");
    v.jobs = json_arr(in, result, "jobs", JOBS_MAX, &n);
    v.label = json_str(in, v.session, "label", TEXT_MAX);
    v.state = json_str(in, v.session, "state", 32);
    const cJSON *boots = json_arr(in, result, "boots", JOBS_MAX, &n);
    const cJSON *noise = json_arr(in, result, "noise", JOBS_MAX, &n);
    if (in->rc)
        return;
    put_head(&v, document);
    put_boots(&v, document, boots);
    put_jobs(&v);
    put_noise(&v, noise);
    put_troubles(&v);
    put_next(&v);
}
