/* Seeds whose form moves with the raw report's: samples TARGET FOLDER writes those of the target,
 * as this very version writes them, so that they never go out of date. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/doc/doc_evidence.h"
#include "unit/report/sample.h"

#define OBSERVATIONS 6 /* a few show the same as many */

static int put(const char *folder, const char *name, const struct buf *text)
{
    CLEANUP(mem_freep) char *path = file_join(folder, name);
    struct err e = {0};

    if (file_write(path, buf_str(text), text->len, 0644, &e) == 0)
        return 0;
    (void)fprintf(stderr, "%s\n", e.text);
    return 1;
}

static int put_report(const char *folder, const char *name, struct raw *raw, bool job)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err e = {0};

    raw->plan.n = raw->plan.n < OBSERVATIONS ? raw->plan.n : OBSERVATIONS;
    raw->n_observations = raw->plan.n;
    if ((job ? evidence_job_text : evidence_raw_text)(raw, &text, &e) < 0) {
        (void)fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    return put(folder, name, &text);
}

int main(int argc, char **argv)
{
    struct arena a = {0};
    int failed = argc != 3;

    if (!failed) {
        bool job = strcmp(argv[1], "job") == 0;
        failed = put_report(argv[2], "sample-compare", sample_raw(&a), job) ||
                 put_report(argv[2], "sample-run", sample_run(&a), job);
    }
    arena_deinit(&a);
    return failed;
}
