#include "sched/calibrating.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "host/cpus.h"
#include "proto/doc/doc_calibration.h"
#include "proto/doc/documents.h"
#include "run/floor/floor.h"
#include "run/run_env.h"
#include "sched/calibrating_run.h"
#include "sched/orphans.h"
#include "sched/sched_internal.h"
#include "store/calibrations.h"

#define REST_MS 10
/* After a refusal: a host that was busy is asked again when the jobs that it refused are. */
#define AGAIN_MS 600000
#define ASKED_AGAIN_MS 15000 /* somebody waits for it */

enum stage { STAGE_NONE, STAGE_LOOKING, STAGE_MEASURING, STAGE_LOOKING_AGAIN, STAGE_ENDING };

struct calibrating {
    struct sched *s;
    uv_timer_t timer;
    uv_work_t work;
    int work_rc;
    struct arena arena; /* of the one that runs */
    struct err e;
    enum stage stage;
    bool stop;
    void (*paused)(struct calibrating *c); /* goes on with this when the pause is over */
    bool asked;                            /* by somebody; */
    enum calibration_form form;            /* in this form, or that of the one that runs */
    enum calibration_form asked_form;
    struct boot_identity boot;
    struct policy *policy;
    struct phase_record record;
    struct calibrating_run run;
    char known_boot[64]; /* whose latest is known: */
    char latest[ULID_LEN + 1];
    char refused[512]; /* why the last one was; "": it was not */
    int64_t refused_ms, next_ms;
};

static bool is_known(const struct calibrating *c)
{
    return c->latest[0] != '\0';
}

/* ---- which one holds */

static void set_latest(struct calibrating *c, const char *id)
{
    (void)snprintf(c->latest, sizeof c->latest, "%s", id);
    host_probe_set_calibrated(c->s->config.probe, is_known(c));
}

void calibrating_note_boot(struct sched *s, const char *boot)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct calibrating *c = s->calibrating;
    const struct calibration *found = NULL;
    const char *document;
    struct err e = {0};

    if (strcmp(c->known_boot, boot) == 0)
        return;
    int rc = store_calibration_latest(s->config.store, boot, &a, &document, &e);
    if (rc == 0)
        rc = calibration_decode_text(&a, document, &found, &e);
    if (rc < 0)
        log_err("looking for a calibration of this boot", rc, &e);
    (void)snprintf(c->known_boot, sizeof c->known_boot, "%s", boot);
    set_latest(c, found ? found->id : "");
    c->next_ms = 0;
}

/* ---- the end */

static void ended(struct calibrating *c)
{
    struct sched *s = c->s;

    if (c->run.folder)
        trash_put(s, c->run.folder);
    c->run = (struct calibrating_run){0};
    c->stop = false;
    c->stage = STAGE_NONE;
    arena_deinit(&c->arena);
    sched_calibration_over(s);
}

static void end_runner(uv_work_t *work)
{
    run_free(((struct calibrating *)work->data)->run.run);
}

static void on_runner_ended(uv_work_t *work, int status)
{
    (void)status; /* it is never cancelled */
    ended(work->data);
}

/* A runner that is stuck takes its time to be ended: not on the loop's thread. */
static void over(struct calibrating *c)
{
    struct sched *s = c->s;

    (void)uv_timer_stop(&c->timer);
    c->paused = NULL;
    c->stage = STAGE_ENDING;
    store_set_quiet(s->config.store, false);
    sched_set_quiet(s, false);
    c->work.data = c;
    if (uv_queue_work(s->loop, &c->work, end_runner, on_runner_ended) < 0) {
        run_free(c->run.run);
        ended(c);
    }
}

/* Whatever the reason, the queue goes on; a wall clock that was set back is seen to by due(). */
static void refuse(struct calibrating *c, const char *why)
{
    struct sched *s = c->s;

    c->refused_ms = sched_now_ms(s);
    c->next_ms = c->refused_ms + (c->asked ? ASKED_AGAIN_MS : AGAIN_MS);
    (void)snprintf(c->refused, sizeof c->refused, "%s", why);
    log_info("no calibration yet: %s", c->refused);
    over(c);
}

static void fail(struct calibrating *c, int rc)
{
    log_err("calibrating", rc, &c->e);
    refuse(c, err_is_set(&c->e) ? c->e.text : strerror(-rc));
}

static void say(const struct store_calibration *row)
{
    for (size_t m = 0; m < CALIBRATION_MEASURES; m++)
        log_info("calibrated (%s): noise floor of %s %.2f %%, floor %.1f us, MAD %.2f us",
                 calibration_form_name(row->form), measure_name((enum measure)m),
                 100 * row->figures[m].noise_floor, row->figures[m].floor_median_ns / 1e3,
                 row->figures[m].floor_mad_ns / 1e3);
}

static void keep(struct calibrating *c)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    char id[ULID_LEN + 1];
    struct calibration *result = &c->run.result;
    struct json_out o;

    ulid_new(id);
    result->id = id;
    result->boot = c->boot.id;
    result->wall_ms = sched_now_ms(c->s);
    json_out_init(&o, &text);
    calibration_encode(&o, NULL, result);
    struct store_calibration row = {.id = id,
                                    .boot = result->boot,
                                    .document = buf_str(&text),
                                    .form = result->form,
                                    .wall_ms = result->wall_ms,
                                    .clock_step_ns = result->clock_step_ns};
    for (int m = 0; m < CALIBRATION_MEASURES; m++)
        calibration_figures(&c->arena, result, (enum measure)m, &row.figures[m]);
    int rc = store_calibration_put(c->s->config.store, &row, &c->e);
    if (rc < 0) {
        fail(c, rc);
        return;
    }
    set_latest(c, id);
    c->refused[0] = '\0';
    c->refused_ms = c->next_ms = 0;
    c->asked = c->asked && c->asked_form == CALIBRATION_FULL && c->form == CALIBRATION_QUICK;
    say(&row);
    over(c);
}

/* ---- looking around */

/* Conditions are the jobs' matter: the policy of each says which it requires. But a host that has
 * just been started is not yet what it will be, and what the daemon makes by itself holds till the
 * end of the boot. */
static bool is_asked_of_host(const struct calibrating *c, enum condition condition)
{
    return condition == COND_UPTIME && !c->asked;
}

static void look(uv_work_t *work)
{
    struct calibrating *c = work->data;
    bool lanes = c->form == CALIBRATION_FULL && c->stage == STAGE_LOOKING;
    const struct inventory_scope scope = {.self_pid = (int)getpid(),
                                          .lane_cpus = lanes ? c->run.cpus : NULL,
                                          .n_lane_cpus = lanes ? c->run.n_cpus : 0};
    const struct qualify_job job = {.is_comparison = false, .control_everywhere = false};
    enum phase phase = c->stage == STAGE_LOOKING ? PHASE_BEFORE_TIMING : PHASE_AFTER_TIMING;

    c->work_rc = host_take_phase(c->s->config.probe, &c->arena, c->policy, &scope, &job, phase,
                                 NULL, c->policy->snapshot_gap_ms, &c->record, &c->e);
    for (int i = 0; i < COND_COUNT; i++)
        if (!is_asked_of_host(c, (enum condition)i))
            c->record.conditions[i].mode = RULE_RECORD;
}

static void begin_measuring(struct calibrating *c);

static void on_looked(uv_work_t *work, int status)
{
    struct calibrating *c = work->data;
    const char *why;
    int rc = status < 0 ? status : c->work_rc;

    if (c->stop)
        over(c);
    else if (rc < 0)
        fail(c, rc);
    else if (!qualify_decide(&c->arena, &c->record, false, &why))
        refuse(c, why);
    else if (c->stage == STAGE_LOOKING)
        begin_measuring(c);
    else
        keep(c);
}

static void look_around(struct calibrating *c, enum stage stage)
{
    c->stage = stage;
    sched_set_quiet(c->s, true);
    c->work.data = c;
    int rc = uv_queue_work(c->s->loop, &c->work, look, on_looked);
    if (rc < 0)
        fail(c, rc);
}

/* ---- measuring */

/* Between two slices whoever has heavy work may do it. */
static void pause_point(struct calibrating *c, void (*go_on)(struct calibrating *c))
{
    sched_set_quiet(c->s, false);
    if (c->s->holds > 0)
        c->paused = go_on;
    else
        go_on(c);
}

void calibrating_resume(struct sched *s)
{
    struct calibrating *c = s->calibrating;
    void (*go_on)(struct calibrating * c) = c ? c->paused : NULL;

    if (!go_on)
        return;
    c->paused = NULL;
    go_on(c);
}

static void look_again(struct calibrating *c)
{
    look_around(c, STAGE_LOOKING_AGAIN);
}

static void next_slice(struct calibrating *c);

static void on_slice(uv_timer_t *timer)
{
    struct calibrating *c = timer->data;
    const char *left = NULL;
    int rc = calibrating_run_slice(&c->run, &left, &c->e);

    if (left)
        sched_block(c->s, left);
    if (rc < 0) {
        fail(c, rc);
        return;
    }
    sched_tell_state(c->s);
    pause_point(c, c->run.slice < calibrating_run_slices(&c->run) ? next_slice : look_again);
}

/* Watchers redraw before the next one, not in it. */
static void next_slice(struct calibrating *c)
{
    sched_set_quiet(c->s, true);
    (void)uv_timer_start(&c->timer, on_slice, REST_MS, 0);
}

static void begin_measuring(struct calibrating *c)
{
    c->stage = STAGE_MEASURING;
    store_set_quiet(c->s->config.store, true);
    sched_tell_state(c->s);
    pause_point(c, next_slice);
}

/* ---- the beginning */

static int find_program(struct calibrating *c)
{
    c->run.program = sched_beside_runner(c->s, &c->arena, FLOOR_PROGRAM);
    if (file_exists(c->run.program))
        return 0;
    return err_set(&c->e, -ENOENT, "calibration.no_program", "",
                   "%s is not beside aurabench-runner; install it", c->run.program);
}

static int prepare(struct calibrating *c)
{
    struct sched *s = c->s;
    int *cpus, rc = find_program(c);

    c->run.arena = &c->arena;
    host_usable_cpus(&c->arena, &cpus, &c->run.n_cpus);
    c->run.cpus = cpus;
    if (rc == 0)
        rc = policy_shipped(&c->arena, "standard", &c->policy, &c->e);
    if (rc < 0)
        return rc;
    c->run.folder = arena_printf(&c->arena, "%s/calibration", s->work_root);
    rc = file_mkdirs(c->run.folder, 0700, &c->e);
    if (rc == 0)
        rc = run_new(s->config.runner_path, &c->run.run, &c->e);
    if (rc < 0)
        return rc;
    orphans_mark(s, c->run.run, c->boot.id);
    c->run.env = run_environment(&c->arena, c->policy->path, c->run.folder, NULL, 0, NULL, 0);
    calibrating_run_init(&c->run, c->form);
    return 0;
}

static void look_first(struct calibrating *c)
{
    look_around(c, STAGE_LOOKING);
}

/* A clock that was set back does not put it off. */
static bool is_due(const struct calibrating *c, int64_t now_ms)
{
    bool wanted = c->asked || (c->s->config.calibrates && !is_known(c));

    return wanted && (now_ms >= c->next_ms || c->next_ms > now_ms + AGAIN_MS);
}

bool calibrating_begin(struct sched *s)
{
    struct calibrating *c = s->calibrating;
    struct host_identity host;

    if (!c->asked && (!s->config.calibrates || (c->known_boot[0] && is_known(c))))
        return false;
    err_clear(&c->e);
    int rc = sched_identify(s, &host, &c->boot, &c->arena, &c->e);
    if (rc < 0 || !is_due(c, sched_now_ms(s))) {
        arena_deinit(&c->arena);
        return false; /* the claim says what is wrong */
    }
    c->form = c->asked ? c->asked_form : CALIBRATION_QUICK;
    c->stage = STAGE_LOOKING;
    log_debug("a calibration begins (%s)", calibration_form_name(c->form));
    rc = prepare(c);
    if (rc < 0)
        fail(c, rc);
    else
        pause_point(c, look_first);
    return true;
}

bool calibrating_running(const struct sched *s)
{
    return s->calibrating && s->calibrating->stage != STAGE_NONE;
}

int64_t calibrating_wait_ms(const struct sched *s)
{
    const struct calibrating *c = s->calibrating;
    int64_t wait_ms = c->next_ms - sched_now_ms(s);

    if (!c->asked && (!s->config.calibrates || is_known(c)))
        return -1;
    return wait_ms < 0 ? 0 : wait_ms > AGAIN_MS ? AGAIN_MS : wait_ms;
}

void calibrating_stop(struct sched *s)
{
    struct calibrating *c = s->calibrating;

    c->stop = true;
    if (c->stage == STAGE_MEASURING || c->paused)
        over(c);
}

/* ---- for others */

void sched_calibration(const struct sched *s, struct sched_calibration *out)
{
    const struct calibrating *c = s->calibrating;
    bool runs = calibrating_running(s), counts = runs && c->stage != STAGE_LOOKING;

    *out = (struct sched_calibration){
        .running = runs,
        .asked = c->asked,
        .form = runs ? c->form : c->asked_form,
        .done = counts ? (int)c->run.slice : 0,
        .total = counts ? (int)calibrating_run_slices(&c->run) : 0,
        .latest = is_known(c) ? c->latest : NULL,
        .refused = c->refused[0] ? c->refused : NULL,
        .refused_ms = c->refused[0] ? c->refused_ms : -1,
        .next_try_ms = !runs && calibrating_wait_ms(s) >= 0 ? c->next_ms : -1,
    };
}

void sched_calibrate(struct sched *s, bool on, enum calibration_form form)
{
    struct calibrating *c = s->calibrating;

    if (!on) {
        c->asked = false;
    } else {
        c->asked_form = c->asked && c->asked_form == CALIBRATION_FULL ? CALIBRATION_FULL : form;
        c->asked = true;
        c->next_ms = 0;
        sched_kick(s);
    }
    sched_tell_state(s);
}

struct calibrating *calibrating_new(struct sched *s)
{
    struct calibrating *c = mem_alloc(sizeof *c);

    c->s = s;
    (void)uv_timer_init(s->loop, &c->timer);
    c->timer.data = c;
    s->open_handles++;
    return c;
}

static void on_closed(uv_handle_t *handle)
{
    struct calibrating *c = handle->data;
    struct sched *s = c->s;

    /* Work on a thread may still end, and with it a pause. */
    s->calibrating = NULL;
    free(c);
    sched_release(s);
}

void calibrating_close(struct sched *s)
{
    uv_close((uv_handle_t *)&s->calibrating->timer, on_closed);
}
