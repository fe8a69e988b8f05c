/* Programs that the runner runs and nobody times: build steps, and what prepares the lanes of
 * builds. The loop turns meanwhile. */
#include <errno.h>
#include <string.h>

#include "base/disk.h"
#include "base/mem.h"
#include "sched/sched_internal.h"

/* A program that fails when so little is free has met a full disk. */
#define DISK_FULL_BYTES (64 << 10)
#define LOOK_MS 5000

static void on_poll_closed(uv_handle_t *handle)
{
    free(handle);
}

static void stop_watching(struct attempt *a)
{
    (void)uv_timer_stop(&a->timer);
    (void)uv_poll_stop(a->poll);
    uv_close((uv_handle_t *)a->poll, on_poll_closed);
    a->poll = NULL;
}

static void look_at_runner(struct attempt *a)
{
    void (*answered)(struct attempt *) = a->answered;

    if (run_wait(a->run, 0) == -EAGAIN)
        return;
    a->answered = NULL;
    stop_watching(a);
    answered(a);
}

static void on_runner_readable(uv_poll_t *poll, int status, int events)
{
    look_at_runner(poll->data);
}

/* A runner that hangs never becomes readable. */
static void on_look(uv_timer_t *timer)
{
    look_at_runner(timer->data);
}

int untimed_await(struct attempt *a, void (*answered)(struct attempt *a))
{
    a->poll = mem_alloc(sizeof *a->poll);
    a->poll->data = a;
    int rc = uv_poll_init(a->sched->loop, a->poll, run_fd(a->run));
    if (rc < 0) {
        mem_freep(&a->poll);
        return rc;
    }
    a->answered = answered;
    rc = uv_poll_start(a->poll, UV_READABLE, on_runner_readable);
    if (rc == 0)
        rc = uv_timer_start(&a->timer, on_look, LOOK_MS, LOOK_MS);
    if (rc < 0)
        stop_watching(a);
    return rc;
}

int untimed_blame_disk(struct attempt *a, const struct run_exec_result *result,
                       const char *log_path)
{
    int64_t free_bytes = disk_free_bytes(a->work_dir);
    int log_rc = strcmp(result->exec_step, "log") == 0 ? -result->exec_errno : -result->log_errno;

    if (disk_is_troubled(log_rc))
        return disk_err(&a->e, log_rc, "write", log_path);
    bool failed = result->exit_status != 0;
    return failed && free_bytes >= 0 && free_bytes < DISK_FULL_BYTES ? disk_full(&a->e, a->work_dir)
                                                                     : 0;
}
