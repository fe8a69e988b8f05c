/* The job, as it travels and as a user writes it. What is accepted is written and read again to the
 * same bytes. */
#include <string.h>

#include "core/calendar/civil.h"
#include "fuzz/fuzz.h"
#include "proto/doc/doc_common.h"
#include "proto/doc/doc_job.h"
#include "proto/doc/documents.h"

static char *encoded(const struct job *job)
{
    struct buf json = {0};
    struct json_out o;

    json_out_init(&o, &json);
    job_encode(&o, NULL, job);
    char *text = fuzz_canonical(&json);
    buf_deinit(&json);
    return text;
}

static void must_read_back(const struct job *job)
{
    CLEANUP(mem_freep) char *first = encoded(job);
    struct arena a = {0};
    struct job *again = NULL;
    struct err e = {0};
    cJSON *doc = NULL;

    MUST(json_parse(first, strlen(first), &doc, &e) == 0, "%s: %s", e.text, first);
    MUST(job_decode(&a, doc, &again, &e) == 0, "%s %s: %s", e.field, e.text, first);
    CLEANUP(mem_freep) char *second = encoded(again);
    MUST(strcmp(first, second) == 0, "%s%s", first, second);
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static bool has_side(const struct job *job, const char *side)
{
    for (size_t i = 0; i < job->n_sources; i++)
        if (strcmp(job->sources[i].side, side) == 0)
            return true;
    return false;
}

/* What holds in both forms. */
static void check_job(const struct job *job)
{
    MUST(job->n_sources <= JOB_SIDES_MAX && job->n_pairs <= JOB_PAIRS_MAX);
    MUST(job->repetitions >= 1 && job->warmups >= 0);
    MUST(job->priority >= -100 && job->priority <= 100);
    MUST(job->retry_every_ms >= -1 && job->retry_limit >= -1);
    MUST(job->not_before_ms >= 0 && job->deadline_ms >= 0);
    MUST(!job->window || (job->window->days && job->window->from_min < 1440));
    for (size_t i = 0; i < job->n_sources; i++)
        MUST(doc_is_name(job->sources[i].side), "%s", job->sources[i].side);
    for (size_t i = 0; i < job->n_pairs; i++)
        MUST(has_side(job, job->pairs[i].subject) && has_side(job, job->pairs[i].reference));
}

static void try_wire(const char *text, size_t len)
{
    struct arena a = {0};
    struct job *job = NULL;
    struct err e = {0};
    cJSON *doc = NULL;

    if (json_parse(text, len, &doc, NULL) == 0 &&
        fuzz_accepted(job_decode(&a, doc, &job, &e), &e)) {
        check_job(job);
        MUST(job->id && job->suite_sha256);
        must_read_back(job);
    }
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static void try_file(const char *text, size_t len)
{
    struct arena a = {0};
    struct job_file *file = NULL;
    struct err e = {0};

    if (fuzz_accepted(job_file_decode(&a, text, len, &file, &e), &e)) {
        check_job(&file->job);
        MUST(file->suite_path && !file->job.id && !file->job.suite_sha256);
    }
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_wire((const char *)data, size);
    try_file((const char *)data, size);
    return 0;
}
