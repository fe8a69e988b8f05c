/* The disturbance ledger of one observation as the members `ledger` and `disturbed`: null where
 * nothing was recorded or judged. */
#pragma once

#include "core/raw.h"
#include "proto/doc/doc_raw_fields.h"

extern const struct doc_table raw_ledger_table;

void ledger_encode(struct json_out *o, const struct raw_observation *observation);
/* Reads both members of obj; errors stick to in. */
void ledger_decode(struct json_in *in, const cJSON *obj, struct raw_observation *out);

/* Where the counters come from, as the member key: null where there are none. */
extern const struct doc_table raw_observer_table;
void ledger_sources_encode(struct json_out *o, const char *key, const struct ledger_sources *s);
void ledger_sources_decode(struct json_in *in, const cJSON *doc, const char *key,
                           struct ledger_sources *out);
