#include "evidence/session.h"

#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "evidence/copy.h"
#include "evidence/folder.h"

struct seal {
    const struct evidence_session *in;
    char *sums_sha256;
};

static int put(const char *dir, const char *name, const char *text, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(dir, name);

    return text ? evidence_put_text(path, text, strlen(text), e) : 0;
}

/* A void attempt has no summary. */
static int copy_report(const char *dir, const struct evidence_session_report *r, struct err *e)
{
    static const char *const names[] = {"raw.json", "summary.json", "report.md"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(names); i++) {
        CLEANUP(mem_freep) char *from = file_join(r->folder, names[i]);
        CLEANUP(mem_freep) char *to = mem_printf("%s/reports/%s/%s", dir, r->attempt, names[i]);
        if (i == 0 || file_exists(from))
            rc = evidence_copy_file(from, to, e);
    }
    return rc;
}

static int fill(void *ctx, const char *dir, struct err *e)
{
    const struct seal *s = ctx;
    const struct evidence_session *in = s->in;
    int rc = put(dir, "session.json", in->session_json, e);

    if (rc == 0)
        rc = put(dir, "page.md", in->page, e);
    for (size_t i = 0; rc == 0 && i < in->n_reports; i++)
        rc = copy_report(dir, &in->reports[i], e);
    return rc ? rc : folder_put_sums(dir, in->key, s->sums_sha256, e);
}

int evidence_seal_session(const struct evidence_session *in, char sums_sha256[DIGEST_HEX],
                          struct err *e)
{
    struct seal s = {in, sums_sha256};

    return folder_make(in->root, in->id, fill, &s, e);
}
