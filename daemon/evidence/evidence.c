#include "evidence/evidence.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "core/summary/observations.h"
#include "evidence/copy.h"
#include "evidence/folder.h"
#include "evidence/manifest.h"
#include "proto/doc/doc_evidence.h"
#include "proto/evidence/reproduce.h"

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

/* Only what its observation named: another file would stand in evidence that can never verify. */
static int put_tally(const struct seal *s, const struct raw_output *tally)
{
    CLEANUP(mem_freep)
    char *from = file_join(s->in->tally_dir, tally->name + strlen(ATTRIBUTION_TALLIES "/"));
    CLEANUP(mem_freep) char *to = file_join(s->dir, tally->name);
    char hex[DIGEST_HEX];
    int rc = evidence_copy_file(from, to, s->e);

    if (rc == 0)
        rc = digest_file(to, hex, NULL, s->e);
    if (rc == 0 && strcmp(hex, tally->sha256) != 0)
        rc = err_set(s->e, -EBADMSG, "evidence.tally", tally->name,
                     "%s is not what was counted; find what wrote to it and submit the job again.",
                     from);
    return rc;
}

static int put_tallies(struct seal *s)
{
    const struct raw *raw = s->in->raw;
    char name[ATTRIBUTION_TALLY_MAX];
    int rc = 0;

    for (size_t i = 0; s->in->tally_dir && rc == 0 && i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        attribution_tally_name(o->seq, name);
        if (observation_profile(raw, o) && o->n_outputs > 0 &&
            strcmp(o->outputs[0].name, name) == 0)
            rc = put_tally(s, &o->outputs[0]);
    }
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

static int put_sums(struct seal *s)
{
    return folder_put_sums(s->dir, s->in->key, s->sealed.sums_sha256, s->e);
}

/* ---- the folder */

static int (*const steps[])(struct seal *) = {
    put_raw,         put_summary,      put_report, put_job,       put_policy,
    put_host,        put_refusals,     put_suite,  put_logs,      put_tallies,
    put_corrections, put_initial_sums, put_bundle, put_reproduce, put_sums,
};

static int fill(struct seal *s)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(steps); i++) {
        FAULT_POINT("evidence.file");
        rc = steps[i](s);
    }
    return rc;
}

static int check_input(const struct evidence_input *in, struct err *e)
{
    if (!in->raw->void_code && !in->summary)
        return err_set(e, -EINVAL, "evidence.summary", "summary",
                       "An attempt that is not void needs its summary; summarise it first.");
    return 0;
}

static int fill_folder(void *ctx, const char *dir, struct err *e)
{
    struct seal *s = ctx;
    s->dir = dir;
    s->e = e;
    return fill(s);
}

int evidence_seal(const struct evidence_input *in, struct evidence_sealed *out, struct err *e)
{
    struct seal s = {.in = in};
    int rc = check_input(in, e);
    if (rc == 0)
        rc = folder_make(in->root, in->name, fill_folder, &s, e);
    if (rc == 0 && out)
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
        if (strncmp(entry->d_name, EVIDENCE_PARTIAL, strlen(EVIDENCE_PARTIAL)) == 0)
            rc = file_rmtree(path, e);
    }
    (void)closedir(d);
    return rc;
}
