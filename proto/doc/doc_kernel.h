/* Receipts of portable-kernel benchmarks: one table of fields says what a receipt has. Reader,
 * writer and the two schemas (proto/schema/kernel.json, kernel_harn.json) are made of it. */
#pragma once

#include "core/kernel/kernel.h"
#include "proto/json/json.h"

enum kernel_field_kind {
    KERNEL_F_SCHEMA,   /* const char *: the document's */
    KERNEL_F_TEXT,     /* const char *, not empty */
    KERNEL_F_DIGEST,   /* const char *, 64 lower-case hex digits */
    KERNEL_F_WORD,     /* an enum of int size */
    KERNEL_F_COUNT,    /* int64_t from 1 on */
    KERNEL_F_MS,       /* double from 0 on */
    KERNEL_F_POSITIVE, /* double above 0 */
    KERNEL_F_PART,     /* members of its own */
};

struct kernel_words {
    const char *(*name)(int value);
    int (*parse)(const char *text);
    const char *allowed; /* "native, browser" */
    int n;
};

struct kernel_part;
struct kernel_field {
    const char *key;
    enum kernel_field_kind kind;
    size_t offset;
    bool or_null; /* NULL, NaN; of a part: its first member, a count, is 0 */
    int64_t max;  /* of a count */
    const struct kernel_words *words;
    const struct kernel_part *part;
};
struct kernel_part {
    const struct kernel_field *fields;
    size_t n;
};

/* The whole receipt, of each schema. */
extern const struct kernel_part kernel_part_ours, kernel_part_harn;

/* Closed, and checked against itself (kernel_check). 0 or -EINVAL with e filled. */
int kernel_receipt_decode(struct arena *a, const char *data, size_t len,
                          struct kernel_receipt **out, struct err *e);
void kernel_receipt_encode(struct json_out *o, const char *key, const struct kernel_receipt *r);
/* The JSON Schema that the table is. */
void kernel_schema_encode(struct json_out *o, bool harn);
