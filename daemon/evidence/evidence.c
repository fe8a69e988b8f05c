#include "evidence/evidence.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "evidence/copy.h"
#include "evidence/manifest.h"
#include "proto/doc_evidence.h"
#include "proto/reproduce.h"
#include "proto/signature.h"

#define PARTIAL_PREFIX ".partial-"

struct seal {
    const struct evidence_input *in;
    const char *dir; /* the temporary folder */
    struct evidence_sealed sealed;
    struct err *e;
};

static int put(const struct seal *s, const char *name, const void *data, size_t len)
{
    CLEANUP(mem_freep) char *path = file_join(s->dir, name);
    return evidence_put_text(path, data, len, s->e);
}

/* ---- the files, one function each */

static int put_raw(struct seal *s)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    int rc = evidence_raw_text(s->in->raw, &text, s->e);
    if (rc)
        return rc;
    digest_bytes(text.data, text.len, s->sealed.raw_sha256);
    return put(s, "raw.json", text.data, text.len);
}

static int put_summary(struct seal *s)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    if (s->in->raw->void_code)
        return 0;
    int rc = evidence_summary_text(s->in->raw, s->in->summary, s->sealed.raw_sha256, &text, s->e);
    if (rc)
        return rc;
    digest_bytes(text.data, text.len, s->sealed.summary_sha256);
    return put(s, "summary.json", text.data, text.len);
}

static int put_report(struct seal *s)
{
    const char *text = s->in->report_markdown;
    return text ? put(s, "report.md", text, strlen(text)) : 0;
}

static int put_text_of(struct seal *s, const char *name,
                       int (*make)(const struct raw *raw, struct buf *out, struct err *e))
{
    CLEANUP(buf_deinit) struct buf text = {0};
    int rc = make(s->in->raw, &text, s->e);
    return rc ? rc : put(s, name, buf_str(&text), text.len);
}

static int put_job(struct seal *s)
{
    return put_text_of(s, "job.json", evidence_job_text);
}

static int put_policy(struct seal *s)
{
    return put_text_of(s, "policy.json", evidence_policy_text);
}

static int put_host(struct seal *s)
{
    return put_text_of(s, "host.json", evidence_host_text);
}

static int put_refusals(struct seal *s)
{
    return put_text_of(s, "refusals.jsonl", evidence_refusals_text);
}

static int put_reproduce(struct seal *s)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    if (!s->in->suite_dir)
        return 0;
    int rc = reproduce_script(s->in->raw, s->in->bundle != NULL, &text, s->e);
    return rc ? rc : put(s, "reproduce.sh", text.data, text.len);
}

static int put_suite(struct seal *s)
{
    CLEANUP(mem_freep) char *to = file_join(s->dir, "suite");
    return s->in->suite_dir ? evidence_copy_tree(s->in->suite_dir, to, s->e) : 0;
}

static int put_log(const struct seal *s, const struct evidence_log *log)
{
    CLEANUP(mem_freep) char *folder = file_join(s->dir, "logs");
    CLEANUP(mem_freep) char *to = file_join(folder, log->name);
    if (!file_path_is_inside(log->name))
        return err_set(s->e, -EINVAL, "evidence.name", log->name,
                       "A log is stored below logs/ only; %s would lie elsewhere.", log->name);
    return evidence_copy_file(log->path, to, s->e);
}

static int put_logs(struct seal *s)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->in->n_logs; i++)
        rc = put_log(s, &s->in->logs[i]);
    return rc;
}

static int put_correction(struct seal *s, const char *folder, const struct evidence_correction *c)
{
    CLEANUP(mem_freep) char *name = mem_printf("%s.diff", c->side);
    CLEANUP(mem_freep) char *to = file_join(folder, name);
    if (strchr(c->side, '/') || !file_path_is_inside(name))
        return err_set(s->e, -EINVAL, "evidence.name", c->side,
                       "A diff is stored below corrections/ only; %s would lie elsewhere.",
                       c->side);
    return evidence_put_text(to, c->diff, strlen(c->diff), s->e);
}

static int put_corrections(struct seal *s)
{
    CLEANUP(mem_freep) char *folder = file_join(s->dir, "corrections");
    int rc = s->in->n_corrections ? file_mkdirs(folder, 0755, s->e) : 0;
    for (size_t i = 0; rc == 0 && i < s->in->n_corrections; i++)
        rc = put_correction(s, folder, &s->in->corrections[i]);
    return rc;
}

static int put_initial_sums(struct seal *s)
{
    const char *text = s->in->initial_sums;
    return text ? put(s, MANIFEST_INITIAL, text, strlen(text)) : 0;
}

static int put_bundle(struct seal *s)
{
    CLEANUP(mem_freep) char *to = file_join(s->dir, "commits.bundle");
    return s->in->bundle ? evidence_copy_file(s->in->bundle, to, s->e) : 0;
}

static int put_signature(const struct seal *s, const struct buf *sums)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    signature_write(&line, s->in->key, sums->data, sums->len);
    return put(s, MANIFEST_SIGNATURE, line.data, line.len);
}

static int put_sums(struct seal *s)
{
    CLEANUP(buf_deinit) struct buf sums = {0};
    int rc = manifest_of_dir(s->dir, &sums, s->e);
    if (rc)
        return rc;
    digest_bytes(sums.data, sums.len, s->sealed.sums_sha256);
    rc = put(s, MANIFEST_NAME, sums.data, sums.len);
    return rc || !s->in->key ? rc : put_signature(s, &sums);
}

/* Files were fsynced when they were written; their names are in the folders. */
static int settle_folder(const char *path, struct err *e)
{
    if (chmod(path, 0755) < 0)
        return err_sys(e, -errno, "chmod", path);
    return file_sync_dir(path, e);
}

static int settle_visit(void *ctx, const char *path, enum file_kind kind, mode_t mode,
                        int64_t bytes)
{
    const struct seal *s = ctx;
    CLEANUP(mem_freep) char *full = file_join(s->dir, path);
    return kind == FILE_FOLDER ? settle_folder(full, s->e) : 0;
}

static int settle_folders(struct seal *s)
{
    int rc = file_walk(s->dir, settle_visit, s, s->e);
    return rc ? rc : settle_folder(s->dir, s->e);
}

/* ---- the folder */

static int (*const steps[])(struct seal *) = {
    put_raw,          put_summary,  put_report,    put_job,  put_policy,
    put_host,         put_refusals, put_suite,     put_logs, put_corrections,
    put_initial_sums, put_bundle,   put_reproduce, put_sums, settle_folders,
};

static int fill(struct seal *s)
{
    int rc = file_mkdirs(s->dir, 0755, s->e);
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(steps); i++)
        rc = steps[i](s);
    return rc;
}

static int appear(const char *partial, const char *final, const char *root, struct err *e)
{
    if (rename(partial, final) < 0)
        return err_sys(e, -errno, "rename", final);
    int rc = file_sync_dir(root, e);
    if (rc)
        (void)file_rmtree(final, NULL);
    return rc;
}

static int check_input(const struct evidence_input *in, const char *final, struct err *e)
{
    struct stat st;
    if (in->name[0] == '.' || strchr(in->name, '/') || !file_path_is_inside(in->name))
        return err_set(e, -EINVAL, "evidence.name", "name",
                       "%s cannot name an evidence folder; use the attempt's id.", in->name);
    if (!in->raw->void_code && !in->summary)
        return err_set(e, -EINVAL, "evidence.summary", "summary",
                       "An attempt that is not void needs its summary; summarise it first.");
    if (lstat(final, &st) == 0)
        return err_set(e, -EEXIST, "evidence.exists", "name",
                       "%s exists already; evidence is never replaced, so move it away first.",
                       final);
    return errno == ENOENT ? 0 : err_sys(e, -errno, "stat", final);
}

int evidence_seal(const struct evidence_input *in, struct evidence_sealed *out, struct err *e)
{
    CLEANUP(mem_freep) char *final = file_join(in->root, in->name);
    CLEANUP(mem_freep) char *partial = mem_printf("%s/" PARTIAL_PREFIX "%s", in->root, in->name);
    struct seal s = {.in = in, .dir = partial, .e = e};
    int rc = check_input(in, final, e);
    if (rc == 0)
        rc = file_rmtree(partial, e);
    if (rc)
        return rc;
    rc = fill(&s);
    if (rc == 0)
        rc = appear(partial, final, in->root, e);
    if (rc)
        (void)file_rmtree(partial, NULL);
    else if (out)
        *out = s.sealed;
    return rc;
}

int evidence_sweep(const char *root, struct err *e)
{
    DIR *d = opendir(root);
    const struct dirent *entry;
    int rc = 0;
    if (!d)
        return err_sys(e, -errno, "open", root);
    while (rc == 0 && (entry = readdir(d))) {
        CLEANUP(mem_freep) char *path = file_join(root, entry->d_name);
        if (strncmp(entry->d_name, PARTIAL_PREFIX, strlen(PARTIAL_PREFIX)) == 0)
            rc = file_rmtree(path, e);
    }
    (void)closedir(d);
    return rc;
}
