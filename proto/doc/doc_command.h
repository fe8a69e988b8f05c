/* Commands of a suite: argument lists, their placeholders, and what people write by habit although
 * no shell reads it. Internal to proto. */
#pragma once

#include "proto/json/json.h"

#define COMMAND_ARGS_MAX 256

enum placeholder { PLACE_SOURCE = 1, PLACE_SUITE = 2, PLACE_BUILD = 4 };

/* The member as a checked command: at least a program; only {source}, {suite} and {build} in
 * braces; no lone shell operator. *used (may be NULL) is the set of placeholders in it. */
struct args doc_command(struct json_in *in, const cJSON *obj, const char *key, unsigned *used);

/* The member as a list of such commands, empty when missing. */
struct args *doc_opt_commands(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                              size_t *n, unsigned *used);

/* A lone "|", "&&", ">" and their like: meant for a shell. */
bool doc_is_shell_operator(const char *arg);

/* The set of placeholders in text; *bad is the first brace that opens none of them, or NULL. */
unsigned doc_placeholders(const char *text, const char **bad);
