/* aurabench-runner: starts what the daemon asks for, one request at a time, and is the parent of
 * all of it. It talks to nobody but the daemon (requests on descriptor 0, replies on 1) and the
 * lanes.
 *
 * It stays small (no library but libc, static buffers), because a lane's peak resident memory is
 * counted from its parent's, and it waits by blocking, because waiting must not disturb. When the
 * daemon goes, so does everything the runner started, and then the runner; when the runner is
 * killed, its guard sees to that.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "run/runner/control.h"
#include "run/runner/counters.h"
#include "run/runner/exec.h"
#include "run/runner/group.h"
#include "run/runner/guard.h"
#include "run/runner/instructions.h"
#include "run/runner/observe.h"
#include "run/runner/readings.h"
#include "run/runner/sweep.h"
#include "run/runner/tree.h"
#include "run/runner/watch.h"

static bool memory_locked;

/* What the service manager gave the daemon against the system's lack of memory is not for lanes,
 * which inherit it: here it costs no time between spawn and exec. Only a raised protection can
 * always be given up. */
static void lower_own_protection(void)
{
    int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    char text[16] = "";

    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0 && text[0] == '-')
        (void)pwrite(fd, "0", 1, 0);
    if (fd >= 0)
        (void)close(fd);
}

static int prepare(void)
{
    pid_t daemon = getppid();

    /* The guard keeps this; the runner, once it is split off, has it from its parent's death. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)syscall(SYS_close_range, 3U, ~0U, 0U);
    lower_own_protection();
    int rc = sweep_init();
    if (rc == 0)
        rc = guard_split();
    if (rc == 0)
        rc = sweep_init();
    if (rc == 0)
        rc = watch_init();
    if (rc == 0)
        rc = control_init();
    readings_init();
    counters_init("", daemon, group_enter());
#ifdef MLOCK_ONFAULT
    /* Only what was touched: locking everything would raise the peak that lanes are counted from.
     */
    memory_locked = mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
#endif
    return rc;
}

static int hello(void)
{
    static struct wire_msg msg = {.type = WIRE_HELLO};

    FAULT_POINT("in_runner.hello");
    msg.hello = (struct wire_hello){.version = WIRE_VERSION, .pid = getpid()};
    return control_reply(&msg);
}

static int tell_sources(void)
{
    static struct wire_msg msg = {.type = WIRE_SOURCES};
    const struct ledger_sources *s = counters_sources();

    msg.sources = (struct wire_sources){.busy = s->busy,
                                        .lane = s->lane,
                                        .delay = s->delay,
                                        .steal = s->steal,
                                        .pressure = s->pressure,
                                        .throttle = s->throttle,
                                        .swap = s->swap,
                                        .memory = memory_locked ? "locked" : NULL,
                                        .busy_resolution_ns = s->busy_resolution_ns,
                                        .steal_resolution_ns = s->steal_resolution_ns,
                                        .counts_instructions = instructions_countable(),
                                        .reads_rollups = tree_reads_rollups()};
    return control_reply(&msg);
}

static bool observable(const struct wire_observe *req)
{
    bool load = !req->baseline || (req->load && strlen(req->load) < WIRE_LINE_MAX);
    bool records = req->ready && req->go && req->done && strlen(req->go) < WIRE_LINE_MAX && load;

    return req->measure == WIRE_PROCESS || req->measure == WIRE_OUTPUT ||
           req->measure == WIRE_INSTRUCTIONS || (req->measure == WIRE_PROTOCOL && records);
}

/* Nothing new is started while something of an earlier request still runs. */
static bool clean(struct wire_end *end)
{
    static struct ending ending;
    static struct swept swept;

    sweep_run(NULL, &ending, &swept);
    if (!swept.unremoved[0])
        return true;
    *end = (struct wire_end){.outcome = "runner.unclean",
                             .unremoved = swept.unremoved,
                             .exit_status = -1,
                             .start_ns = -1,
                             .exit_ns = -1};
    return false;
}

static void serve_exec(const struct wire_msg *msg, struct wire_msg *reply)
{
    reply->type = WIRE_EXEC_RESULT;
    if (clean(&reply->exec_result.end))
        exec_run(msg->id, &msg->exec, &reply->exec_result);
}

static void serve_observe(const struct wire_msg *msg, struct wire_msg *reply)
{
    struct wire_end *end = &reply->observe_result.end;

    reply->type = WIRE_OBSERVE_RESULT;
    if (!clean(end))
        return;
    if (observable(&msg->observe))
        observe_run(msg->id, &msg->observe, &reply->observe_result);
    else
        *end = (struct wire_end){
            .outcome = "run.refused", .exit_status = -1, .start_ns = -1, .exit_ns = -1};
}

/* 0 to go on, else -errno. */
static int serve_next(void)
{
    static struct wire_msg msg, reply;
    int rc = control_next(&msg);

    if (rc != 0)
        return rc;
    FAULT_POINT("in_runner.request");
    memset(&reply, 0, sizeof reply);
    reply.id = msg.id;
    switch (msg.type) {
    case WIRE_EXEC:
        serve_exec(&msg, &reply);
        break;
    case WIRE_OBSERVE:
        serve_observe(&msg, &reply);
        break;
    case WIRE_CANCEL: /* of a request that had ended already */
        return 0;
    case WIRE_HELLO:
    case WIRE_EXEC_RESULT:
    case WIRE_OBSERVE_RESULT:
    case WIRE_SOURCES:
        return -EBADMSG;
    }
    /* Whoever ended this request early by ending the runner is told just that. */
    return watch_stopping() ? -EPIPE : control_reply(&reply);
}

int main(void)
{
    static struct ending ending;
    static struct swept swept;
    int rc = prepare();

    if (rc == 0)
        rc = hello();
    if (rc == 0)
        rc = tell_sources();
    if (rc != 0) {
        (void)fprintf(stderr,
                      "aurabench-runner: %s; it is started by aurabenchd, with requests on "
                      "descriptor 0 and replies on 1\n",
                      strerror(-rc));
        return 2;
    }
    while (rc == 0)
        rc = serve_next();
    sweep_run(NULL, &ending, &swept);
    return rc == -EPIPE ? 0 : 1;
}
