/* Sessions, as they travel and as a user writes them with their jobs. */
#include <string.h>

#include "base/ids.h"
#include "fuzz/fuzz.h"
#include "proto/doc/doc_session.h"

static char *encoded(const struct session *s)
{
    struct buf json = {0};
    struct json_out o;

    json_out_init(&o, &json);
    session_encode(&o, NULL, s);
    char *text = fuzz_canonical(&json);
    buf_deinit(&json);
    return text;
}

static void must_read_back(const struct session *s)
{
    CLEANUP(mem_freep) char *first = encoded(s);
    struct arena a = {0};
    struct session *again = NULL;
    struct err e = {0};
    cJSON *doc = NULL;

    MUST(json_parse(first, strlen(first), &doc, &e) == 0, "%s: %s", e.text, first);
    MUST(session_decode(&a, doc, &again, &e) == 0, "%s %s: %s", e.field, e.text, first);
    CLEANUP(mem_freep) char *second = encoded(again);
    MUST(strcmp(first, second) == 0, "%s%s", first, second);
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static void check_session(const struct session *s)
{
    MUST(s->label && s->label[0] && s->settle_ms >= 0 && s->deadline_ms >= 0);
    MUST(s->retry_every_ms >= -1 && s->retry_limit >= -1);
    fuzz_must_be_text(s->label);
}

static void try_wire(const char *text, size_t len)
{
    struct arena a = {0};
    struct session *s = NULL;
    struct err e = {0};
    cJSON *doc = NULL;

    if (json_parse(text, len, &doc, NULL) == 0 &&
        fuzz_accepted(session_decode(&a, doc, &s, &e), &e)) {
        check_session(s);
        MUST(ulid_valid(s->id), "%s", s->id);
        must_read_back(s);
    }
    cJSON_Delete(doc);
    arena_deinit(&a);
}

static void try_file(const char *text, size_t len)
{
    struct arena a = {0};
    struct session_file *file = NULL;
    struct err e = {0};

    if (fuzz_accepted(session_file_decode(&a, text, len, &file, &e), &e)) {
        check_session(&file->session);
        MUST(file->n_jobs <= SESSION_JOBS_MAX && !file->session.id);
        for (size_t i = 0; i < file->n_jobs; i++)
            MUST(!file->jobs[i].file != !file->jobs[i].path, "job %zu", i);
    }
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_wire((const char *)data, size);
    try_file((const char *)data, size);
    return 0;
}
