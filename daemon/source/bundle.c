/* Commits in and out as bundles. What comes in is unpacked into a quarantine inside the store's
 * object folder, checked there, and moved in only when it is complete. (git fetch would do without
 * one, and in git 2.39 does not check the objects of a bundle.) */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "source/internal.h"

#define BUNDLE_BAD "source.bundle_bad"
#define MAGIC "# v2 git bundle\n"
#define PREREQUISITES_MAX 4096

/* Sins of old repositories that do no harm to a checkout. */
static const char STRICT[] =
    "--strict=zeroPaddedFilemode=ignore,badTimezone=ignore,missingSpaceBeforeDate=ignore,"
    "missingSpaceBeforeEmail=ignore,zeroPaddedDate=ignore";

/* ---- reading the head of a bundle */

struct bundle {
    const char *data; /* mapped */
    size_t len;
    size_t pack; /* where the pack begins */
};

static void bundle_close(struct bundle *b)
{
    if (b->data)
        (void)munmap((void *)b->data, b->len);
}

static int bundle_open(const char *path, struct bundle *b, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(e, -errno, "open", path);
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return err_set(e, -EINVAL, BUNDLE_BAD, "bundle", "the bundle is empty; send it again");
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED)
        return err_sys(e, -errno, "map", path);
    b->data = data;
    b->len = (size_t)st.st_size;
    return 0;
}

static int bad_head(struct err *e)
{
    return err_set(e, -EINVAL, BUNDLE_BAD, "bundle",
                   "the file is no git bundle of version 2 with SHA-1 ids, or it is cut off; make "
                   "it with git bundle create --version=2");
}

static int check_prerequisite(struct source_store *s, const char *line, size_t len, struct err *e)
{
    CLEANUP(mem_freep) char *id = mem_printf("%.*s", (int)strnlen(line, SOURCE_ID_LEN), line);

    if (len < SOURCE_ID_LEN || !source_id_valid(id))
        return bad_head(e);
    if (source_has_commit(s, id))
        return 0;
    return err_set(e, -EINVAL, BUNDLE_BAD, "bundle",
                   "the bundle builds on commit %s, which is not here; send it with that commit",
                   id);
}

/* Lines up to an empty one: "-id ..." needs that commit, "id ref" offers one. */
static int read_head(struct source_store *s, struct bundle *b, struct err *e)
{
    size_t at = strlen(MAGIC), prerequisites = 0;

    if (b->len < at || memcmp(b->data, MAGIC, at) != 0)
        return bad_head(e);
    for (;;) {
        const char *line = b->data + at;
        const char *end = memchr(line, '\n', b->len - at);
        if (!end || end - line > 65536)
            return bad_head(e);
        at += (size_t)(end - line) + 1;
        if (end == line)
            break;
        if (*line != '-')
            continue;
        if (++prerequisites > PREREQUISITES_MAX)
            return bad_head(e);
        int rc = check_prerequisite(s, line + 1, (size_t)(end - line) - 1, e);
        if (rc < 0)
            return rc;
    }
    b->pack = at;
    return 0;
}

/* ---- the quarantine */

static int quarantine_make(const char *dir, struct err *e)
{
    CLEANUP(mem_freep) char *info = file_join(dir, "info");
    CLEANUP(mem_freep) char *pack = file_join(dir, "pack");
    CLEANUP(mem_freep) char *alternates = file_join(info, "alternates");
    int rc = file_rmtree(dir, e);

    if (rc == 0)
        rc = file_mkdirs(info, 0700, e);
    if (rc == 0)
        rc = file_mkdirs(pack, 0700, e);
    if (rc == 0)
        rc = file_write(alternates, "..\n", 3, 0600, e); /* the store's own objects */
    return rc;
}

/* The first line that git wrote to explain itself, cut for a sentence. */
static int refuse(const struct source_git *g, struct err *e, const char *what, struct buf *errout)
{
    int rc = source_git_disk(g, errout, e);
    if (rc < 0)
        return rc;
    buf_puts(errout, "");
    errout->data[strcspn(errout->data, "\n")] = '\0';
    return err_set(e, -EINVAL, BUNDLE_BAD, "bundle", "%s; send it again (git: %.300s)", what,
                   errout->data);
}

static int unpack(const struct source_git *quarantine, const struct bundle *b, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    struct source_git g = *quarantine;
    int status = 0;

    g.input = b->data + b->pack;
    g.input_len = b->len - b->pack;
    int rc = source_git(&g, SOURCE_ARGS("index-pack", "--stdin", "--fix-thin", STRICT), &status,
                        &out, &errout, e);
    if (rc == 0 && status != 0)
        return refuse(&g, e, "the bundle is damaged or holds malformed objects", &errout);
    return rc;
}

/* Each id is a commit. */
static int check_types(const struct source_git *with_ids, const char *const *commits, size_t n,
                       struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int rc = source_git_must(with_ids,
                             SOURCE_ARGS("cat-file", "--batch-check=%(objectname) %(objecttype)"),
                             &out, BUNDLE_BAD, e);
    const char *line = buf_str(&out);

    for (size_t i = 0; rc == 0 && i < n; i++, line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, commits[i], SOURCE_ID_LEN) != 0 ||
            strncmp(line + SOURCE_ID_LEN, " commit\n", 8) != 0)
            return err_set(e, -EINVAL, BUNDLE_BAD, "bundle",
                           "the bundle does not contain commit %s; send a bundle that does",
                           commits[i]);
    return rc;
}

/* Everything that the commits need is there: the walk ends at what references already hold. */
static int check_complete(const struct source_git *quarantine, const char *const *commits, size_t n,
                          struct err *e)
{
    CLEANUP(buf_deinit) struct buf in = {0}, out = {0}, errout = {0};
    struct source_git g = *quarantine;
    int status = 0;

    for (size_t i = 0; i < n; i++)
        buf_printf(&in, "%s\n", commits[i]);
    g.input = buf_str(&in);
    g.input_len = in.len;
    int rc = check_types(&g, commits, n, e);
    if (rc == 0)
        rc = source_git(
            &g, SOURCE_ARGS("rev-list", "--quiet", "--objects", "--stdin", "--not", "--all"),
            &status, &out, &errout, e);
    if (rc == 0 && status != 0)
        return refuse(&g, e, "the bundle lacks a part of its commits", &errout);
    return rc;
}

static bool ends_with(const char *name, const char *tail)
{
    size_t n = strlen(name), m = strlen(tail);

    return n >= m && strcmp(name + n - m, tail) == 0;
}

/* The index last: git takes a pack for present when its index is. */
static int move_packs(const char *from, const char *to, bool indexes, struct err *e)
{
    DIR *d = opendir(from);
    struct dirent *entry;
    int rc = 0;

    if (!d)
        return err_sys(e, -errno, "open", from);
    while (rc == 0 && (entry = readdir(d))) {
        const char *name = entry->d_name;
        if (strncmp(name, "pack-", 5) != 0 || ends_with(name, ".keep") ||
            ends_with(name, ".idx") != indexes)
            continue;
        CLEANUP(mem_freep) char *old = file_join(from, name);
        CLEANUP(mem_freep) char *new = file_join(to, name);
        rc = file_rename(old, new, e);
    }
    (void)closedir(d);
    return rc;
}

static int accept_packs(struct source_store *s, const char *quarantine, struct err *e)
{
    CLEANUP(mem_freep) char *from = file_join(quarantine, "pack");
    CLEANUP(mem_freep) char *to = file_join(s->git_dir, "objects/pack");
    int rc = move_packs(from, to, false, e);

    FAULT_POINT("import.pack_moved");
    if (rc == 0)
        rc = move_packs(from, to, true, e);
    return rc == 0 ? file_sync_dir(to, e) : rc;
}

static int import(struct source_store *s, const struct bundle *b, const char *const *commits,
                  size_t n, struct err *e)
{
    CLEANUP(mem_freep) char *dir = file_join(s->git_dir, "objects/incoming");
    const struct source_git g = {.git_dir = s->git_dir, .object_dir = dir, .out_fd = -1};
    int rc = quarantine_make(dir, e);

    FAULT_POINT("import.quarantine");
    if (rc == 0)
        rc = unpack(&g, b, e);
    FAULT_POINT("import.unpacked");
    if (rc == 0)
        rc = check_complete(&g, commits, n, e);
    if (rc == 0)
        rc = accept_packs(s, dir, e);
    FAULT_POINT("import.accepted");
    if (rc == 0)
        rc = source_pin(s, commits, n, e);
    FAULT_POINT("import.pinned");
    (void)file_rmtree(dir, NULL);
    return rc;
}

int source_import_bundle(struct source_store *s, const char *bundle_path,
                         const char *const *commits, size_t n, struct err *e)
{
    CLEANUP(bundle_close) struct bundle b = {0};
    int rc = n ? 0 : err_set(e, -EINVAL, "source.bad_id", "commits", "no commit is named");

    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = source_check_id(commits[i], e);
    if (rc == 0)
        rc = source_store_ready(s, e);
    if (rc == 0)
        rc = bundle_open(bundle_path, &b, e);
    if (rc == 0)
        rc = read_head(s, &b, e);
    return rc == 0 ? import(s, &b, commits, n, e) : rc;
}

/* ---- out */

int source_bundle_commits(struct source_store *s, const char *const *commits, size_t n,
                          const char *out_path, struct err *e)
{
    CLEANUP(buf_deinit) struct buf revs = {0};
    struct source_git g = SOURCE_GIT(s->git_dir);

    for (size_t i = 0; i < n; i++) {
        if (!source_has_commit(s, commits[i]))
            return err_set(e, -ENOENT, "source.not_here", "commit",
                           "commit %.60s is not in the daemon's store; send it again", commits[i]);
        buf_printf(&revs, "refs/aurabench/commits/%s\n", commits[i]);
    }
    int rc = source_pin(s, commits, n, e);
    if (rc < 0)
        return rc;
    CLEANUP(mem_closep) int fd = disk_create(out_path, O_TRUNC, 0644);
    if (fd < 0)
        return disk_err(e, fd, "create", out_path);
    g.input = buf_str(&revs);
    g.input_len = revs.len;
    g.out_fd = fd;
    rc = source_git_must(&g,
                         SOURCE_ARGS("bundle", "create", "--quiet", "--version=2", "-", "--stdin"),
                         NULL, "source.store_failed", e);
    if (rc == 0 && (rc = disk_sync(fd)) < 0)
        rc = disk_err(e, rc, "write", out_path);
    if (rc < 0)
        (void)unlink(out_path);
    return rc;
}
