/* Watching the host: on a terminal one view, drawn again in place; elsewhere lines, or a document a
 * line.
 *
 * The daemon looks around only when it is asked to, so nothing is looked at when nobody watches and
 * a watcher that stopped costs nothing. While the host measures it is asked nothing: the watcher
 * sleeps until the daemon speaks, which it does between two observations.
 */
#pragma once

#include "client/cli.h"

#define HOST_WATCH_EVERY_MS 10000

/* params of host.quiet (NULL: {}). Goes on until something fails: -ETIMEDOUT at the deadline. */
int host_watch(struct cli *cli, struct connection *c, const char *params, int64_t every_ms,
               struct err *e);
