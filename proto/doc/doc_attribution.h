/* Rules of attribution as a document: member "profile" of a workload in suite.json and raw.json,
 * and a file of their own, schema "aurabench.attribution.v1", for `aurabench attribute`. */
#pragma once

#include "proto/json/json.h"

#include "core/summary/attribution.h"

/* At the current path of in; what is wrong has code "profile.categories". */
const struct attribution *doc_attribution(struct json_in *in, const cJSON *obj);
/* A document of its own, of len bytes. Strings live in a. */
int attribution_decode(struct arena *a, const char *data, size_t len,
                       const struct attribution **out, struct err *e);
void doc_attribution_encode(struct json_out *o, const char *key, const struct attribution *rules);
