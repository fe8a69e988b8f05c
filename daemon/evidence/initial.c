/* initial-SHA256SUMS: a part of evidence.h. */
#include "evidence/evidence.h"

#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "evidence/manifest.h"
#include "proto/doc/doc_evidence.h"

static int add_text(struct buf *out, const char *name, const struct buf *text, struct err *e)
{
    char hex[DIGEST_HEX];
    digest_bytes(text->data, text->len, hex);
    return manifest_line(out, name, hex, e);
}

static int add_job(const struct raw *raw, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    int rc = evidence_job_text(raw, &text, e);
    return rc ? rc : add_text(out, "job.json", &text, e);
}

static int add_policy(const struct raw *raw, struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    int rc = evidence_policy_text(raw, &text, e);
    return rc ? rc : add_text(out, "policy.json", &text, e);
}

static int by_name(const void *a, const void *b)
{
    const struct evidence_log *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int add_logs(const struct evidence_input *in, struct buf *out, struct err *e)
{
    CLEANUP(mem_freep) struct evidence_log *logs = mem_alloc((in->n_logs + 1) * sizeof *logs);
    char hex[DIGEST_HEX];
    if (in->n_logs) {
        memcpy(logs, in->logs, in->n_logs * sizeof *logs);
        qsort(logs, in->n_logs, sizeof *logs, by_name);
    }
    for (size_t i = 0; i < in->n_logs; i++) {
        CLEANUP(mem_freep) char *name = file_join("logs", logs[i].name);
        int rc = digest_file(logs[i].path, hex, NULL, e);
        if (rc == 0)
            rc = manifest_line(out, name, hex, e);
        if (rc)
            return rc;
    }
    return 0;
}

/* The parts in the order of their names, so that the whole is sorted. */
int evidence_initial_sums(const struct evidence_input *in, struct buf *out, struct err *e)
{
    int rc = add_job(in->raw, out, e);
    if (rc == 0)
        rc = add_logs(in, out, e);
    if (rc == 0)
        rc = add_policy(in->raw, out, e);
    if (rc == 0 && in->tally_dir)
        rc = manifest_of_part(in->tally_dir, ATTRIBUTION_TALLIES, out, e);
    if (rc == 0 && in->suite_dir)
        rc = manifest_of_part(in->suite_dir, "suite", out, e);
    return rc;
}
