/* The text level of JSON, shared by the validator, the writer and the canonicaliser: what a valid
 * text is, how a string is written, how a written string is read. Internal to proto.
 *
 * Invariant: everything that json_check accepts is read correctly by cJSON and by json_unquote.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

/* Longest number text; cJSON reads numbers through a buffer of 64 bytes. */
#define JSON_NUMBER_MAX 63

/* The grammar with all limits but duplicate keys. 0, or -EINVAL with e filled ("json.bad", field
 * "offset N"). string_max bounds each string and key, in decoded bytes. */
int json_check(const char *data, size_t len, size_t string_max, struct err *e);

/* Length in bytes of the UTF-8 sequence at p, 0 if it is not one (overlong, surrogate, beyond
 * U+10FFFF, cut off). left is at least 1. */
size_t json_utf8_len(const unsigned char *p, size_t left);

/* Appends s as a JSON string in its one form: only quote, backslash and control characters are
 * escaped. Bytes that are not UTF-8 become U+FFFD. */
void json_quote(struct buf *b, const char *s, size_t len);

/* Appends the decoded bytes of the string token at p (its opening quote), which json_check has
 * accepted; returns the first byte behind its closing quote. */
const char *json_unquote(const char *p, struct buf *out);

/* Keys come from strangers and their names reach a terminal: control characters become '?'. */
void json_clean(char *s);
