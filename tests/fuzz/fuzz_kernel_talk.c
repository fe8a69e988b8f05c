/* What a kernel driver says, and receipts: a talk of any lines ends in a sentence or in a receipt
 * that agrees with itself; what is read as a receipt is written as one that says the same. */
#include <string.h>

#include "core/kernel/kernel_run.h"
#include "fuzz/fuzz.h"
#include "proto/doc/doc_kernel.h"
#include "proto/wire/kernel_wire.h"

static void must_be_read_again(const struct kernel_receipt *r)
{
    struct buf text = {0}, again = {0};
    struct arena a = {0};
    struct kernel_receipt *copy = NULL;
    struct json_out o;
    struct err e = {0};

    json_out_init(&o, &text);
    kernel_receipt_encode(&o, NULL, r);
    MUST(kernel_receipt_decode(&a, text.data, text.len, &copy, &e) == 0, "%s: %s", e.text,
         text.data);
    json_out_init(&o, &again);
    kernel_receipt_encode(&o, NULL, copy);
    MUST(text.len == again.len && memcmp(text.data, again.data, text.len) == 0);
    MUST(!kernel_unlike(&a, r, "m", copy, "m"));
    buf_deinit(&text);
    buf_deinit(&again);
    arena_deinit(&a);
    fuzz_count_good();
}

static void receipt(const char *text, size_t len)
{
    struct arena a = {0};
    struct kernel_receipt *r = NULL;
    struct err e = {0};

    if (fuzz_accepted(kernel_receipt_decode(&a, text, len, &r, &e), &e))
        must_be_read_again(r);
    arena_deinit(&a);
}

/* The caller's part of a receipt, and what the fuzzed driver said. */
static void finish(struct kernel_run *run, struct arena *a)
{
    static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct kernel_receipt r;

    kernel_run_receipt(run, &r);
    r.schema = KERNEL_SCHEMA;
    r.source = r.entry = "x";
    r.provenance.version = "1";
    r.provenance.source_digest = r.provenance.input_digest = digest;
    if (!kernel_check(a, &r))
        must_be_read_again(&r);
}

static void talk(struct fuzz_in *in)
{
    struct kernel_plan plan = {1 + (int64_t)fuzz_below(in, 4), 1 + (int64_t)fuzz_below(in, 6), 1};
    struct arena a = {0};
    struct kernel_run run;

    plan.workers = 1 + (int64_t)fuzz_below(in, (size_t)plan.dispatches);
    kernel_run_init(&run, &a, &plan);
    while (in->left && run.phase != KERNEL_OVER) {
        struct kernel_message m;
        struct err e = {0};
        char *line = fuzz_line(in);
        int rc = kernel_message_decode(&a, line, strlen(line), &m, &e);
        if (rc == 0)
            rc = kernel_run_take(&run, &m, INT64_C(1000000000), &e);
        free(line);
        if (!fuzz_accepted(rc, &e))
            break;
    }
    if (run.phase == KERNEL_OVER)
        finish(&run, &a);
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};

    if (fuzz_byte(&in) & 1)
        receipt((const char *)in.at, in.left);
    else
        talk(&in);
    return 0;
}
