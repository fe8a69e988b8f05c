/* --policy NAME|FILE: a shipped policy by name, or a policy document of the user. */
#pragma once

#include "client/cli.h"

struct policy_arg {
    const char *name;      /* of the policy */
    const char *canonical; /* the document as JSON text; NULL for a shipped one */
};

/* A value with a slash or that ends in ".json" is a file; NULL is "standard". Strings live in
 * cli->a. -errno with e filled ("policy.*", "json.*", "system.*"). */
int policy_arg_read(struct cli *cli, const char *value, struct policy_arg *out, struct err *e);

/* Puts the member: the name as a string, the document as an object, nothing when value is NULL. */
int policy_arg_put(struct cli *cli, const char *value, struct json_out *o, const char *key,
                   struct err *e);
