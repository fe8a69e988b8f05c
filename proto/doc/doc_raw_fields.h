/* Flat records as tables: one row per member says its key, its type and its bounds, and both the
 * encoder and the closed decoder read that row, so that they cannot disagree.
 *
 * A record is a core struct whose members are strings, integers, numbers, booleans, enums and
 * argument lists. Nested parts are written by hand around it. Tables are constants.
 */
#pragma once

#include <stddef.h>

#include "proto/json/json.h"

enum doc_kind {
    DOC_STR,         /* const char *; null is refused */
    DOC_STR_OR_NULL, /* const char *; NULL and null */
    DOC_INT,         /* int */
    DOC_INT_OR_NULL, /* int; negative and null (read back as -1) */
    DOC_I64,         /* int64_t */
    DOC_I64_OR_NULL, /* int64_t; negative and null (read back as -1) */
    DOC_SIZE,        /* size_t */
    DOC_NUM,         /* double; NaN and null */
    DOC_BOOL,        /* bool */
    DOC_ENUM,        /* an enum of int size */
    DOC_ARGS         /* struct args */
};

struct doc_enum {
    const char *(*name)(int value);
    int (*parse)(const char *text);
};

struct doc_field {
    const char *key;
    enum doc_kind kind;
    size_t offset;
    int64_t max; /* largest value; longest string; most arguments */
    const struct doc_enum *words;
};

#define FIELD_NAME_MAX 256   /* names of workloads, lanes, sides, codes */
#define FIELD_TEXT_MAX 65536 /* paths, versions, sentences, records */
#define FIELD_ARGS_MAX 4096  /* arguments of one command */
#define DOC_FIELDS_MAX 48    /* members of one record */

#define DOC_FIELD(type, member, kind_, max_)                                                       \
    {                                                                                              \
        .key = #member, .kind = (kind_), .offset = offsetof(type, member), .max = (max_)           \
    }
#define DOC_FIELD_ENUM(type, member, words_)                                                       \
    {                                                                                              \
        .key = #member, .kind = DOC_ENUM, .offset = offsetof(type, member), .words = (words_)      \
    }

/* `static const struct doc_enum phase_words = ...` with an adapter of the right function type. */
#define DOC_WORDS(prefix, type)                                                                    \
    static const char *prefix##_text(int value)                                                    \
    {                                                                                              \
        return prefix##_name((type)value);                                                         \
    }                                                                                              \
    static const struct doc_enum prefix##_words = {prefix##_text, prefix##_parse}

/* One kind of record. */
struct doc_table {
    const struct doc_field *fields;
    size_t n;
    size_t size; /* of the struct */
};

/* `const struct doc_table x_table = DOC_TABLE(x_fields, struct x);` */
#define DOC_TABLE(fields_, type)                                                                   \
    {                                                                                              \
        .fields = (fields_), .n = sizeof(fields_) / sizeof((fields_)[0]), .size = sizeof(type)     \
    }

/* Writes the members of rec into the object that is open in o. */
void doc_fields_encode(struct json_out *o, const struct doc_table *t, const void *rec);

/* Reads the members into rec. Closes obj: no key but those of the table and of more (a
 * NULL-terminated list; NULL: none). Errors stick to in. */
void doc_fields_decode(struct json_in *in, const cJSON *obj, const struct doc_table *t,
                       const char *const *more, void *rec);

/* An array of n such records without other members; at most max on reading (the result lives in
 * in->a). */
void doc_records_encode(struct json_out *o, const char *key, const struct doc_table *t,
                        const void *records, size_t n);
void *doc_records_decode(struct json_in *in, const cJSON *obj, const char *key,
                         const struct doc_table *t, size_t max, size_t *n);
