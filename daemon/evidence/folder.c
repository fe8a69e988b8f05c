#include "evidence/folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "evidence/copy.h"
#include "evidence/evidence.h"
#include "evidence/manifest.h"
#include "proto/evidence/signature.h"

static int put_signature(const char *dir, const struct key *key, const struct buf *sums,
                         struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(dir, MANIFEST_SIGNATURE);
    CLEANUP(buf_deinit) struct buf line = {0};
    signature_write(&line, key, sums->data, sums->len);
    return evidence_put_text(path, line.data, line.len, e);
}

int folder_put_sums(const char *dir, const struct key *key, char sums_sha256[DIGEST_HEX],
                    struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(dir, MANIFEST_NAME);
    CLEANUP(buf_deinit) struct buf sums = {0};
    int rc = manifest_of_dir(dir, &sums, e);
    if (rc)
        return rc;
    digest_bytes(sums.data, sums.len, sums_sha256);
    rc = evidence_put_text(path, sums.data, sums.len, e);
    FAULT_POINT("evidence.summed");
    return rc || !key ? rc : put_signature(dir, key, &sums, e);
}

/* ---- settling: files were fsynced when they were written; their names are in the folders */

struct settling {
    const char *dir;
    struct err *e;
};

static int settle_folder(const char *path, struct err *e)
{
    if (chmod(path, 0755) < 0)
        return err_sys(e, -errno, "chmod", path);
    return file_sync_dir(path, e);
}

static int settle_visit(void *ctx, const char *path, enum file_kind kind, mode_t mode,
                        int64_t bytes)
{
    const struct settling *s = ctx;
    CLEANUP(mem_freep) char *full = file_join(s->dir, path);
    return kind == FILE_FOLDER ? settle_folder(full, s->e) : 0;
}

static int settle(const char *dir, struct err *e)
{
    struct settling s = {dir, e};
    int rc = file_walk(dir, settle_visit, &s, e);
    return rc ? rc : settle_folder(dir, e);
}

/* ---- the whole */

static int appear(const char *partial, const char *final, const char *root, struct err *e)
{
    FAULT_POINT("evidence.rename");
    int rc = file_rename(partial, final, e);
    FAULT_POINT("evidence.renamed");
    if (rc)
        return rc;
    rc = file_sync_dir(root, e);
    FAULT_POINT("evidence.synced");
    if (rc)
        (void)rename(final, partial); /* whoever tries again finds the name free */
    return rc;
}

static int check_name(const char *name, const char *final, struct err *e)
{
    struct stat st;
    if (name[0] == '.' || strchr(name, '/') || !file_path_is_inside(name))
        return err_set(e, -EINVAL, "evidence.name", "name",
                       "%s cannot name an evidence folder; use the attempt's id.", name);
    if (lstat(final, &st) == 0)
        return err_set(e, -EEXIST, "evidence.exists", "name",
                       "%s exists already; evidence is never replaced, so move it away first.",
                       final);
    return errno == ENOENT ? 0 : err_sys(e, -errno, "stat", final);
}

int folder_make(const char *root, const char *name, folder_fill fill, void *ctx, struct err *e)
{
    CLEANUP(mem_freep) char *final = file_join(root, name);
    CLEANUP(mem_freep) char *partial = mem_printf("%s/" EVIDENCE_PARTIAL "%s", root, name);
    int rc = check_name(name, final, e);
    if (rc == 0)
        rc = file_rmtree(partial, e);
    if (rc)
        return rc;
    rc = file_mkdirs(partial, 0755, e);
    FAULT_POINT("evidence.partial");
    if (rc == 0)
        rc = fill(ctx, partial, e);
    FAULT_POINT("evidence.filled");
    if (rc == 0)
        rc = settle(partial, e);
    if (rc == 0)
        rc = appear(partial, final, root, e);
    if (rc)
        (void)file_rmtree(partial, NULL);
    return rc;
}
