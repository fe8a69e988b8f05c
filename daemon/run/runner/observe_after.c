#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/runner/observe.h"

/* Apart from the observation, so that its pages are touched only where there are samples. */
static char samples[WIRE_SAMPLES_MAX];

/* ---- the ack */

static bool is_unread(const struct observation *o)
{
    int unread = 0;

    return o->in >= 0 && ioctl(o->in, FIONREAD, &unread) == 0 && unread > 0;
}

/* It went without having been told: how it ended says more, where it did not end well. */
static void fail_unread(struct observation *o)
{
    if (o->outcome)
        return;
    observe_fail(o, "lane.ack_unread", NULL);
    o->owed = true;
}

static bool write_ack(struct observation *o)
{
    char line[WIRE_LINE_MAX + 1];
    size_t len = strnlen(o->req->ack, WIRE_LINE_MAX - 1);

    memcpy(line, o->req->ack, len);
    line[len++] = '\n';
    if (write(o->in, line, len) == (ssize_t)len)
        return true;
    fail_unread(o);
    return false;
}

bool observe_ack(struct observation *o)
{
    char early[WIRE_LINE_MAX];

    if (o->req->samples_max_bytes > 0)
        o->res->output = (struct wire_bytes){samples, 0};
    if (!o->req->ack)
        return true;
    struct wire_bytes extra = observe_behind(o, &o->done, early);
    if (!extra.data)
        return write_ack(o);
    observe_fail(o, "lane.ack_early", &extra);
    return false;
}

void observe_ack_read(struct observation *o)
{
    if (o->req->ack && is_unread(o))
        return;
    o->acked = true;
    mem_closep(&o->in);
    o->in = -1;
}

void observe_ack_end(struct observation *o)
{
    if (is_unread(o))
        fail_unread(o);
}

/* ---- samples */

void observe_after(struct observation *o, const void *data, size_t len)
{
    const struct wire_bytes got = {data, len < WIRE_LINE_MAX ? len : WIRE_LINE_MAX};
    size_t had = o->res->output.len;

    if (o->req->ack && !o->acked && is_unread(o)) {
        observe_fail(o, "lane.ack_early", &got);
    } else if (o->req->samples_max_bytes == 0) {
        observe_fail(o, "lane.output_extra", &got);
    } else if (len > sizeof samples - had || (int64_t)(had + len) > o->req->samples_max_bytes) {
        observe_fail(o, "lane.sample_limit", NULL);
    } else {
        memcpy(samples + had, data, len);
        o->res->output.len = had + len;
    }
}
