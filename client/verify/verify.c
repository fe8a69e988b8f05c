#include "client/verify/verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/verify/verify_session.h"
#include "proto/doc/documents.h"

#define DOCUMENT_BYTES_MAX ((size_t)1 << 30)

static const char *const names[VERIFY_FILES] = {
    [VERIFY_RAW] = "raw.json",           [VERIFY_SUMMARY] = "summary.json",
    [VERIFY_JOB] = "job.json",           [VERIFY_POLICY] = "policy.json",
    [VERIFY_HOST] = "host.json",         [VERIFY_REFUSALS] = "refusals.jsonl",
    [VERIFY_REPRODUCE] = "reproduce.sh", [VERIFY_INITIAL] = MANIFEST_INITIAL,
    [VERIFY_SUITE] = "suite/suite.json",
};

const char *verify_file_name(enum verify_file f)
{
    return names[f];
}

void verify_init(struct verify *v, const char *dir)
{
    *v = (struct verify){.dir = dir};
}

void verify_deinit(struct verify *v)
{
    free(v->lines);
    arena_deinit(&v->a);
}

void verify_say(struct verify *v, const char *check, enum tri status, const char *fmt, ...)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    MEM_GROW(v->lines, v->n_lines, v->cap_lines);
    v->lines[v->n_lines++] =
        (struct verify_line){check, status, arena_strdup(&v->a, buf_str(&text))};
}

bool verify_failed(const struct verify *v)
{
    for (size_t i = 0; i < v->n_lines; i++)
        if (v->lines[i].status == TRI_FAIL)
            return true;
    return false;
}

/* Only a regular file is read: anything else in its place is named by the check of the files. */
static void load(struct verify *v, const char *name, struct verify_text *out)
{
    CLEANUP(mem_freep) char *path = file_join(v->dir, name);
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err e = {0};
    struct stat st;

    if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (file_read(path, DOCUMENT_BYTES_MAX, &text, &e) < 0) {
        verify_say(v, "files", TRI_FAIL, "%s", e.text);
        return;
    }
    char *copy = arena_alloc(&v->a, text.len + 1);
    memcpy(copy, buf_str(&text), text.len);
    *out = (struct verify_text){copy, text.len};
}

void verify_decode(struct verify *v)
{
    const struct verify_text *t = &v->files[VERIFY_RAW];
    struct raw *raw = NULL;

    err_clear(&v->raw_err);
    if (!t->data)
        (void)err_set(&v->raw_err, -ENOENT, "raw.schema", NULL,
                      "raw.json is missing, so nothing can be recomputed");
    else
        (void)raw_decode(&v->a, t->data, t->len, &raw, &v->raw_err);
    v->raw = raw;
    v->names_key = raw != NULL;
    v->host_key = raw ? raw->host_key : NULL;
}

/* A folder with both is an attempt's, in which session.json is too much. */
static void load_session(struct verify *v)
{
    struct verify_text text = {0};

    if (!v->files[VERIFY_RAW].data)
        load(v, VERIFY_SESSION, &text);
    if (text.data)
        v->session = verify_session_read(&v->a, &text);
}

int verify_load(struct verify *v, struct err *e)
{
    struct stat st;

    if (stat(v->dir, &st) < 0)
        return err_sys(e, -errno, "open", v->dir);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, -ENOTDIR, "usage", v->dir,
                       "%s is no folder; name the folder that holds SHA256SUMS and raw.json or "
                       "session.json",
                       v->dir);
    load(v, MANIFEST_NAME, &v->sums_text);
    for (int f = 0; f < VERIFY_FILES; f++)
        load(v, names[f], &v->files[f]);
    verify_decode(v);
    load_session(v);
    return 0;
}
