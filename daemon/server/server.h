/* The listener and its connections: bytes in, lines to the api, lines out.
 *
 * Bounded everywhere: connections (1024, or what the limit of descriptors leaves), a line
 * (proto/wire/frame.h), what waits to be written, and what all connections hold together (conn.h).
 * A connection too many is told "daemon.busy" and closed; a peer that does not read its answers is
 * not read from, and of notifications it gets the latest when it reads on (api.h). Where no
 * descriptor is left, who knocks waits until a connection ends.
 * Callbacks of the loop translate and call; what a request means is the api's.
 */
#pragma once

#include <uv.h>

#include "api/api.h"
#include "base/err.h"

#define SERVER_PATH_MAX 103 /* bytes of a socket path, on every system */

struct server;

struct server *server_new(uv_loop_t *loop, struct api *api);

/* Binds path (mode 0660). A socket of our own user that nobody answers on is stale and replaced;
 * anything else at the path is refused: "daemon.socket_path", "daemon.socket_busy". */
int server_listen(struct server *s, const char *path, struct err *e);
/* Takes over a listening socket (socket activation); its path is not ours to remove. */
int server_adopt(struct server *s, int fd, struct err *e);

/* Stops listening, drops all connections, removes its own socket; freed once the loop has closed
 * its handles. */
void server_close(struct server *s);
