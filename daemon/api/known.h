/* What submits name again and again, decoded once (known.c). Results live as long as the api; a
 * suite until the next one is asked for. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "proto/doc/documents.h"

struct api_known;

struct api_known *api_known_new(void);
void api_known_free(struct api_known *k); /* NULL is fine */

/* The text of a shipped policy. -ENOENT "policy.not_found". */
int api_known_policy(struct api_known *k, const char *name, const char **text, struct err *e);
/* The text of any policy, in a. */
const char *api_policy_text(struct arena *a, const struct policy *policy);
/* The suite whose folder dir is. -errno with e filled. */
int api_known_suite(struct api_known *k, const char *sha256, const char *dir,
                    const struct suite **out, struct err *e);
