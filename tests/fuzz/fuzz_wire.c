/* Messages between daemon and runner. A frame that is taken is written again as a frame of the same
 * length that says the same; a result becomes text that can be stored and shown, whatever a lane
 * printed; a request that may be sent arrives as it was meant.
 *
 * Input: the first byte says which, then a frame, or the lines of a request. */
#include <errno.h>
#include <string.h>

#include "core/types.h"
#include "fuzz/fuzz.h"
#include "proto/wire/runner_wire.h"
#include "run/run_env.h"
#include "run/run_text.h"
#include "run/run_wire.h"

#define ARGS 4

static uint8_t frame[WIRE_FRAME_MAX], second[WIRE_FRAME_MAX];
static struct wire_msg msg, again;

/* ---- frames */

static const char *const argv[] = {"./lane", NULL};
static const struct run_observe observed = {.argv = argv,
                                            .cwd = "/",
                                            .ready = "READY",
                                            .go = "GO",
                                            .done = "DONE",
                                            .ready_timeout_ms = 1000,
                                            .done_timeout_ms = 1000};

static void must_be_text_or_null(const char *text)
{
    if (text)
        fuzz_must_be_text(text);
}

/* Strings that the runner itself writes are its own; what a lane printed is not. */
static void try_observation(const struct wire_observe_result *r)
{
    static const struct run_text_who who = {"w", "l", "before"};
    struct arena a = {0};
    struct run_observation o;
    struct err e = {0};

    run_wire_observation(&a, r, &o);
    must_be_text_or_null(o.raw.ready);
    must_be_text_or_null(o.raw.done);
    must_be_text_or_null(o.got);
    MUST(o.stdout_tail && o.stderr_tail && o.raw.outcome);
    MUST(o.raw.elapsed_ns == -1 || strcmp(o.raw.outcome, "ok") == 0);
    int rc = run_observe_text(&who, &observed, &o, &e);
    MUST((rc == 0) == (strcmp(o.raw.outcome, "ok") == 0) && (rc == 0) == !err_is_set(&e));
    arena_deinit(&a);
}

static void try_exec_result(const struct wire_exec_result *r)
{
    static const struct run_exec step = {.argv = argv, .cwd = "/", .log_path = "/log"};
    struct run_exec_result out;
    struct err e = {0};

    run_wire_exec_result(r, &out);
    MUST(memchr(out.outcome, 0, sizeof out.outcome) && memchr(out.tail, 0, sizeof out.tail) &&
         memchr(out.leftover_names, 0, sizeof out.leftover_names));
    int rc = run_exec_text("build step 1", "build[0]", &step, &out, &e);
    MUST((rc == 0) == (strcmp(out.outcome, "ok") == 0) && (rc == 0) == !err_is_set(&e));
}

static void try_frame(const uint8_t *data, size_t size)
{
    if (size >= WIRE_HEADER) {
        int rest = wire_frame_rest(data);
        MUST(rest < 0 || (rest >= 2 && rest <= WIRE_FRAME_MAX - WIRE_HEADER));
    }
    if (wire_decode(data, size, &msg) != 0)
        return;
    fuzz_count_good();
    int len = wire_encode(&msg, frame, sizeof frame);
    MUST(len >= 0 && (size_t)len == size, "%d", len);
    MUST(wire_decode(frame, size, &again) == 0 && again.type == msg.type && again.id == msg.id);
    MUST(wire_encode(&again, second, sizeof second) == len && memcmp(frame, second, size) == 0);
    if (size > WIRE_HEADER)
        MUST(wire_encode(&msg, second, size - 1) == -E2BIG);
    if (msg.type == WIRE_OBSERVE_RESULT)
        try_observation(&msg.observe_result);
    if (msg.type == WIRE_EXEC_RESULT)
        try_exec_result(&msg.exec_result);
}

/* ---- requests */

struct lines {
    struct arena a;
    struct fuzz_in in;
};

static const char *line(struct lines *l)
{
    CLEANUP(mem_freep) char *text = fuzz_line(&l->in);
    return arena_strdup(&l->a, text);
}

static const char *const *list(struct lines *l)
{
    const char **v = arena_array(&l->a, ARGS + 1, sizeof *v);
    size_t n = fuzz_below(&l->in, ARGS + 1);

    for (size_t i = 0; i < n; i++)
        v[i] = line(l);
    return v;
}

static void must_be_equal(const char *sent, const char *got)
{
    MUST(!sent == !got && (!sent || strcmp(sent, got) == 0), "%s", got);
}

static void must_be_same_list(const char *const *sent, const struct wire_list *got)
{
    size_t n = 0;

    for (; sent[n]; n++)
        must_be_equal(sent[n], n < got->n ? got->v[n] : NULL);
    MUST(n == got->n && !got->v[n]);
}

static void send(void)
{
    msg.id = 7;
    int len = wire_encode(&msg, frame, sizeof frame);
    MUST(len > 0, "%d", len);
    MUST(wire_decode(frame, (size_t)len, &again) == 0);
    MUST(again.id == 7 && again.type == msg.type);
}

static void must_be_startable(const struct wire_program *p)
{
    MUST(p->argv.n > 0 && p->cwd[0] == '/');
    for (size_t i = 0; i < p->env.n; i++)
        MUST(!run_env_forbidden(p->env.v[i]), "%s", p->env.v[i]);
}

static void try_exec(struct lines *l)
{
    struct run_exec req = {.log_limit_bytes = (int64_t)fuzz_number(&l->in, 8),
                           .timeout_ms = (int64_t)fuzz_number(&l->in, 8)};
    struct err e = {0};

    req.argv = list(l);
    req.env = list(l);
    req.cwd = line(l);
    req.log_path = line(l);
    msg.type = WIRE_EXEC;
    if (!fuzz_accepted(run_wire_exec(&req, &msg.exec, &e), &e))
        return;
    send();
    must_be_startable(&again.exec.program);
    must_be_same_list(req.argv, &again.exec.program.argv);
    must_be_same_list(req.env, &again.exec.program.env);
    must_be_equal(req.cwd, again.exec.program.cwd);
    must_be_equal(req.log_path, again.exec.log_path);
    MUST(again.exec.timeout_ms >= 0 && again.exec.log_limit_bytes >= 0);
}

static void must_be_the_cpus(const struct run_observe *req, const struct wire_bytes *mask)
{
    const uint8_t *bits = mask->data;

    MUST((req->n_cpus > 0) == (bits != NULL));
    for (size_t i = 0; i < req->n_cpus; i++)
        MUST(bits[req->cpus[i] / 8] & 1U << req->cpus[i] % 8);
}

static void must_be_sent(const struct run_observe *req)
{
    const struct wire_observe *o = &again.observe;

    must_be_startable(&o->program);
    must_be_same_list(req->argv, &o->program.argv);
    must_be_same_list(req->env, &o->program.env);
    must_be_the_cpus(req, &o->cpus);
    MUST(o->ready_timeout_ms >= 0 && o->done_timeout_ms >= 0 && o->stdout_limit_bytes > 0 &&
         o->stderr_limit_bytes > 0);
    if (req->measure != MEASURE_PROTOCOL)
        return;
    must_be_equal(req->ready, o->ready);
    must_be_equal(req->go, o->go);
    must_be_equal(req->done, o->done);
    MUST(strlen(o->done) < WIRE_LINE_MAX && !strchr(o->done, '\n'));
}

static void try_observe(struct lines *l)
{
    static struct run_masks masks;
    int cpus[ARGS];
    struct run_observe req = {.cpus = cpus, .pin_cpu = (int)(int16_t)fuzz_number(&l->in, 2)};
    struct err e = {0};

    req.measure = fuzz_byte(&l->in) & 1 ? MEASURE_PROTOCOL : MEASURE_PROCESS;
    req.n_cpus = fuzz_below(&l->in, ARGS + 1);
    for (size_t i = 0; i < req.n_cpus; i++)
        cpus[i] = (int)(int16_t)fuzz_number(&l->in, 2);
    req.stdout_limit_bytes = (int64_t)fuzz_number(&l->in, 8);
    req.done_timeout_ms = (int64_t)fuzz_number(&l->in, 8);
    req.argv = list(l);
    req.env = list(l);
    req.cwd = line(l);
    req.ready = line(l);
    req.go = line(l);
    req.done = line(l);
    req.stdout_text = fuzz_byte(&l->in) & 1 ? line(l) : NULL;
    msg.type = WIRE_OBSERVE;
    if (!fuzz_accepted(run_wire_observe(&req, &msg.observe, &masks, &e), &e))
        return;
    send();
    must_be_sent(&req);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lines l = {.in = {data, size}};
    size_t which = fuzz_below(&l.in, 3);

    memset(&msg, 0, sizeof msg);
    if (which == 0)
        try_frame(l.in.at, l.in.left);
    else if (which == 1)
        try_exec(&l);
    else
        try_observe(&l);
    arena_deinit(&l.a);
    return 0;
}
