/* Making a connection again that broke: the daemon was restarted, say, or its host.
 *
 * Tried soon, then ever more slowly, until one answers, until --timeout is over, or for half a
 * minute where there is none. A zeroed struct is ready; it counts one outage.
 */
#pragma once

#include "client/cli.h"

struct reconnecting {
    bool met; /* a daemon has answered before: whoever refuses now may be it, just starting */
    int64_t since_ns; /* 0: all is well */
    int64_t pause_ns;
    bool given_up;
};

/* True for errors that a new connection may mend; false for all of them once it was given up. */
bool reconnect_may_help(const struct reconnecting *r, int rc);
/* Replaces *c (NULL when that failed). e holds what broke the old one and keeps it when there is no
 * new one; -ETIMEDOUT with its own sentence when --timeout is over. */
int reconnect(struct cli *cli, struct reconnecting *r, struct connection **c, struct err *e);
/* An answer came: the outage is over. */
void reconnected(struct reconnecting *r);

/* Calls over *c, and again over a new connection where that may help. For what does no harm when
 * the daemon has done it already and could not say so any more. *c NULL afterwards: there is no
 * daemon. */
int reconnect_call(struct cli *cli, struct reconnecting *r, struct connection **c,
                   const char *method, const char *params, struct answer *answer, struct err *e);
