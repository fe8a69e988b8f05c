#include "client/link/reconnect.h"

#include <errno.h>

#include "base/clock.h"

#define PAUSE_FIRST_NS 100000000LL
#define PAUSE_MAX_NS 2000000000LL
#define GIVE_UP_NS 30000000000LL

/* A daemon that is just ending may still take a connection, and hangs up without a word. */
bool reconnect_may_help(const struct reconnecting *r, int rc)
{
    return !r->given_up && (rc == -EPIPE || (r->met && rc == -ECONNREFUSED));
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static int too_late(struct err *e)
{
    err_clear(e);
    return err_set(e, -ETIMEDOUT, "client.timeout", "--timeout",
                   "the time of --timeout is over and the daemon has not come back; its jobs are "
                   "stored there");
}

int reconnect(struct cli *cli, struct reconnecting *r, struct connection **c, struct err *e)
{
    const struct err first = *e;
    int rc = -EPIPE;

    connection_close(*c);
    *c = NULL;
    if (r->since_ns == 0)
        *r = (struct reconnecting){true, clock_mono_ns(), PAUSE_FIRST_NS, false};
    int64_t deadline_ns = cli->deadline_ns >= 0 ? cli->deadline_ns : r->since_ns + GIVE_UP_NS;
    for (bool is_last = false; reconnect_may_help(r, rc) && !is_last;) {
        int64_t left_ns = deadline_ns - clock_mono_ns();
        is_last = left_ns <= r->pause_ns;
        if (left_ns > 0)
            clock_sleep_ns(earlier(r->pause_ns, left_ns));
        r->pause_ns = earlier(2 * r->pause_ns, PAUSE_MAX_NS);
        err_clear(e);
        rc = cli_connect(cli, c, e);
    }
    if (!reconnect_may_help(r, rc))
        return rc;
    r->given_up = true;
    if (cli->deadline_ns >= 0)
        return too_late(e);
    *e = first;
    return rc;
}

void reconnected(struct reconnecting *r)
{
    *r = (struct reconnecting){.met = true};
}

int reconnect_call(struct cli *cli, struct reconnecting *r, struct connection **c,
                   const char *method, const char *params, struct answer *answer, struct err *e)
{
    int rc = connection_call(*c, method, params, answer, e);

    while (reconnect_may_help(r, rc)) {
        rc = reconnect(cli, r, c, e);
        if (rc == 0)
            rc = connection_call(*c, method, params, answer, e);
    }
    if (rc == 0 || rc == -EREMOTEIO)
        reconnected(r);
    return rc;
}
