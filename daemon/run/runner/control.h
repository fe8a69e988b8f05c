/* The runner's end of the two pipes to the daemon: requests on descriptor 0, replies on 1.
 *
 * Exactly one frame is read at a time, so a cancel that follows a request stays in the pipe until
 * it is looked for. A decoded request borrows from the frame and is valid until the next
 * control_next().
 */
#pragma once

#include <stdint.h>

#include "proto/wire/runner_wire.h"

enum control_news { CONTROL_NONE, CONTROL_CANCEL, CONTROL_GONE, CONTROL_TIMEOUT };

/* Checks the two pipes and asks for SIGIO on the first. 0 or -errno. */
int control_init(void);

/* Blocks for the next request. 0, -EPIPE when the daemon is gone or SIGTERM came, -EBADMSG. */
int control_next(struct wire_msg *msg);

/* Looks, without blocking, whether request id was cancelled or the daemon is gone. */
enum control_news control_look(int64_t id);

/* What interrupted a blocking call: CONTROL_NONE (go on), CONTROL_TIMEOUT (watch.h), or as above.
 */
enum control_news control_interrupted(int64_t id);

/* Sends a reply. 0 or -errno. */
int control_reply(const struct wire_msg *msg);
