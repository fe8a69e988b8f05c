/* The policy's decoder from inside: read over a policy that is already there. Internal to proto;
 * the document's own functions stand in documents.h. Strings live in in's arena. */
#pragma once

#include "core/policy.h"
#include "proto/json/json.h"

#define POLICY_SCHEMA "aurabench.policy.v1"

/* Reads doc over what p holds: members that are missing stay as they are. */
void policy_decode_over(struct json_in *in, const cJSON *doc, struct policy *p);

/* True for conditions whose rule carries a limit, whatever its mode. */
bool policy_rule_has_limit(enum condition c);
