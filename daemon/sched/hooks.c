#include "sched/hooks.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/json/json.h"
#include "run/run.h"
#include "run/run_env.h"
#include "sched/orphans.h"
#include "sched/sched_internal.h"
#include "store/hooks.h"

/* While no more of a pause than this has gone by, one more is begun in it. */
#define PAUSE_NS (2LL * 1000000000)
#define LOOK_MS 1000                   /* at a runner that says nothing */
#define TROUBLE_NS (10LL * 1000000000) /* the store or the disk failed: not tried again so soon */
#define OUTPUT_BYTES ((int64_t)1 << 20)
#define INTERRUPTED "interrupted"

/* How long after a failed try the next one is due. */
static const int64_t BACK_OFF_MS[STORE_HOOK_TRIES - 1] = {10000, 60000, 600000, 3600000};

/* One try. Freed when its handle has closed. */
struct telling {
    struct hooks *hooks;
    struct arena arena;
    struct store_hook *hook;
    int seq;
    const char *folder; /* NULL: not made */
    struct run *run;
    uv_poll_t poll;
    bool has_poll;
    struct store_hook_try ended; /* how, once it has */
    uv_work_t work;              /* its runner is ended */
};

struct hooks {
    struct sched *s;
    uv_timer_t timer; /* looks at a runner that says nothing */
    struct telling *now;
    int64_t pause_from_ns;   /* when the first hook of this pause began; -1: none has */
    int64_t trouble_till_ns; /* 0: none */
};

static int64_t back_off_ms(int tries)
{
    int last = STORE_HOOK_TRIES - 2;

    return BACK_OFF_MS[tries < 1 ? 0 : tries - 1 > last ? last : tries - 1];
}

/* ---- the end of a try */

static void on_poll_closed(uv_handle_t *handle)
{
    struct telling *t = handle->data;

    arena_deinit(&t->arena);
    free(t);
}

static void telling_free(struct sched *s, struct telling *t)
{
    if (t->folder)
        trash_put(s, t->folder);
    if (t->has_poll)
        uv_close((uv_handle_t *)&t->poll, on_poll_closed);
    else {
        arena_deinit(&t->arena);
        free(t);
    }
}

static const char *state_after(const struct telling *t, const char *outcome, int64_t now_ms,
                               int64_t *next_ms)
{
    *next_ms = now_ms;
    if (strcmp(outcome, INTERRUPTED) == 0)
        return "owed";
    if (strcmp(outcome, "ok") == 0)
        return "delivered";
    if (t->seq >= STORE_HOOK_TRIES)
        return "given_up";
    *next_ms += back_off_ms(t->seq);
    return "owed";
}

static void say(const struct telling *t, const struct store_hook_try *ended, const char *state)
{
    if (strcmp(state, "delivered") == 0)
        log_info("hook %s of job %s was delivered", t->hook->id, t->hook->job);
    else
        log_warn("hook %s of job %s (%s): try %d ended with %s; it is %s", t->hook->id,
                 t->hook->job, t->hook->argv, t->seq, ended->outcome,
                 strcmp(state, "owed") == 0 ? "tried again later" : "given up");
}

/* Whatever becomes of it, the queue goes on. */
static void telling_over(struct hooks *h)
{
    struct telling *t = MEM_STEAL(h->now);
    struct store_hook_try *ended = &t->ended;
    struct sched *s = h->s;
    struct err e = {0};
    int64_t next_ms;

    if (s->stopping && strcmp(ended->outcome, "ok") != 0)
        ended->outcome = INTERRUPTED;
    ended->seq = t->seq;
    ended->ended_ms = sched_now_ms(s);
    const char *state = state_after(t, ended->outcome, ended->ended_ms, &next_ms);
    FAULT_POINT("hook.ended");
    int rc = store_hook_end(s->config.store, t->hook->number, ended, state, next_ms, &e);
    FAULT_POINT("hook.stored");
    if (rc < 0) {
        log_err("storing how a hook ended", rc, &e);
        h->trouble_till_ns = clock_mono_ns() + TROUBLE_NS;
    } else {
        say(t, ended, state);
    }
    telling_free(s, t);
    sched_hook_over(s);
}

static void on_end_runner(uv_work_t *work)
{
    run_free(((struct telling *)work->data)->run);
}

static void on_runner_ended(uv_work_t *work, int status)
{
    struct telling *t = work->data;

    (void)status; /* it is never cancelled */
    t->run = NULL;
    telling_over(t->hooks);
}

/* A runner that is stuck takes its time to be ended: not on the loop's thread, and nothing else is
 * begun before. */
static void end_runner(struct hooks *h)
{
    struct telling *t = h->now;

    (void)uv_timer_stop(&h->timer);
    if (t->has_poll)
        (void)uv_poll_stop(&t->poll);
    t->work.data = t;
    if (t->run)
        (void)uv_queue_work(h->s->loop, &t->work, on_end_runner, on_runner_ended);
    else
        telling_over(h);
}

static void not_told(struct hooks *h, const char *code, const char *text)
{
    struct telling *t = h->now;

    t->ended = (struct store_hook_try){.outcome = arena_strdup(&t->arena, code),
                                       .exit_status = -1,
                                       .exit_signal = -1,
                                       .output = arena_strdup(&t->arena, text)};
    end_runner(h);
}

static void finish(struct hooks *h)
{
    struct telling *t = h->now;
    struct run_exec_result *r = arena_alloc(&t->arena, sizeof *r);
    struct err e = {0};

    if (run_exec_finish(t->run, r, &e) < 0) {
        not_told(h, e.code, e.text);
        return;
    }
    t->ended = (struct store_hook_try){
        .outcome = r->outcome,
        .exit_status = r->exit_signal ? -1 : r->exit_status,
        .exit_signal = r->exit_signal ? r->exit_signal : -1,
        .output = r->exec_errno ? arena_printf(&t->arena, "it could not be started (%s): %s",
                                               r->exec_step, strerror(r->exec_errno))
                                : r->tail};
    if (r->unremoved[0])
        sched_block(h->s, r->unremoved);
    end_runner(h);
}

static void look(struct hooks *h)
{
    if (h->now && run_wait(h->now->run, 0) != -EAGAIN)
        finish(h);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
    look(((struct telling *)poll->data)->hooks);
}

static void on_look(uv_timer_t *timer)
{
    look(timer->data);
}

/* ---- the beginning of a try */

static int take_command(struct telling *t, struct args *argv, struct err *e)
{
    struct json_in in;
    cJSON *doc = NULL;
    int rc = json_parse(t->hook->argv, strlen(t->hook->argv), &doc, e);

    json_in_init(&in, &t->arena, e);
    if (rc == 0)
        *argv = json_take_args(&in, doc);
    cJSON_Delete(doc);
    return rc < 0 ? rc : in.rc;
}

static int make_folder(struct sched *s, struct telling *t, const char **home, const char **document,
                       struct err *e)
{
    t->folder = arena_printf(&t->arena, "%s/hook-%s", s->work_root, t->hook->id);
    *home = arena_printf(&t->arena, "%s/home", t->folder);
    *document = arena_printf(&t->arena, "%s/document.json", t->folder);
    int rc = file_mkdirs(*home, 0700, e);
    return rc < 0 ? rc
                  : file_write(*document, t->hook->document, strlen(t->hook->document), 0600, e);
}

static int start_runner(struct sched *s, struct telling *t, struct err *e)
{
    struct boot_identity boot;
    int rc = run_new(s->config.runner_path, &t->run, e);

    if (rc == 0)
        rc = host_probe_boot(s->config.probe, &t->arena, &boot, e);
    if (rc == 0)
        orphans_mark(s, t->run, boot.id);
    return rc;
}

static int start(struct hooks *h, struct telling *t, struct err *e)
{
    const char *home = NULL, *document = NULL;
    struct args argv = {0};
    int rc = take_command(t, &argv, e);

    if (rc == 0)
        rc = make_folder(h->s, t, &home, &document, e);
    if (rc == 0)
        rc = start_runner(h->s, t, e);
    if (rc < 0)
        return rc;
    const struct run_exec req = {
        .argv = argv.v,
        .env = run_environment(&t->arena, HOOK_PATH, home, NULL, 0, NULL, 0),
        .cwd = home,
        .stdin_path = document,
        .log_path = arena_printf(&t->arena, "%s/output", t->folder),
        .log_limit_bytes = OUTPUT_BYTES,
        .timeout_ms = t->hook->timeout_ms,
    };
    return run_exec_begin(t->run, &req, e);
}

static int watch(struct hooks *h, struct telling *t)
{
    int rc = uv_poll_init(h->s->loop, &t->poll, run_fd(t->run));

    if (rc < 0)
        return rc;
    t->has_poll = true;
    t->poll.data = t;
    rc = uv_poll_start(&t->poll, UV_READABLE, on_readable);
    return rc < 0 ? rc : uv_timer_start(&h->timer, on_look, LOOK_MS, LOOK_MS);
}

/* It is counted before anything of it runs: a hook that takes the daemon down with it is not made
 * for ever. */
static int count_try(struct hooks *h, struct telling *t, struct err *e)
{
    int64_t now_ms = sched_now_ms(h->s);

    return store_hook_begin(h->s->config.store, t->hook->number, now_ms,
                            now_ms + back_off_ms(t->hook->tries + 1), &t->seq, e);
}

static struct telling *next(struct hooks *h)
{
    struct telling *t = mem_alloc(sizeof *t);
    struct err e = {0};

    t->hooks = h;
    int rc = store_hook_due(h->s->config.store, sched_now_ms(h->s), &t->arena, &t->hook, &e);

    if (rc == 0)
        rc = count_try(h, t, &e);
    if (rc == 0)
        return t;
    if (rc < 0) {
        log_err("beginning a hook", rc, &e);
        h->trouble_till_ns = clock_mono_ns() + TROUBLE_NS;
    }
    telling_free(h->s, t);
    return NULL;
}

/* At most one hook of a pause outlasts it. */
static bool has_room(const struct hooks *h)
{
    int64_t now_ns = clock_mono_ns();

    return now_ns >= h->trouble_till_ns &&
           (h->pause_from_ns < 0 || now_ns - h->pause_from_ns <= PAUSE_NS);
}

bool hooks_begin(struct sched *s)
{
    struct hooks *h = s->hooks;
    struct err e = {0};

    if (!has_room(h))
        return false;
    h->now = next(h);
    if (!h->now)
        return false;
    FAULT_POINT("hook.counted");
    if (h->pause_from_ns < 0)
        h->pause_from_ns = clock_mono_ns();
    log_debug("hook %s of job %s begins: %s", h->now->hook->id, h->now->hook->job,
              h->now->hook->argv);
    int rc = start(h, h->now, &e);
    FAULT_POINT("hook.begun");
    if (rc == 0)
        rc = watch(h, h->now);
    if (rc < 0)
        not_told(h, err_is_set(&e) ? e.code : "hook.not_started",
                 err_is_set(&e) ? e.text : strerror(-rc));
    return true;
}

void hooks_pause_ends(struct sched *s)
{
    s->hooks->pause_from_ns = -1;
}

/* ---- for the scheduler */

const char *hooks_running(const struct sched *s)
{
    return s->hooks->now ? s->hooks->now->hook->id : NULL;
}

int64_t hooks_wait_ms(struct sched *s)
{
    int64_t count, next_ms, trouble_ms;
    struct err e = {0};
    int rc = store_hooks_owed(s->config.store, &count, &next_ms, &e);

    if (rc < 0)
        log_err("looking for the next hook", rc, &e);
    if (rc < 0 || count == 0)
        return -1;
    int64_t wait_ms = next_ms - sched_now_ms(s);
    trouble_ms = (s->hooks->trouble_till_ns - clock_mono_ns()) / 1000000 + 1;
    if (wait_ms < 0)
        wait_ms = 0;
    return trouble_ms > wait_ms ? trouble_ms : wait_ms;
}

void hooks_stop(struct sched *s)
{
    if (!s->hooks->now->ended.outcome)
        (void)run_cancel(s->hooks->now->run);
}

struct hooks *hooks_new(struct sched *s)
{
    struct hooks *h = mem_alloc(sizeof *h);

    h->s = s;
    h->pause_from_ns = -1;
    (void)uv_timer_init(s->loop, &h->timer);
    h->timer.data = h;
    s->open_handles++;
    return h;
}

static void on_closed(uv_handle_t *handle)
{
    struct hooks *h = handle->data;
    struct sched *s = h->s;

    free(h);
    sched_release(s);
}

void hooks_close(struct sched *s)
{
    uv_close((uv_handle_t *)&s->hooks->timer, on_closed);
}
