#include "proto/doc/doc_notify.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_command.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_keys.h"

#define NOTIFY_ARGS_MAX 64
#define NOTIFY_BYTES_MAX 4096 /* of all arguments of one program */

const char *const notify_keys[] = {"command", "on", "timeout", NULL};

/* ---- who */

static void check_arg(struct json_in *in, const char *arg)
{
    if (doc_is_shell_operator(arg))
        json_fail(in, NULL, "job.bad",
                  "\"%s\" would be passed to the program as an argument, because no shell reads a "
                  "command; put the pipeline into a script and name that",
                  arg);
}

/* At the command's own path. */
static void check_command(struct json_in *in, const struct args *args)
{
    size_t bytes = 0;

    if (!in->rc && (args->n == 0 || !args->v[0][0]))
        json_fail(in, NULL, "job.bad", "a command needs a program as its first argument");
    if (!in->rc && args->n > NOTIFY_ARGS_MAX)
        json_fail(in, NULL, "job.bad", "a command has at most %d arguments", NOTIFY_ARGS_MAX);
    if (!in->rc && strchr(args->v[0], '/') && args->v[0][0] != '/')
        json_fail(in, NULL, "job.bad",
                  "name the program by its whole path on the measuring host, or by its name alone");
    for (size_t i = 0; i < args->n && !in->rc; i++) {
        size_t mark = json_enter_index(in, i);
        bytes += strlen(args->v[i]) + 1;
        check_arg(in, args->v[i]);
        json_leave(in, mark);
    }
    if (!in->rc && bytes > NOTIFY_BYTES_MAX)
        json_fail(in, NULL, "job.bad", "a command has at most %d bytes; put the rest into a file",
                  NOTIFY_BYTES_MAX);
}

static unsigned decode_on(struct json_in *in, const cJSON *obj)
{
    struct args words = json_opt_args(in, obj, "on", JOB_STATE_COUNT);
    size_t mark = json_enter(in, "on");
    unsigned on = 0;

    for (size_t i = 0; i < words.n && !in->rc; i++) {
        size_t at = json_enter_index(in, i);
        int state = job_state_parse(words.v[i]);
        if (state < 0 || !job_state_is_final((enum job_state)state))
            json_fail(in, NULL, "job.bad",
                      "a job does not end as %.40s; ends are done, failed, cancelled, expired, "
                      "unqualified, lost",
                      words.v[i]);
        else
            on |= 1u << state;
        json_leave(in, at);
    }
    json_leave(in, mark);
    return on;
}

static void decode_one(struct json_in *in, const cJSON *obj, struct notify *out)
{
    size_t n;

    json_closed(in, obj, notify_keys);
    const cJSON *arr = json_arr(in, obj, "command", NOTIFY_ARGS_MAX, &n);
    size_t mark = json_enter(in, "command");
    out->command = json_take_args(in, arr);
    check_command(in, &out->command);
    json_leave(in, mark);
    out->on = decode_on(in, obj);
    out->timeout_ms = doc_opt_duration(in, obj, "timeout", NOTIFY_TIMEOUT_MIN_MS,
                                       NOTIFY_TIMEOUT_MAX_MS, NOTIFY_TIMEOUT_MS);
}

void notify_decode(struct json_in *in, const cJSON *obj, struct notify **out, size_t *n)
{
    const cJSON *arr = json_opt_arr(in, obj, "notify", NOTIFY_MAX, n), *item;
    size_t i = 0, mark = json_enter(in, "notify");

    *out = arena_array(in->a, *n, sizeof **out);
    cJSON_ArrayForEach (item, arr) {
        size_t at = json_enter_index(in, i);
        decode_one(in, item, &(*out)[i++]);
        json_leave(in, at);
    }
    json_leave(in, mark);
}

static void encode_on(struct json_out *o, unsigned on)
{
    if (!on)
        return;
    json_begin_array(o, "on");
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        if (on & 1u << s)
            json_put_str(o, NULL, job_state_name((enum job_state)s));
    json_end_array(o);
}

void notify_encode(struct json_out *o, const struct notify *list, size_t n)
{
    if (n == 0)
        return;
    json_begin_array(o, "notify");
    for (size_t i = 0; i < n; i++) {
        json_begin(o, NULL);
        json_put_args(o, "command", &list[i].command);
        encode_on(o, list[i].on);
        doc_put_duration(o, "timeout", list[i].timeout_ms);
        json_end(o);
    }
    json_end_array(o);
}

static int take_array(struct json_in *in, const char *text, struct args *out)
{
    cJSON *doc = NULL;
    int rc = json_parse(text, strlen(text), &doc, in->e);

    if (rc == 0)
        *out = json_take_args(in, doc);
    cJSON_Delete(doc);
    return rc < 0 ? rc : in->rc;
}

int notify_from_text(struct arena *a, const char *shown, const char *text, struct notify *out,
                     struct err *e)
{
    struct err why = {0};
    struct json_in in;
    int rc = 0;

    json_in_init(&in, a, &why);
    *out = (struct notify){.timeout_ms = NOTIFY_TIMEOUT_MS};
    if (text[0] == '[') {
        rc = take_array(&in, text, &out->command);
    } else {
        out->command = (struct args){arena_array(a, 2, sizeof(char *)), 1};
        out->command.v[0] = text;
    }
    if (rc == 0)
        check_command(&in, &out->command);
    if (rc == 0 && in.rc == 0)
        return 0;
    return err_set(e, -EINVAL, "usage", shown,
                   "%s takes a program, or [\"PROGRAM\", \"ARG\"]: %.300s", shown, why.text);
}

/* ---- what */

static void encode_error(struct json_out *o, const struct notification *n)
{
    if (!n->job.error_code) {
        json_put_null(o, "error");
        return;
    }
    json_begin(o, "error");
    json_put_str(o, "code", n->job.error_code);
    json_put_str(o, "field", n->job.error_field);
    json_put_str(o, "text", n->job.error_text);
    json_end(o);
}

static void encode_report(struct json_out *o, const struct notification_report *r)
{
    if (!r) {
        json_put_null(o, "report");
        return;
    }
    json_begin(o, "report");
    json_put_str(o, "attempt", r->attempt);
    json_put_str(o, "grade", r->grade);
    json_put_str(o, "line", r->line);
    json_put_str(o, "evidence", r->evidence);
    json_put_str(o, "raw_sha256", r->raw_sha256);
    json_put_str(o, "summary_sha256", r->summary_sha256);
    json_end(o);
}

void notification_encode(struct buf *out, const struct notification *n)
{
    struct json_out o;

    json_out_init(&o, out);
    json_begin(&o, NULL);
    json_put_str(&o, "schema", "aurabench.notification.v1");
    json_put_str(&o, "id", n->id);
    json_put_str(&o, "event", notify_event_name(n->event));
    json_put_str(&o, "host", n->host);
    json_put_int(&o, "at_ms", n->at_ms);
    json_begin(&o, "job");
    json_put_str(&o, "id", n->job.id);
    json_put_int(&o, "number", n->job.number);
    json_put_str(&o, "label", n->job.label);
    json_put_str(&o, "session", n->job.session);
    json_put_str(&o, "state", job_state_name(n->job.state));
    json_put_int(&o, "submitted_ms", n->job.submitted_ms);
    json_put_int(&o, "attempts", n->job.attempts);
    encode_error(&o, n);
    encode_report(&o, n->job.report);
    json_end(&o);
    json_end(&o);
    buf_putc(out, '\n');
}
