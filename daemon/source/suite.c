/* Suites: kept under the SHA-256 of their pack, copied for each attempt, hashed again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/evidence/pack.h"
#include "source/internal.h"

static char *suite_path(const struct source_store *s, const char *sha256)
{
    return file_join(s->suites, sha256);
}

bool source_has_suite(struct source_store *s, const char *sha256)
{
    CLEANUP(mem_freep) char *path = digest_valid(sha256) ? suite_path(s, sha256) : NULL;

    return path && file_exists(path);
}

const char *source_suite_path(struct source_store *s, struct arena *a, const char *sha256)
{
    return source_has_suite(s, sha256) ? arena_printf(a, "%s/%s", s->suites, sha256) : NULL;
}

static int check_here(struct source_store *s, const char *sha256, struct err *e)
{
    if (source_has_suite(s, sha256))
        return 0;
    return err_set(e, -ENOENT, "source.suite_not_here", "suite_sha256",
                   "suite %.64s is not in the daemon's store; submit the job again", sha256);
}

/* ---- writing the files of a pack */

struct unpacking {
    const char *dir;
    bool keep; /* read-only and synced */
    struct err *e;
};

static int write_plain(const char *path, const struct pack_entry *file, struct err *e)
{
    CLEANUP(mem_closep) int fd = disk_create(path, O_EXCL, file->executable ? 0755 : 0644);

    if (fd < 0)
        return disk_err(e, fd, "create", path);
    int rc = disk_write(fd, file->data, file->len);
    return rc < 0 ? disk_err(e, rc, "write", path) : 0;
}

static int unpack_file(void *ctx, const struct pack_entry *file)
{
    struct unpacking *u = ctx;
    CLEANUP(mem_freep) char *path = file_join(u->dir, file->path);
    CLEANUP(mem_freep) char *folder = mem_printf("%.*s", (int)(strrchr(path, '/') - path), path);
    int rc = file_mkdirs(folder, 0755, u->e);

    if (rc < 0)
        return rc;
    if (!u->keep)
        return write_plain(path, file, u->e);
    return file_write(path, file->data, file->len, file->executable ? 0555 : 0444, u->e);
}

struct sealing {
    const char *dir;
    struct err *e;
};

static int seal_folder(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct sealing *s = ctx;
    CLEANUP(mem_freep) char *full = file_join(s->dir, path);

    (void)mode;
    (void)bytes;
    if (kind != FILE_FOLDER)
        return 0;
    if (chmod(full, 0555) < 0)
        return err_sys(s->e, -errno, "protect", full);
    return file_sync_dir(full, s->e);
}

static int seal(const char *dir, struct err *e)
{
    struct sealing s = {dir, e};
    int rc = file_walk(dir, seal_folder, &s, e);

    if (rc == 0 && chmod(dir, 0555) < 0)
        rc = err_sys(e, -errno, "protect", dir);
    return rc == 0 ? file_sync_dir(dir, e) : rc;
}

/* ---- import */

static int find_json(void *ctx, const struct pack_entry *file)
{
    bool *found = ctx;

    *found = *found || strcmp(file->path, "suite.json") == 0;
    return 0;
}

static int check_pack(const struct buf *pack, const char *sha256, struct err *e)
{
    char hex[DIGEST_HEX];
    bool found = false;

    digest_bytes(buf_str(pack), pack->len, hex);
    if (strcmp(hex, sha256) != 0)
        return err_set(e, -EINVAL, "suite.hash_mismatch", "suite_sha256",
                       "the suite arrived as %s and not as %.64s; send it again", hex, sha256);
    int rc = pack_read(pack->data, pack->len, find_json, &found, e);
    if (rc == 0 && !found)
        return err_set(e, -EINVAL, "suite.not_found", "suite",
                       "the suite has no suite.json at its top; add it");
    return rc;
}

static int unpack_kept(struct source_store *s, const struct buf *pack, const char *sha256,
                       struct err *e)
{
    CLEANUP(mem_freep) char *fresh = file_join(s->suites, ".new");
    CLEANUP(mem_freep) char *final = suite_path(s, sha256);
    struct unpacking u = {fresh, true, e};
    int rc = file_rmtree(fresh, e);

    if (rc == 0)
        rc = pack_read(pack->data, pack->len, unpack_file, &u, e);
    FAULT_POINT("suite.unpacked");
    if (rc == 0)
        rc = seal(fresh, e);
    if (rc == 0)
        rc = file_rename(fresh, final, e);
    FAULT_POINT("suite.renamed");
    if (rc == 0)
        return file_sync_dir(s->suites, e);
    (void)file_rmtree(fresh, NULL);
    return rc;
}

int source_import_suite(struct source_store *s, const char *pack_path, const char *sha256,
                        struct err *e)
{
    CLEANUP(buf_deinit) struct buf pack = {0};
    struct err failure = {0};

    if (!digest_valid(sha256))
        return err_set(e, -EINVAL, "suite.hash_mismatch", "suite_sha256",
                       "a suite is named by 64 lower-case hex digits");
    int rc = file_read(pack_path, PACK_BYTES_MAX, &pack, &failure);
    if (rc == -EFBIG)
        return err_set(e, rc, "suite.too_large", "suite", "the suite is larger than %zu MiB",
                       PACK_BYTES_MAX >> 20);
    if (rc < 0)
        return err_set(e, rc, failure.code, failure.field, "%s", failure.text);
    rc = check_pack(&pack, sha256, e);
    return rc == 0 && !source_has_suite(s, sha256) ? unpack_kept(s, &pack, sha256, e) : rc;
}

/* ---- packing again what stands on the disk */

struct repacking {
    int root; /* of the folder whose content counts; the list comes from the store */
    struct pack_entry *entries;
    size_t n, cap, bytes;
};

static void repacking_deinit(struct repacking *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free((void *)r->entries[i].path);
        free((void *)r->entries[i].data);
    }
    free(r->entries);
    mem_closep(&r->root);
}

/* 0, or -ESTALE when the file cannot be one of a pack any more. */
static int read_file(struct repacking *r, const char *path, struct pack_entry *entry)
{
    CLEANUP(mem_closep) int fd = source_open_beneath(r->root, path);
    CLEANUP(mem_freep) char *data = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        (uintmax_t)st.st_size > PACK_BYTES_MAX - r->bytes)
        return -ESTALE;
    size_t len = 0, size = (size_t)st.st_size;
    data = mem_alloc(size + 1);
    for (ssize_t n = 1; n > 0 && len < size; len += (size_t)n) {
        n = read(fd, data + len, size - len);
        if (n < 0)
            return -errno;
    }
    *entry = (struct pack_entry){.path = mem_strdup(path),
                                 .executable = st.st_mode & S_IXUSR,
                                 .data = MEM_STEAL(data),
                                 .len = len};
    r->bytes += len;
    return 0;
}

static int repack_file(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct repacking *r = ctx;

    (void)mode;
    (void)bytes;
    if (kind == FILE_FOLDER)
        return 0;
    MEM_GROW(r->entries, r->n, r->cap);
    int rc = read_file(r, path, &r->entries[r->n]);
    if (rc == 0)
        r->n++;
    return rc;
}

/* The pack of the kept suite's files with the content that they have below dir. 0, -ESTALE when
 * there is none, another error with e filled. */
static int repack(struct source_store *s, const char *sha256, const char *dir, struct buf *pack,
                  struct err *e)
{
    CLEANUP(mem_freep) char *kept = suite_path(s, sha256);
    CLEANUP(repacking_deinit)
    struct repacking r = {.root = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
    struct err failure = {0};

    if (r.root < 0)
        return err_sys(e, -errno, "open", dir);
    int rc = file_walk(kept, repack_file, &r, &failure);
    if (rc == 0)
        return pack_write(r.entries, r.n, pack, NULL) < 0 ? -ESTALE : 0;
    return rc == -ESTALE ? rc : err_set(e, rc, failure.code, failure.field, "%s", failure.text);
}

int source_copy_suite(struct source_store *s, const char *sha256, const char *dest, struct err *e)
{
    CLEANUP(mem_freep) char *kept = NULL;
    CLEANUP(buf_deinit) struct buf pack = {0};
    struct unpacking u = {dest, false, e};
    char hex[DIGEST_HEX] = "";
    int rc = check_here(s, sha256, e);

    if (rc < 0)
        return rc;
    if (file_exists(dest))
        return err_sys(e, -EEXIST, "create folder", dest);
    kept = suite_path(s, sha256);
    rc = repack(s, sha256, kept, &pack, e);
    if (rc == 0)
        digest_bytes(pack.data, pack.len, hex);
    if (rc == -ESTALE || (rc == 0 && strcmp(hex, sha256) != 0))
        return err_set(e, -EIO, "source.suite_damaged", "suite_sha256",
                       "the kept suite %s was changed on the disk; remove %s and submit the job "
                       "again",
                       sha256, kept);
    if (rc == 0)
        rc = pack_read(pack.data, pack.len, unpack_file, &u, e);
    if (rc < 0)
        (void)file_rmtree(dest, NULL);
    return rc;
}

int source_hash_suite(struct source_store *s, const char *sha256, const char *dest,
                      char again[DIGEST_HEX], struct err *e)
{
    CLEANUP(buf_deinit) struct buf pack = {0};
    int rc = check_here(s, sha256, e);

    again[0] = '\0';
    if (rc == 0)
        rc = repack(s, sha256, dest, &pack, e);
    if (rc == -ESTALE)
        return 0;
    if (rc == 0)
        digest_bytes(pack.data, pack.len, again);
    return rc;
}
