#include "run/runner/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "run/runner/watch.h"

#define REQUESTS 0
#define REPLIES 1
#define CANCEL_FRAME 64 /* a cancel is far shorter */
#define REPLY_FRAME (65536 + WIRE_SAMPLES_MAX)

/* Only the pages that a request touches become resident: a lane's peak memory starts at ours. */
static uint8_t request_frame[WIRE_FRAME_MAX];
static uint8_t reply_frame[REPLY_FRAME];

int control_init(void)
{
    int flags = fcntl(REQUESTS, F_GETFL);

    if (flags < 0 || fcntl(REPLIES, F_GETFL) < 0)
        return -errno;
    if (fcntl(REQUESTS, F_SETOWN, getpid()) < 0 || fcntl(REQUESTS, F_SETFL, flags | O_ASYNC) < 0)
        return -errno;
    return 0;
}

static int read_exactly(uint8_t *to, size_t len)
{
    size_t got = 0;

    while (got < len) {
        if (watch_stopping())
            return -EPIPE;
        ssize_t n = read(REQUESTS, to + got, len - got);
        if (n == 0)
            return -EPIPE;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n < 0)
            (void)watch_take_news();
        else
            got += (size_t)n;
    }
    return 0;
}

static int read_frame(uint8_t *frame, size_t cap, struct wire_msg *msg)
{
    int rc = read_exactly(frame, WIRE_HEADER);
    int rest = rc == 0 ? wire_frame_rest(frame) : rc;

    if (rest < 0)
        return rest;
    if ((size_t)rest > cap - WIRE_HEADER)
        return -EBADMSG;
    rc = read_exactly(frame + WIRE_HEADER, (size_t)rest);
    return rc == 0 ? wire_decode(frame, WIRE_HEADER + (size_t)rest, msg) : rc;
}

int control_next(struct wire_msg *msg)
{
    return read_frame(request_frame, sizeof request_frame, msg);
}

enum control_news control_look(int64_t id)
{
    static struct wire_msg msg;
    uint8_t frame[CANCEL_FRAME];
    struct pollfd p = {.fd = REQUESTS, .events = POLLIN};

    if (watch_stopping())
        return CONTROL_GONE;
    while (poll(&p, 1, 0) > 0) {
        /* Only cancels may come while a request runs, and they are written whole. */
        if (read_frame(frame, sizeof frame, &msg) != 0 || msg.type != WIRE_CANCEL)
            return CONTROL_GONE;
        if (msg.id == id)
            return CONTROL_CANCEL;
    }
    return CONTROL_NONE;
}

enum control_news control_interrupted(int64_t id)
{
    enum control_news news = CONTROL_NONE;

    if (watch_take_news() || watch_stopping())
        news = control_look(id);
    if (news == CONTROL_NONE && watch_due())
        news = CONTROL_TIMEOUT;
    return news;
}

/* What a test compares with what the daemon stored. */
static void tell(const struct wire_msg *msg)
{
    if (msg->type == WIRE_HELLO)
        FAULT_TELL("hello");
    if (msg->type != WIRE_OBSERVE_RESULT)
        return;
    const struct wire_observe_result *o = &msg->observe_result;
    const struct wire_end *end = &o->end;
    FAULT_TELL("observation outcome=%s start_ns=%lld go_ns=%lld done_ns=%lld exit_ns=%lld "
               "interval_cpu_ns=%lld user_us=%lld system_us=%lld max_rss_bytes=%lld "
               "minor_faults=%lld exit_status=%lld stdout_bytes=%lld stderr_bytes=%lld "
               "threads=%lld runner_cpu_ns=%lld",
               end->outcome, (long long)end->start_ns, (long long)o->go_ns, (long long)o->done_ns,
               (long long)end->exit_ns, (long long)o->interval_cpu_ns, (long long)o->user_us,
               (long long)o->system_us, (long long)o->max_rss_bytes, (long long)o->minor_faults,
               (long long)end->exit_status, (long long)o->stdout_bytes, (long long)o->stderr_bytes,
               (long long)o->threads, (long long)o->runner_cpu_ns);
    (void)o;
    (void)end;
}

int control_reply(const struct wire_msg *msg)
{
    int len = wire_encode(msg, reply_frame, sizeof reply_frame);

    tell(msg);
    FAULT_POINT("in_runner.reply");
    for (int sent = 0; sent < len;) {
        ssize_t n = write(REPLIES, reply_frame + sent, (size_t)(len - sent));
        if (n < 0 && errno != EINTR)
            return -errno;
        sent += n > 0 ? (int)n : 0;
    }
    FAULT_POINT("in_runner.replied");
    return len < 0 ? len : 0;
}
