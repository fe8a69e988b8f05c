#include "run/run_wire.h"

#include <errno.h>
#include <string.h>

#include "core/suite.h"
#include "run/run_env.h"

#define STDOUT_LIMIT_BYTES (1 << 20)
#define STDERR_LIMIT_BYTES (1 << 16)
#define CAPTURE_LIMIT_BYTES (64 << 20)
#define TIMEOUT_MAX_MS (30LL * 24 * 3600 * 1000)
#define MASK_CPUS (WIRE_CPU_BYTES * 8)

static int bad(struct err *e, int rc, const char *code, const char *field, const char *what)
{
    return err_set(e, rc, code, field, "%s", what);
}

static int fill_list(struct wire_list *list, const char *const *from, const char *field,
                     struct err *e)
{
    list->n = 0;
    for (; from[list->n]; list->n++) {
        if (list->n == WIRE_LIST_MAX)
            return bad(e, -E2BIG, "run.too_large", field,
                       "more than 1024 arguments or variables; put them into a file");
        list->v[list->n] = from[list->n];
    }
    return 0;
}

static int fill_program(struct wire_program *p, const char *const *argv, const char *const *env,
                        const char *cwd, struct err *e)
{
    int rc = fill_list(&p->argv, argv, "command", e);

    if (rc == 0)
        rc = fill_list(&p->env, env, "env", e);
    if (rc == 0 && p->argv.n == 0)
        rc = bad(e, -EINVAL, "run.no_command", "command", "the command is empty; name a program");
    if (rc == 0 && (!cwd || cwd[0] != '/'))
        rc = bad(e, -EINVAL, "run.cwd", "cwd", "the working directory must be absolute");
    p->cwd = cwd;
    for (size_t i = 0; rc == 0 && i < p->env.n; i++)
        if (run_env_forbidden(p->env.v[i]))
            rc = err_set(e, -EINVAL, "run.env_forbidden", "env",
                         "the variable %.*s may not reach a measured program; remove it",
                         (int)strcspn(p->env.v[i], "="), p->env.v[i]);
    return rc;
}

static int64_t bounded(int64_t v, int64_t max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

static int64_t limit_or(int64_t bytes, int64_t fallback)
{
    return bytes > 0 ? bounded(bytes, CAPTURE_LIMIT_BYTES) : fallback;
}

int run_wire_exec(const struct run_exec *req, struct wire_exec *x, struct err *e)
{
    int rc = fill_program(&x->program, req->argv, req->env, req->cwd, e);

    x->stdin_path = req->stdin_path;
    x->log_path = req->log_path;
    x->log_limit_bytes = bounded(req->log_limit_bytes, INT64_MAX);
    x->timeout_ms = bounded(req->timeout_ms, TIMEOUT_MAX_MS);
    return rc;
}

static int check_line(const char *line, const char *field, struct err *e)
{
    if (!line || strlen(line) >= WIRE_LINE_MAX || strchr(line, '\n'))
        return err_set(e, -EINVAL, "run.record", field,
                       "the %s record must be one line of at most 511 bytes", field);
    return 0;
}

static int fill_protocol(struct wire_observe *o, const struct run_observe *req, struct err *e)
{
    int rc = check_line(req->ready, "ready", e);

    if (rc == 0)
        rc = check_line(req->go, "go", e);
    if (rc == 0)
        rc = check_line(req->done, "done", e);
    if (rc == 0 && req->baseline)
        rc = check_line(req->baseline, "baseline", e);
    if (rc == 0 && req->baseline)
        rc = check_line(req->load, "load", e);
    if (rc == 0 && req->ack)
        rc = check_line(req->ack, "ack", e);
    o->ack = req->ack;
    o->samples_max_bytes = req->ack && req->n_samples > 0 ? WIRE_SAMPLES_MAX : 0;
    o->baseline = req->baseline;
    o->load = req->baseline ? req->load : NULL;
    o->memory = req->measure == MEASURE_MEMORY;
    o->window_ms = req->measure == MEASURE_CPU ? bounded(req->window_ms, WINDOW_MAX_MS) : 0;
    o->ready = req->ready;
    o->go = req->go;
    o->done = req->done;
    return rc;
}

static int fill_mask(const int *cpus, size_t n, const char *field, uint8_t mask[WIRE_CPU_BYTES],
                     struct err *e)
{
    memset(mask, 0, WIRE_CPU_BYTES);
    for (size_t i = 0; i < n; i++) {
        int cpu = cpus[i];
        if (cpu < 0 || cpu >= MASK_CPUS)
            return err_set(e, -EINVAL, "run.cpu", field, "CPU %d is not between 0 and %d", cpu,
                           MASK_CPUS - 1);
        mask[cpu / 8] = (uint8_t)(mask[cpu / 8] | 1U << cpu % 8);
    }
    return 0;
}

static int fill_cpus(const struct run_observe *req, struct wire_observe *o, struct run_masks *masks,
                     struct err *e)
{
    int rc = fill_mask(req->cpus, req->n_cpus, "cpu_set", masks->cpus, e);

    if (rc == 0)
        rc = fill_mask(req->near_cpus, req->n_near, "near_cpus", masks->near, e);
    if (rc < 0)
        return rc;
    if (req->n_cpus > 0)
        o->cpus = (struct wire_bytes){masks->cpus, WIRE_CPU_BYTES};
    if (req->n_near > 0)
        o->near = (struct wire_bytes){masks->near, WIRE_CPU_BYTES};
    o->pin_cpu = req->pin_cpu;
    return 0;
}

int run_wire_observe(const struct run_observe *req, struct wire_observe *o, struct run_masks *masks,
                     struct err *e)
{
    int rc = fill_program(&o->program, req->argv, req->env, req->cwd, e);

    if (rc == 0 && measure_has_records(req->measure))
        rc = fill_protocol(o, req, e);
    if (rc == 0)
        rc = fill_cpus(req, o, masks, e);
    o->measure = measure_has_records(req->measure)                             ? WIRE_PROTOCOL
                 : req->measure == MEASURE_COUNTERS                            ? WIRE_OUTPUT
                 : req->measure == MEASURE_KERNEL                              ? WIRE_OUTPUT
                 : req->measure == MEASURE_INSTRUCTIONS && !req->callgrind_dir ? WIRE_INSTRUCTIONS
                                                                               : WIRE_PROCESS;
    if ((o->measure == WIRE_PROCESS || o->measure == WIRE_INSTRUCTIONS) && req->stdout_text)
        o->expected = (struct wire_bytes){req->stdout_text, strlen(req->stdout_text)};
    o->stderr_allowed = req->stderr_allowed;
    o->stdout_limit_bytes = limit_or(req->stdout_limit_bytes, STDOUT_LIMIT_BYTES);
    o->stderr_limit_bytes = limit_or(req->stderr_limit_bytes, STDERR_LIMIT_BYTES);
    o->ready_timeout_ms = bounded(req->ready_timeout_ms, TIMEOUT_MAX_MS);
    o->done_timeout_ms = bounded(req->done_timeout_ms, TIMEOUT_MAX_MS);
    return rc;
}

static void copy_text(char *to, size_t cap, const char *from)
{
    size_t len = from ? strnlen(from, cap - 1) : 0;

    memcpy(to, from ? from : "", len);
    to[len] = '\0';
}

/* Bytes of the UTF-8 character at s, 0: it is none. */
static size_t utf8_bytes(const uint8_t *s, size_t left)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t n = 0;

    while (n < 4 && (s[0] & forms[n].mask) != forms[n].lead)
        n++;
    if (n == 4 || n >= left)
        return 0;
    uint32_t c = (uint32_t)(s[0] & ~forms[n].mask);
    for (size_t i = 1; i <= n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fU);
    }
    bool fine = c >= forms[n].least && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    return fine ? n + 1 : 0;
}

/* Output is stored and shown as text: what is no text in it becomes '?'. */
static void mend_text(char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t n = utf8_bytes((const uint8_t *)text + at, len - at);
        if (n == 0)
            text[at] = '?';
        at += n > 0 ? n : 1;
    }
}

/* -1 for what cannot be: the runner's stamps are read from a pipe, and trusted no more than that.
 */
static int64_t span_ns(int64_t from, int64_t to)
{
    int64_t ns;

    return from < 0 || to < 0 || __builtin_sub_overflow(to, from, &ns) ? -1 : ns;
}

void run_wire_exec_result(const struct wire_exec_result *r, struct run_exec_result *out)
{
    *out = (struct run_exec_result){
        .exit_status = (int)r->end.exit_status,
        .exit_signal = (int)r->end.exit_signal,
        .start_ns = r->end.start_ns,
        .wall_ns = span_ns(r->end.start_ns, r->end.exit_ns),
        .output_bytes = r->output_bytes,
        .log_bytes = r->log_bytes,
        .truncated = r->truncated != 0,
        .log_errno = (int)r->log_errno,
        .exec_errno = (int)r->end.exec_errno,
        .leftovers = (int)r->end.leftovers,
    };
    copy_text(out->outcome, sizeof out->outcome, r->end.outcome);
    copy_text(out->exec_step, sizeof out->exec_step, r->end.exec_step);
    copy_text(out->leftover_names, sizeof out->leftover_names, r->end.leftover_names);
    copy_text(out->unremoved, sizeof out->unremoved, r->end.unremoved);
    size_t len = r->tail.len < RUN_TAIL_BYTES ? r->tail.len : RUN_TAIL_BYTES;
    if (len > 0)
        memcpy(out->tail, r->tail.data, len);
    mend_text(out->tail, len);
}

/* Bytes as text: NULL for none. */
static char *text_of(struct arena *a, const struct wire_bytes *b)
{
    if (!b->data)
        return NULL;
    char *text = arena_alloc(a, b->len + 1);
    memcpy(text, b->data, b->len);
    mend_text(text, b->len);
    return text;
}

/* Bytes as they are, NUL and all. */
static const char *bytes_of(struct arena *a, const struct wire_bytes *b)
{
    char *bytes = arena_alloc(a, b->len + 1);

    if (b->len > 0)
        memcpy(bytes, b->data, b->len);
    return bytes;
}

/* Bytes on one line: text as it is, all else as \xNN; NULL for none. */
static char *shown(struct arena *a, const struct wire_bytes *b)
{
    static const char hex[] = "0123456789abcdef";
    const uint8_t *from = b->data;

    if (!from)
        return NULL;
    const uint8_t *end = from + b->len;
    char *text = arena_alloc(a, 4 * b->len + 1), *to = text;
    while (from < end) {
        size_t n = *from >= ' ' && *from != 0x7f ? utf8_bytes(from, (size_t)(end - from)) : 0;
        if (n == 0) {
            *to++ = '\\';
            *to++ = 'x';
            *to++ = hex[*from >> 4];
            *to++ = hex[*from++ & 15];
        }
        for (; n > 0; n--)
            *to++ = (char)*from++;
    }
    return text;
}

static void fill_ledger(const struct wire_observe_result *r, struct raw_observation *raw)
{
    raw->runner_switches = r->runner_switches;
    raw->daemon_cpu_ns = r->daemon_cpu_ns;
    raw->daemon_switches = r->daemon_switches;
    if (r->span_ns < 0)
        return;
    raw->ledger = (struct ledger){
        .span_ns = r->span_ns,
        .lane_cpu_ns = r->lane_cpu_ns,
        .observer_cpu_ns = r->observer_cpu_ns,
        .near_foreign_ns = r->near_foreign_ns,
        .far_foreign_ns = r->far_foreign_ns,
        .steal_ns = r->steal_ns,
        .lane_delay_ns = r->lane_delay_ns,
        .lane_preemptions = r->lane_preemptions,
        .pressure_us = r->pressure_us,
        .throttles = r->throttles,
        .swapped_pages = r->swapped_pages,
    };
}

static void fill_raw(struct arena *a, const struct wire_observe_result *r,
                     struct raw_observation *raw)
{
    *raw = (struct raw_observation){
        .outcome = arena_strdup(a, r->end.outcome),
        .start_ns = r->end.start_ns,
        .go_ns = r->go_ns,
        .done_ns = r->done_ns,
        .exit_ns = r->end.exit_ns,
        .elapsed_ns = -1,
        .process_ns = span_ns(r->end.start_ns, r->end.exit_ns),
        .interval_cpu_ns = r->interval_cpu_ns,
        .user_us = r->user_us,
        .system_us = r->system_us,
        .max_rss_bytes = r->max_rss_bytes,
        .minor_faults = r->minor_faults,
        .major_faults = r->major_faults,
        .voluntary_switches = r->voluntary_switches,
        .involuntary_switches = r->involuntary_switches,
        .exit_status = (int)r->end.exit_status,
        .exit_signal = (int)r->end.exit_signal,
        .ready = shown(a, &r->ready),
        .done = shown(a, &r->done),
        .stdout_bytes = r->stdout_bytes,
        .stderr_bytes = r->stderr_bytes,
        .cpu = (int)r->cpu,
        .fifo = r->fifo != 0,
        .threads = (int)r->threads,
        .leftovers = (int)r->end.leftovers,
        .runner_cpu_ns = r->runner_cpu_ns,
        .runner_delay_ns = r->runner_delay_ns,
        RAW_OBSERVATION_NO_LEDGER,
    };
    fill_ledger(r, raw);
    if (strcmp(raw->outcome, "ok") == 0)
        raw->elapsed_ns = r->go_ns < 0 ? raw->process_ns : span_ns(r->go_ns, r->done_ns);
}

void run_wire_observation(struct arena *a, const struct wire_observe_result *r,
                          struct run_observation *out)
{
    static const struct wire_bytes none = {"", 0};

    *out = (struct run_observation){
        .exec_errno = (int)r->end.exec_errno,
        .exec_step = arena_strdup(a, r->end.exec_step),
        .got = shown(a, &r->got),
        .leftover_names = arena_strdup(a, r->end.leftover_names),
        .unremoved = arena_strdup(a, r->end.unremoved),
        .stdout_tail = text_of(a, r->stdout_tail.data ? &r->stdout_tail : &none),
        .stderr_tail = text_of(a, r->stderr_tail.data ? &r->stderr_tail : &none),
        .output = bytes_of(a, &r->output),
        .output_bytes = r->output.len,
        .instructions = r->instructions,
        .baseline_rss = r->baseline_rss,
        .ready_rss = r->ready_rss,
        .peak_rss = r->peak_rss,
        .window_from_ns = r->window_from_ns,
        .window_to_ns = r->window_to_ns,
        .window_cpu_ns = r->window_cpu_ns,
    };
    fill_raw(a, r, &out->raw);
}
