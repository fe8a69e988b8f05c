/* The files of an evidence folder against its SHA256SUMS: nothing missing, extra, changed, linked
 * or outside. */
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/verify/verify.h"
#include "client/verify/verify_corrections.h"
#include "client/verify/verify_profiles.h"
#include "client/verify/verify_session.h"

/* Faults that are named one by one; a folder that lost everything says it in a few lines. */
#define NAMED_MAX 20

struct look {
    struct verify *v;
    bool *seen; /* per entry of the sums */
    size_t faults, files;
};

static void fault(struct look *l, const char *path, const char *what)
{
    if (++l->faults <= NAMED_MAX)
        verify_say(l->v, "files", TRI_FAIL, "%s %s", path, what);
    else if (l->faults == NAMED_MAX + 1)
        verify_say(l->v, "files", TRI_FAIL, "and more");
}

static bool is_sums(const char *path)
{
    return strcmp(path, MANIFEST_NAME) == 0 || strcmp(path, MANIFEST_SIGNATURE) == 0;
}

/* What may lie in an evidence folder beside what the suite and the logs bring. */
static bool belongs(const struct verify *v, const char *path)
{
    static const char *const more[] = {"report.md", "report.html", "commits.bundle"};

    if (v->session)
        return verify_session_has(v->session, path);
    if (strncmp(path, "suite/", 6) == 0 || strncmp(path, "logs/", 5) == 0 ||
        verify_is_correction(v, path) || verify_is_tally(v, path))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(more); i++)
        if (strcmp(path, more[i]) == 0)
            return true;
    for (int f = 0; f < VERIFY_FILES; f++)
        if (strcmp(path, verify_file_name((enum verify_file)f)) == 0)
            return true;
    return false;
}

static void look_at_file(struct look *l, const char *path)
{
    const struct manifest_entry *entry = manifest_find(&l->v->sums, path);
    CLEANUP(mem_freep) char *full = file_join(l->v->dir, path);
    char hex[DIGEST_HEX];

    l->files++;
    if (!entry) {
        fault(l, path, "is not listed in SHA256SUMS");
        return;
    }
    l->seen[entry - l->v->sums.v] = true;
    if (digest_file(full, hex, NULL, NULL) < 0)
        fault(l, path, "cannot be read");
    else if (strcmp(hex, entry->sha256) != 0)
        fault(l, path, "was changed since the sums were written");
    else if (!belongs(l->v, path))
        fault(l, path, "is no part of an evidence folder");
}

static int look(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct look *l = ctx;

    (void)mode, (void)bytes;
    if (kind == FILE_LINK)
        fault(l, path, "is a link");
    else if (kind == FILE_OTHER)
        fault(l, path, "is neither a file nor a folder");
    else if (kind == FILE_REGULAR && !is_sums(path))
        look_at_file(l, path);
    return 0;
}

static void look_for_missing(struct look *l)
{
    const struct manifest *m = &l->v->sums;

    for (size_t i = 0; i < m->n; i++) {
        CLEANUP(mem_freep) char *full = file_join(l->v->dir, m->v[i].path);
        if (is_sums(m->v[i].path))
            fault(l, m->v[i].path, "may not be listed in SHA256SUMS");
        else if (!l->seen[i] && !file_exists(full))
            fault(l, m->v[i].path, "is missing");
    }
}

static void check_files(struct verify *v)
{
    struct look l = {.v = v, .seen = arena_array(&v->a, v->sums.n, sizeof *l.seen)};
    struct err e = {0};

    if (file_walk(v->dir, look, &l, &e) < 0)
        fault(&l, v->dir, "cannot be read");
    look_for_missing(&l);
    if (l.faults == 0)
        verify_say(v, "files", TRI_PASS, "%zu files, all listed and unchanged", l.files);
}

/* Each line that was written when timing ended holds today. */
static void check_initial(struct verify *v)
{
    const struct verify_text *text = &v->files[VERIFY_INITIAL];
    struct manifest initial;
    struct err e = {0};

    if (!text->data) {
        bool is_void = v->raw && v->raw->void_code;
        verify_say(v, "initial", is_void ? TRI_PASS : TRI_FAIL, "%s",
                   is_void ? "none: the attempt was void before timing ended"
                           : MANIFEST_INITIAL " is missing");
        return;
    }
    if (manifest_parse(&v->a, text->data, text->len, &initial, &e) < 0) {
        verify_say(v, "initial", TRI_FAIL, MANIFEST_INITIAL ": %s", e.text);
        return;
    }
    for (size_t i = 0; i < initial.n; i++) {
        const struct manifest_entry *now = manifest_find(&v->sums, initial.v[i].path);
        if (!now || strcmp(now->sha256, initial.v[i].sha256) != 0) {
            verify_say(v, "initial", TRI_FAIL, "%s is not what it was when timing ended",
                       initial.v[i].path);
            return;
        }
    }
    verify_say(v, "initial", TRI_PASS, "%zu files are what they were when timing ended", initial.n);
}

void verify_sums(struct verify *v)
{
    struct err e = {0};

    if (!v->sums_text.data) {
        verify_say(v, "sums", TRI_FAIL, "SHA256SUMS is missing or cannot be read");
        return;
    }
    if (manifest_parse(&v->a, v->sums_text.data, v->sums_text.len, &v->sums, &e) < 0) {
        verify_say(v, "sums", TRI_FAIL, "%s", e.text);
        return;
    }
    v->has_sums = true;
    verify_say(v, "sums", TRI_PASS, "SHA256SUMS lists %zu files, in order", v->sums.n);
    check_files(v);
    if (!v->session)
        check_initial(v);
}
