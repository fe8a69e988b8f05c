/* Checkouts of one commit: made, proved, hashed again, removed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "source/internal.h"

#define FAILED "source.checkout_failed"
#define LFS_POINTER "version https://git-lfs.github.com/spec/v1\n"
#define LFS_MAX_BYTES 1024

/* A repository of its own at dest that borrows the store's objects. */
static int make_repository(struct source_store *s, const struct source_git *g, struct err *e)
{
    CLEANUP(mem_freep) char *alternates = file_join(g->git_dir, "objects/info/alternates");
    CLEANUP(mem_freep) char *line = mem_printf("%s/objects\n", s->git_dir);
    const struct source_git init = {.place = g->work_tree, .out_fd = -1};
    int rc = source_git_must(&init,
                             SOURCE_ARGS("init", "--quiet", "--template=", "--object-format=sha1",
                                         "--initial-branch=none", g->work_tree),
                             NULL, FAILED, e);

    return rc == 0 ? file_write(alternates, line, strlen(line), 0600, e) : rc;
}

static int fill(const struct source_git *g, const char *commit, struct err *e)
{
    int rc = source_git_must(g, SOURCE_ARGS("update-ref", "--no-deref", "HEAD", commit), NULL,
                             FAILED, e);

    if (rc == 0)
        rc = source_git_must(g, SOURCE_ARGS("read-tree", "--reset", "-u", commit), NULL, FAILED, e);
    return rc;
}

/* ---- proofs */

static int read_head(const struct source_git *g, struct arena *a, struct raw_source *out,
                     struct err *e)
{
    CLEANUP(buf_deinit) struct buf head = {0}, branch = {0};
    int status = 0;
    int rc = source_git_must(g, SOURCE_ARGS("rev-parse", "--verify", "HEAD"), &head, FAILED, e);

    if (rc == 0)
        rc = source_git(g, SOURCE_ARGS("symbolic-ref", "--quiet", "HEAD"), &status, &branch, NULL,
                        e);
    if (rc < 0)
        return rc;
    out->head = arena_strndup(a, buf_str(&head), strcspn(buf_str(&head), "\n"));
    out->detached = status == 1;
    if (strcmp(out->head, out->commit) == 0)
        return 0;
    return err_set(e, -EINVAL, FAILED, "commit", "the checkout of %s has the head %s", out->commit,
                   out->head);
}

static int read_status(const struct source_git *g, struct raw_source *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf list = {0};
    int rc = source_git_must(g,
                             SOURCE_ARGS("status", "--porcelain=v1", "-z", "--ignored",
                                         "--untracked-files=all", "--no-renames"),
                             &list, FAILED, e);

    out->clean = rc == 0 && list.len == 0;
    return rc;
}

static bool is_pointer(int root, const char *path)
{
    char head[sizeof LFS_POINTER - 1];
    struct stat st;
    CLEANUP(mem_closep) int fd = source_open_beneath(root, path);

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < LFS_MAX_BYTES &&
           read(fd, head, sizeof head) == (ssize_t)sizeof head &&
           memcmp(head, LFS_POINTER, sizeof head) == 0;
}

/* The text of a pointer is one only where the attributes say so: a test of LFS itself may hold
 * such a file. out is git's "path NUL filter NUL value NUL". */
static int refuse_lfs(const struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf name = {0};

    for (size_t at = 0; at < out->len;) {
        const char *path = out->data + at;
        const char *attribute = path + strlen(path) + 1;
        if (attribute >= out->data + out->len)
            break;
        const char *value = attribute + strlen(attribute) + 1;
        if (value > out->data + out->len) /* the end of the last string is ours, not git's */
            break;
        at = (size_t)(value - out->data) + strlen(value) + 1;
        if (strcmp(value, "lfs") != 0)
            continue;
        source_show_path(&name, path);
        return err_set(e, -EINVAL, "source.lfs", "commit",
                       "the commit keeps %.300s in Git LFS, not supported yet by this version; "
                       "measure a commit that holds the files themselves",
                       name.data);
    }
    return 0;
}

/* Without attributes no file can be one of LFS. */
static bool has_attributes(const struct source_tree *tree)
{
    for (size_t at = 0; at < tree->paths.len; at += strlen(tree->paths.data + at) + 1) {
        const char *path = tree->paths.data + at, *slash = strrchr(path, '/');
        if (strcmp(slash ? slash + 1 : path, ".gitattributes") == 0)
            return true;
    }
    return false;
}

static int check_lfs(const struct source_git *g, const struct source_tree *tree, struct err *e)
{
    CLEANUP(mem_closep) int root = open(g->work_tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(buf_deinit) struct buf pointers = {0}, out = {0};
    struct source_git ask = *g;

    if (root < 0)
        return err_sys(e, -errno, "open", g->work_tree);
    if (!has_attributes(tree))
        return 0;
    for (size_t at = 0; at < tree->paths.len; at += strlen(tree->paths.data + at) + 1)
        if (is_pointer(root, tree->paths.data + at))
            buf_add(&pointers, tree->paths.data + at, strlen(tree->paths.data + at) + 1);
    if (!pointers.len)
        return 0;
    ask.input = pointers.data;
    ask.input_len = pointers.len;
    int rc = source_git_must(&ask, SOURCE_ARGS("check-attr", "-z", "--stdin", "filter"), &out,
                             FAILED, e);
    return rc == 0 ? refuse_lfs(&out, e) : rc;
}

static int prove(const struct source_git *g, struct arena *a, const struct source_tree *tree,
                 struct raw_source *out, struct err *e)
{
    char hex[DIGEST_HEX];
    size_t missing = 0;
    int rc = read_head(g, a, out, e);

    if (rc == 0)
        rc = read_status(g, out, e);
    if (rc == 0)
        rc = check_lfs(g, tree, e);
    if (rc == 0)
        rc = source_tree_hash(tree, g->work_tree, hex, &missing, e);
    if (rc < 0)
        return rc;
    if (missing)
        return err_set(e, -EINVAL, FAILED, "commit",
                       "%zu files of %s could not be checked out; do two names differ only by case "
                       "on this file system?",
                       missing, out->commit);
    out->tree_sha256 = arena_strdup(a, hex);
    out->files = (int64_t)tree->files;
    out->path_bytes = (int64_t)strlen(g->work_tree);
    return 0;
}

static int check_request(struct source_store *s, const char *commit, const char *dest,
                         struct err *e)
{
    int rc = source_check_id(commit, e);

    if (rc < 0)
        return rc;
    if (!source_has_commit(s, commit))
        return err_set(e, -ENOENT, "source.not_here", "commit",
                       "commit %s is not in the daemon's store; submit the job again", commit);
    if (dest[0] != '/' || file_exists(dest))
        return err_set(e, -EEXIST, FAILED, "dest",
                       "a checkout needs an absolute path where nothing is yet, not %s", dest);
    return 0;
}

int source_checkout(struct source_store *s, struct arena *a, const char *commit, const char *dest,
                    struct raw_source *out, struct err *e)
{
    CLEANUP(source_tree_deinit) struct source_tree tree = {0};
    CLEANUP(mem_freep) char *git_dir = file_join(dest, ".git");
    const struct source_git g = {.git_dir = git_dir, .work_tree = dest, .out_fd = -1};
    int rc = check_request(s, commit, dest, e);

    if (rc == 0)
        rc = source_tree_list(s, commit, &tree, e);
    if (rc < 0)
        return rc;
    out->commit = arena_strdup(a, commit);
    rc = make_repository(s, &g, e);
    if (rc == 0)
        rc = fill(&g, commit, e);
    if (rc == 0)
        rc = prove(&g, a, &tree, out, e);
    if (rc < 0)
        (void)file_rmtree(dest, NULL);
    return rc;
}

int source_rehash(struct source_store *s, const char *commit, const char *dest,
                  char tree_sha256[DIGEST_HEX], struct err *e)
{
    CLEANUP(source_tree_deinit) struct source_tree tree = {0};
    int rc = source_check_id(commit, e);

    if (rc == 0)
        rc = source_tree_list(s, commit, &tree, e);
    return rc == 0 ? source_tree_hash(&tree, dest, tree_sha256, NULL, e) : rc;
}

int source_remove(struct source_store *s, const char *dest, struct err *e)
{
    (void)s; /* it keeps no record of a checkout */
    return file_rmtree(dest, e);
}
