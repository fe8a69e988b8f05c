/* The host's documents: who it is, which boot, how it is now, who competes, what the policy made of
 * it. The encoders that other answers use stand in documents.h; here are their readers, and the
 * whole of host.json ("aurabench.host.v1").
 *
 * Readers are closed and stick their first error to in. A fact or condition that a document does
 * not name is UNKNOWN, so that a report of an older version can still be judged, and never passes.
 */
#pragma once

#include "core/host.h"
#include "core/quiet/inventory.h"
#include "core/quiet/qualify.h"
#include "proto/json/json.h"

#define DOC_COMPETITORS_MAX 4096

void host_identity_decode(struct json_in *in, const cJSON *obj, struct host_identity *out);
void boot_identity_decode(struct json_in *in, const cJSON *obj, struct boot_identity *out);
void host_facts_decode(struct json_in *in, const cJSON *obj, struct host_facts *out);
void inventory_decode(struct json_in *in, const cJSON *obj, struct inventory *out);
/* Member key of obj, an array. */
void conditions_decode(struct json_in *in, const cJSON *obj, const char *key,
                       struct condition_result out[COND_COUNT]);
/* What stands for conditions that were never judged: all UNKNOWN. */
void conditions_unknown(struct condition_result out[COND_COUNT]);

/* The document host.json: identity, boot, and one phase (NULL: facts, conditions and inventory are
 * null). */
void host_encode(struct json_out *o, const char *key, const struct host_identity *host,
                 const struct boot_identity *boot, const struct phase_record *phase);
