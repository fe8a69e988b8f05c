/* What `session show` prints of the daemon's answer: one screen for the morning. */
#pragma once

#include "client/cli.h"

/* Appends the text. An error sticks to in. */
void session_view_text(struct cli *cli, struct json_in *in, const cJSON *result, struct buf *out);
/* "mon-fri 01:00 to 05:00 Europe/London" of a session's document; "" without a window. */
void session_view_window(struct json_in *in, const cJSON *document, struct buf *out);
