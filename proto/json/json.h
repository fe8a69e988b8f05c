/* JSON, strictly: a validator in front of cJSON, a typed reader with a sticky first error and its
 * path, a writer that writes numbers as their own text, and the canonical form.
 *
 * json_parse accepts exactly RFC 8259 with these limits: UTF-8 without surrogates, no BOM, no
 * \u0000, no raw control characters, no duplicate keys, depth 32, strings up to 64 KiB unless a
 * document says otherwise, integers within +-(2^53 - 1), nothing after the value. cJSON alone
 * accepts too much.
 */
#pragma once

#include <cjson/cJSON.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/types.h"

#define JSON_DEPTH_MAX 32
#define JSON_INT_MAX 9007199254740991LL
#define JSON_STRING_MAX 65536

/* Parses len bytes. 0, or -EINVAL with e filled: code "json.bad" with field "offset N", or
 * "json.duplicate_key" with the key's path. *out is freed with cJSON_Delete, and NULL on failure.
 */
int json_parse(const char *data, size_t len, cJSON **out, struct err *e);
/* The same with another bound for each string, in decoded bytes (JSON_STRING_MAX otherwise): for
 * chunks on the wire. A getter's max_len bounds its own string beside that. */
int json_parse_max(const char *data, size_t len, size_t string_max, cJSON **out, struct err *e);

/* Sorted keys (by bytes), no insignificant white space but one trailing newline, strings in one
 * form; numbers keep their text. Appends to out; -EINVAL with e filled, and out as it was, when
 * data is not what json_parse accepts (strings may have any length). */
int json_canonical(const char *data, size_t len, struct buf *out, struct err *e);

/* ---- reading: one json_in for a document; after the first error every getter returns its default
 * and changes nothing, so that a decoder reads straight down and checks once at the end. */
struct json_in {
    struct arena *a; /* strings returned by getters live here */
    struct err *e;
    int rc; /* 0 or -EINVAL after the first error (code "json.type", "json.missing", ...) */
    char path[128];
};

void json_in_init(struct json_in *in, struct arena *a, struct err *e);
/* Fails the reading at key of the current path with a sentence. */
int json_fail(struct json_in *in, const char *key, const char *code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* obj must be an object whose keys are all in the NULL-terminated list. */
void json_closed(struct json_in *in, const cJSON *obj, const char *const *keys);

/* Members. A getter with "opt" in its name returns the default when the member is missing (null is
 * as missing for strings, numbers and objects); the others fail the reading. Look-ups mind the
 * case. */
const char *json_str(struct json_in *in, const cJSON *obj, const char *key, size_t max_len);
const char *json_opt_str(struct json_in *in, const cJSON *obj, const char *key, size_t max_len,
                         const char *fallback); /* null is as missing */
/* A whole number, or what json_put_int writes beyond 2^53 - 1: its decimal digits as a string. */
int64_t json_int(struct json_in *in, const cJSON *obj, const char *key, int64_t min, int64_t max);
int64_t json_opt_int(struct json_in *in, const cJSON *obj, const char *key, int64_t min,
                     int64_t max, int64_t fallback); /* null is as missing */
double json_num(struct json_in *in, const cJSON *obj, const char *key, double min, double max);
double json_opt_num(struct json_in *in, const cJSON *obj, const char *key, double min, double max,
                    double fallback); /* null is as missing */
bool json_bool(struct json_in *in, const cJSON *obj, const char *key);
bool json_opt_bool(struct json_in *in, const cJSON *obj, const char *key, bool fallback);
/* One of an enum's spellings, by its _parse function; 0 after an error. */
int json_enum(struct json_in *in, const cJSON *obj, const char *key, int (*parse)(const char *));
/* The same with a sentence that lists what is allowed ("protocol, process"). */
int json_enum_of(struct json_in *in, const cJSON *obj, const char *key, int (*parse)(const char *),
                 const char *allowed);
int json_opt_enum_of(struct json_in *in, const cJSON *obj, const char *key,
                     int (*parse)(const char *), const char *allowed, int fallback);
const cJSON *json_obj(struct json_in *in, const cJSON *obj, const char *key);
const cJSON *json_opt_obj(struct json_in *in, const cJSON *obj,
                          const char *key); /* null is as missing */
/* An array with at most max items; *n its length. */
const cJSON *json_arr(struct json_in *in, const cJSON *obj, const char *key, size_t max, size_t *n);
const cJSON *json_opt_arr(struct json_in *in, const cJSON *obj, const char *key, size_t max,
                          size_t *n);
/* An array of strings as an argument list; empty when missing; v is never NULL. */
struct args json_opt_args(struct json_in *in, const cJSON *obj, const char *key, size_t max);

/* The same of an array in hand (one step of a list of commands), at the current path. */
struct args json_take_args(struct json_in *in, const cJSON *arr);

/* Descends for the messages' path: json_enter(in, "lanes"), json_enter_index(in, 2), json_leave. */
size_t json_enter(struct json_in *in, const char *key); /* returns a mark for json_leave */
size_t json_enter_index(struct json_in *in, size_t index);
void json_leave(struct json_in *in, size_t mark);

/* ---- writing into a buf, compact; key is NULL inside arrays and at the top. */
struct json_out {
    struct buf *b;
    bool comma;
};

void json_out_init(struct json_out *o, struct buf *b);
void json_begin(struct json_out *o, const char *key); /* { */
void json_end(struct json_out *o);
void json_begin_array(struct json_out *o, const char *key);
void json_end_array(struct json_out *o);
/* NULL writes null; bytes that are not UTF-8 (a process's arguments) are written as U+FFFD. */
void json_put_str(struct json_out *o, const char *key, const char *s);
void json_put_int(struct json_out *o, const char *key, int64_t v); /* beyond 2^53-1: a string */
void json_put_int_or_null(struct json_out *o, const char *key, int64_t v); /* negative: null */
/* The shortest text that reads back as the same double; NaN and infinities write null. */
void json_put_num(struct json_out *o, const char *key, double v);
void json_put_bool(struct json_out *o, const char *key, bool v);
void json_put_null(struct json_out *o, const char *key);
void json_put_args(struct json_out *o, const char *key, const struct args *args);
/* Already valid JSON text, put in as it is. */
void json_put_raw(struct json_out *o, const char *key, const char *text);
