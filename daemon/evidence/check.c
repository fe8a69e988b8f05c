#include "evidence/check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "evidence/manifest.h"

#define SUMS_BYTES_MAX ((size_t)64 << 20)

static int changed(const char *dir, const char *what, const char *how, struct err *e)
{
    return err_set(e, -EBADMSG, "evidence.changed", what, "%s: %s %s", dir, what, how);
}

static int check_there(const char *dir, struct err *e)
{
    struct stat st;

    if (lstat(dir, &st) < 0 && errno != ENOENT)
        return err_sys(e, -errno, "stat", dir);
    if (lstat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return 0;
    return err_set(e, -ENOENT, "evidence.missing", "", "%s is not there", dir);
}

/* What SHA256SUMS says, and what there is, both sorted by path. */
struct both {
    struct arena arena;
    struct manifest said, found;
    char sums_sha256[DIGEST_HEX];
};

static void both_deinit(struct both *b)
{
    arena_deinit(&b->arena);
}

static int read_both(const char *dir, struct both *b, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(dir, MANIFEST_NAME);
    CLEANUP(buf_deinit) struct buf said = {0}, found = {0};
    struct err why = {0};

    if (!file_exists(path))
        return changed(dir, MANIFEST_NAME, "is missing", e);
    int rc = file_read(path, SUMS_BYTES_MAX, &said, &why);
    if (rc == 0)
        rc = manifest_parse(&b->arena, buf_str(&said), said.len, &b->said, &why);
    if (rc == 0)
        rc = manifest_of_dir(dir, &found, &why);
    if (rc == 0)
        rc = manifest_parse(&b->arena, buf_str(&found), found.len, &b->found, &why);
    digest_bytes(buf_str(&said), said.len, b->sums_sha256);
    return rc ? err_set(e, rc, why.code, why.field, "%s: %.400s", dir, why.text) : 0;
}

static int compare(const char *dir, const struct both *b, struct err *e)
{
    size_t i = 0, k = 0;

    while (i < b->said.n || k < b->found.n) {
        const struct manifest_entry *said = i < b->said.n ? &b->said.v[i] : NULL;
        const struct manifest_entry *found = k < b->found.n ? &b->found.v[k] : NULL;
        int order = !said ? 1 : !found ? -1 : strcmp(said->path, found->path);
        if (order < 0)
            return changed(dir, said->path, "is missing", e);
        if (order > 0)
            return changed(dir, found->path, "was added after it was sealed", e);
        if (strcmp(said->sha256, found->sha256) != 0)
            return changed(dir, said->path, "was changed after it was sealed", e);
        i++;
        k++;
    }
    return 0;
}

static int is_the_one(const char *dir, const struct both *b, const char *name, const char *sha256,
                      struct err *e)
{
    const struct manifest_entry *entry = sha256 ? manifest_find(&b->said, name) : NULL;

    if (!sha256 || (entry && strcmp(entry->sha256, sha256) == 0))
        return 0;
    return changed(dir, name, "is not the one that the database names", e);
}

int evidence_check(const char *dir, const struct evidence_expected *expected, struct err *e)
{
    CLEANUP(both_deinit) struct both b = {0};
    int rc = check_there(dir, e);

    if (rc == 0)
        rc = read_both(dir, &b, e);
    if (rc == 0)
        rc = compare(dir, &b, e);
    if (rc == 0)
        rc = is_the_one(dir, &b, "raw.json", expected->raw_sha256, e);
    if (rc == 0)
        rc = is_the_one(dir, &b, "summary.json", expected->summary_sha256, e);
    if (rc == 0 && expected->sums_sha256 && strcmp(b.sums_sha256, expected->sums_sha256) != 0)
        rc = changed(dir, MANIFEST_NAME, "is not the one that the database names", e);
    return rc;
}
