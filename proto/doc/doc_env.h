/* Environment variables in documents: the members of an object, each a name with its text. */
#pragma once

#include "core/types.h"
#include "proto/json/json.h"

/* obj's member key, at most max variables; NULL and 0 when there is none. code is the document's
 * ("suite.bad"). Refused: what is no name of a variable, values over 4096 bytes, placeholders. */
struct env_var *doc_opt_env(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                            const char *code, size_t *n);

/* Does this variable make a program act for somebody else (GIT_*, LISTEN_*, AURABENCH_*,
 * NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID)? What is measured never gets it. */
bool doc_env_is_reserved(const char *name);
