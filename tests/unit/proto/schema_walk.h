/* Walks a document against its schema: every member that the document has must be in the schema,
 * every member that the schema requires must be in the document, and types and words must fit. The
 * walk remembers which members it saw, so that a schema that says more than the product writes is
 * found too. Knows the keywords that the schemas of reports use, and fails on others. */
#pragma once

#include <cjson/cJSON.h>
#include <stddef.h>

struct schema_walk {
    cJSON *schemas[3]; /* raw, summary, host */
    const cJSON **seen;
    size_t n_seen, cap_seen;
};

void schema_walk_init(struct schema_walk *w);
void schema_walk_deinit(struct schema_walk *w);
/* name: "raw", "summary" or "host"; json: the document's text. Fails the test on a difference. */
void schema_walk_check(struct schema_walk *w, const char *name, const char *json);
/* Fails the test if some member of the schema was in no document so far. */
void schema_walk_expect_all_seen(const struct schema_walk *w);
