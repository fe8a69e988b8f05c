/* Folders that nobody needs any more. Putting one away is a rename and costs nothing; what lies in
 * the trash is removed on a worker thread while nothing is timed or inventoried, and by the next
 * daemon should this one go down first. */
#include <errno.h>

#include "base/fault.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/mem.h"
#include "sched/sched_internal.h"

static void on_empty(uv_work_t *work)
{
    const struct sched *s = work->data;
    struct err e = {0};
    int rc = file_empty(s->trash_root, &e);

    FAULT_POINT("trash.emptied");
    if (rc < 0)
        log_err("removing what is not needed any more", rc, &e);
}

static void on_emptied(uv_work_t *work, int status)
{
    struct sched *s = work->data;

    s->emptying = false;
    sched_between_done(s);
    if (s->trash_waits && !s->freed) {
        s->trash_waits = false;
        trash_empty(s);
    }
    sched_release(s);
}

static void begin_emptying(void *ctx)
{
    struct sched *s = ctx;

    s->trash_work.data = s;
    if (uv_queue_work(s->loop, &s->trash_work, on_empty, on_emptied) == 0)
        return;
    s->emptying = false;
    sched_between_done(s);
    sched_release(s);
}

void trash_empty(struct sched *s)
{
    if (s->emptying) {
        s->trash_waits = true;
        return;
    }
    s->emptying = true;
    s->open_handles++;
    sched_between(s, begin_emptying, s);
}

void trash_put(struct sched *s, const char *path)
{
    char name[ULID_LEN + 1];
    struct err e = {0};

    if (!file_exists(path))
        return;
    ulid_new(name);
    CLEANUP(mem_freep) char *to = file_join(s->trash_root, name);
    int rc = file_mkdirs(s->trash_root, 0700, &e);
    if (rc == 0 && rename(path, to) < 0)
        rc = err_sys(&e, -errno, "rename", path);
    if (rc < 0)
        log_err("putting away what is not needed any more", rc, &e);
    FAULT_POINT("trash.put");
    if (rc == 0)
        trash_empty(s);
}
