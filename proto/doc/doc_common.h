/* What the decoders of suite, job and policy share: names, labels, durations, lists of programs.
 * Every getter sticks its first error to in, as those of json.h do. */
#pragma once

#include "core/stats/interval.h"
#include "proto/json/json.h"

#define DOC_NAME_MAX 64
#define DOC_LABEL_MAX 200
#define DOC_PROGRAMS_MAX 256

/* Parses a text and lets take() fill out; what is there after an error is of no use. */
int doc_decode(struct arena *a, const char *data, size_t len,
               void (*take)(struct json_in *in, const cJSON *doc, void *out), void *out,
               struct err *e);

/* 1 to 64 of a-z, 0-9, '_' and '-': names stand in paths, tables and commands. */
bool doc_is_name(const char *s);
/* Fails at key unless name is one; code is the document's ("suite.bad"). */
void doc_check_name(struct json_in *in, const char *key, const char *name, const char *code);
/* Of a suite: each of the member's names is one, and stands there once. what: "counter". */
void doc_check_names(struct json_in *in, const char *key, const char *what,
                     const struct args *names);
/* The member as such a name. */
const char *doc_name(struct json_in *in, const cJSON *obj, const char *key, const char *code);

/* Fails unless member "schema" is this one. */
void doc_schema(struct json_in *in, const cJSON *obj, const char *schema);

/* Text for people on one line: no control characters; missing: fallback. */
const char *doc_opt_line(struct json_in *in, const cJSON *obj, const char *key, size_t max_len,
                         const char *fallback);

/* A duration text ("10m") in ms; missing: fallback. */
int64_t doc_opt_duration(struct json_in *in, const cJSON *obj, const char *key, int64_t min_ms,
                         int64_t max_ms, int64_t fallback);
/* Member "interval"; null where it is not defined. with_ranks: of the ordered values too. */
void doc_put_interval(struct json_out *o, const struct interval *v, bool with_ranks);
void doc_put_duration(struct json_out *o, const char *key, int64_t ms);

/* Names of programs, without a path. */
struct args doc_opt_programs(struct json_in *in, const cJSON *obj, const char *key,
                             const char *code);
