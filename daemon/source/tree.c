/* Lists of tracked files and hashes of what stands on the disk, see internal.h. Nothing here
 * follows a link: a build may have put one anywhere. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/json/json_text.h"
#include "source/internal.h"

/* ---- names */

/* One character as it is, or its first byte as \xNN; returns the bytes taken. */
static size_t show_char(struct buf *out, const unsigned char *p, size_t left)
{
    size_t n = json_utf8_len(p, left);

    if (n == 0 || *p < 0x20 || *p == 0x7f || *p == '\\') {
        buf_printf(out, "\\x%02x", *p);
        return 1;
    }
    buf_add(out, p, n);
    return n;
}

void source_show_path(struct buf *out, const char *path)
{
    const unsigned char *p = (const unsigned char *)path;

    for (size_t left = strlen(path); left;) {
        size_t n = show_char(out, p, left);
        p += n;
        left -= n;
    }
    buf_puts(out, "");
}

/* ---- the list */

static int refuse_submodule(const char *path, struct err *e)
{
    CLEANUP(buf_deinit) struct buf name = {0};

    source_show_path(&name, path);
    return err_set(e, -EINVAL, "source.submodule", "commit",
                   "the commit has a submodule at %.300s, not supported yet by this version; "
                   "measure a commit that holds the files themselves",
                   name.data);
}

int source_tree_list(struct source_store *s, const char *commit, struct source_tree *tree,
                     struct err *e)
{
    const struct source_git g = SOURCE_GIT(s->git_dir);
    CLEANUP(buf_deinit) struct buf out = {0};
    int rc =
        source_git_must(&g, SOURCE_ARGS("ls-tree", "-r", "-z", commit), &out, "source.not_here", e);

    /* "mode type id\tpath" */
    for (size_t at = 0; rc == 0 && at < out.len; at += strlen(out.data + at) + 1) {
        const char *entry = out.data + at, *tab = strchr(entry, '\t');
        if (!tab)
            return err_set(e, -EPROTO, "source.store_failed", "commit",
                           "git ls-tree answered in an unknown form");
        if (strncmp(entry, "160000 ", 7) == 0)
            return refuse_submodule(tab + 1, e);
        buf_add(&tree->paths, tab + 1, strlen(tab + 1) + 1);
        tree->files++;
    }
    return rc;
}

void source_tree_deinit(struct source_tree *tree)
{
    buf_deinit(&tree->paths);
}

/* ---- the hash */

/* Opens the folder of path; *name is its last part. */
static int open_folder_beneath(int root, const char *path, const char **name)
{
    int dir = fcntl(root, F_DUPFD_CLOEXEC, 3);
    char part[NAME_MAX + 1];

    for (const char *slash; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        size_t len = (size_t)(slash - path);
        if (len > NAME_MAX) {
            (void)close(dir);
            return -ENAMETOOLONG;
        }
        memcpy(part, path, len);
        part[len] = '\0';
        int next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int failure = errno;
        (void)close(dir);
        errno = failure;
        dir = next;
    }
    *name = path;
    return dir < 0 ? -errno : dir;
}

int source_open_beneath(int root, const char *path)
{
    const char *name = NULL;
    int dir = open_folder_beneath(root, path, &name);

    if (dir < 0)
        return dir;
    /* Not blocking: a build may have put a pipe there. */
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc = fd < 0 ? -errno : fd;
    (void)close(dir);
    return rc;
}

struct found {
    const char *mode; /* "100644", "100755", "120000"; "000000": nothing to hash */
    char sha256[DIGEST_HEX];
};

static int hash_link(int dir, const char *name, struct found *f)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(dir, name, target, sizeof target);

    if (n < 0)
        return -errno;
    f->mode = "120000";
    digest_bytes(target, (size_t)n, f->sha256);
    return 0;
}

static int hash_file(int dir, const char *name, bool executable, struct found *f)
{
    CLEANUP(mem_closep) int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return -errno;
    f->mode = executable ? "100755" : "100644";
    return digest_fd(fd, f->sha256, NULL);
}

static int hash_entry(int root, const char *path, struct found *f)
{
    const char *name = NULL;
    struct stat st;
    CLEANUP(mem_closep) int dir = open_folder_beneath(root, path, &name);

    *f = (struct found){.mode = "000000", .sha256 = "-"};
    if (dir == -ENOENT || dir == -ENOTDIR || dir == -ELOOP)
        return 0;
    if (dir < 0)
        return dir;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode))
        return hash_link(dir, name, f);
    return S_ISREG(st.st_mode) ? hash_file(dir, name, st.st_mode & S_IXUSR, f) : 0;
}

static int hash_failed(const char *path, int rc, struct err *e)
{
    CLEANUP(buf_deinit) struct buf name = {0};

    source_show_path(&name, path);
    return err_sys(e, rc, "read", name.data);
}

int source_tree_hash(const struct source_tree *tree, const char *dir, char hex[DIGEST_HEX],
                     size_t *missing, struct err *e)
{
    CLEANUP(mem_closep) int root = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct digest *d = root < 0 ? NULL : digest_new();
    size_t gone = 0;

    if (!d)
        return err_sys(e, -errno, "open", dir);
    digest_add(d, "aurabench-tree 1\n", 17);
    for (size_t at = 0; at < tree->paths.len;) {
        const char *path = tree->paths.data + at;
        size_t with_nul = strlen(path) + 1;
        struct found f;
        int rc = hash_entry(root, path, &f);
        if (rc < 0) {
            digest_free(d);
            return hash_failed(path, rc, e);
        }
        gone += strcmp(f.mode, "000000") == 0;
        digest_add(d, f.mode, 6);
        digest_add(d, " ", 1);
        digest_add(d, f.sha256, strlen(f.sha256));
        digest_add(d, " ", 1);
        digest_add(d, path, with_nul);
        at += with_nul;
    }
    digest_finish(d, hex);
    if (missing)
        *missing = gone;
    return 0;
}
