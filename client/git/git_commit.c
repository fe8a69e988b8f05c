/* What a commit contains, and commits as a bundle: the second half of client/git/git.h. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/git/git.h"
#include "client/git/git_run.h"

#define BUNDLE_FAILED "source.bundle_failed"
#define BUNDLE_TIMEOUT_MS INT64_C(1800000)
#define LFS_POINTER "version https://git-lfs.github.com/spec/v1\n"
/* The specification's bound of a pointer file; the shortest has an oid and a size. */
#define LFS_MIN_BYTES 100
#define LFS_MAX_BYTES 1024

/* ---- what cannot be checked out */

/* The files of a commit that matter here, as lists of blob ids, one a line. */
struct files {
    struct buf attributes; /* .gitattributes */
    struct buf small;      /* could be a pointer of LFS */
    struct buf names;      /* of small, each with a NUL */
};

static void files_deinit(struct files *f)
{
    buf_deinit(&f->attributes);
    buf_deinit(&f->small);
    buf_deinit(&f->names);
}

static int refuse_submodule(const char *path, struct err *e)
{
    CLEANUP(buf_deinit) struct buf name = {0};

    git_list_name(&name, path);
    return err_set(e, -EINVAL, "source.submodule", "rev",
                   "the commit has a submodule at %s, not supported yet by this version; measure a "
                   "commit that holds the files themselves",
                   buf_str(&name));
}

/* One entry of ls-tree: "mode type id\tpath", with -l "mode type id size\tpath". */
static int sort_entry(struct files *f, const char *entry, struct err *e)
{
    const char *tab = strchr(entry, '\t'), *id = entry + 12, *path = tab ? tab + 1 : "";
    const char *slash = strrchr(path, '/');

    if (strncmp(entry, "160000 ", 7) == 0)
        return refuse_submodule(path, e);
    if (!tab || strncmp(entry, "100", 3) != 0 || tab - id < GIT_ID_LEN)
        return 0;
    if (strcmp(slash ? slash + 1 : path, ".gitattributes") == 0)
        buf_printf(&f->attributes, "%.*s\n", GIT_ID_LEN, id);
    long bytes = tab - id > GIT_ID_LEN ? strtol(id + GIT_ID_LEN, NULL, 10) : -1;
    if (bytes >= LFS_MIN_BYTES && bytes < LFS_MAX_BYTES) {
        buf_printf(&f->small, "%.*s\n", GIT_ID_LEN, id);
        buf_add(&f->names, path, strlen(path) + 1);
    }
    return 0;
}

/* Sizes cost a look at every object, so they are asked for only when they are needed. */
static int list_files(const char *repo, const char *id, bool with_sizes, struct files *f,
                      struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct git_call c = GIT_CALL_IN(repo);
    int rc = git_call_must(&c,
                           with_sizes ? GIT_ARGS("ls-tree", "-r", "-z", "-l", "--full-tree", id)
                                      : GIT_ARGS("ls-tree", "-r", "-z", "--full-tree", id),
                           &out, "source.unresolved", e);

    for (size_t i = 0; rc == 0 && i < out.len; i += strlen(out.data + i) + 1)
        rc = sort_entry(f, out.data + i, e);
    return rc;
}

/* Finds the first of the blobs (ids one a line) whose content has the text, at its beginning or
 * anywhere. *index is -1 when none has. */
static int find_blob(const char *repo, const struct buf *ids, const char *text, bool at_start,
                     int *index, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    struct git_call c = GIT_CALL_IN(repo);

    *index = -1;
    if (!ids->len)
        return 0;
    c.input = ids->data;
    c.input_len = ids->len;
    int rc = git_call_must(&c, GIT_ARGS("cat-file", "--batch"), &out, "source.unresolved", e);
    const char *p = buf_str(&out), *end = p + out.len;
    for (int i = 0; rc == 0 && p < end; i++) {
        /* "id type size\n", then the content and a newline */
        const char *line = memchr(p, '\n', (size_t)(end - p)), *size = p + GIT_ID_LEN + 6;
        bool is_blob = line && size < line && memcmp(p + GIT_ID_LEN, " blob ", 6) == 0;
        long bytes = is_blob ? strtol(size, NULL, 10) : -1;
        if (bytes < 0 || bytes >= end - line)
            return err_set(e, -EIO, "source.unresolved", "rev",
                           "%s lacks objects of the commit; run git fsck there", repo);
        const char *found = memmem(line + 1, (size_t)bytes, text, strlen(text));
        if (found && (!at_start || found == line + 1)) {
            *index = i;
            return 0;
        }
        p = line + 1 + bytes + 1;
    }
    return rc;
}

static int refuse_lfs(const struct files *f, int index, struct err *e)
{
    CLEANUP(buf_deinit) struct buf name = {0};
    const char *names = buf_str(&f->names);
    size_t at = 0;

    while (index-- > 0 && at < f->names.len)
        at += strlen(names + at) + 1;
    git_list_name(&name, names + at);
    return err_set(e, -EINVAL, "source.lfs", "rev",
                   "the commit keeps %s in Git LFS, not supported yet by this version; measure a "
                   "commit that holds the files themselves",
                   buf_str(&name));
}

int git_check_commit(const char *repo, const char *id, struct err *e)
{
    CLEANUP(files_deinit) struct files f = {0};
    CLEANUP(files_deinit) struct files sized = {0};
    int uses_lfs = -1, pointer = -1;
    int rc = list_files(repo, id, false, &f, e);

    if (rc == 0)
        rc = find_blob(repo, &f.attributes, "filter=lfs", false, &uses_lfs, e);
    if (rc < 0 || uses_lfs < 0)
        return rc;
    rc = list_files(repo, id, true, &sized, e);
    if (rc == 0)
        rc = find_blob(repo, &sized.small, LFS_POINTER, true, &pointer, e);
    return rc == 0 && pointer >= 0 ? refuse_lfs(&sized, pointer, e) : rc;
}

/* ---- bundles */

static bool is_id(const char *s)
{
    return strlen(s) == GIT_ID_LEN && strspn(s, "0123456789abcdef") == GIT_ID_LEN;
}

/* Where the repository keeps its objects, also for a worktree of another one. */
static int find_objects(const char *repo, struct buf *path, struct err *e)
{
    struct git_call c = GIT_CALL_IN(repo);
    int rc =
        git_call_must(&c, GIT_ARGS("rev-parse", "--path-format=absolute", "--git-path", "objects"),
                      path, BUNDLE_FAILED, e);

    /* Only the last newline is git's: a folder's name may hold others. */
    if (rc == 0 && path->len)
        path->data[--path->len] = '\0';
    return rc;
}

/* Adds "^id" for each of the ids that is a commit of this repository. */
static int add_excludes(const char *repo, const char *const *ids, size_t n, struct buf *revs,
                        struct err *e)
{
    CLEANUP(buf_deinit) struct buf in = {0}, out = {0};
    struct git_call c = GIT_CALL_IN(repo);

    for (size_t i = 0; i < n; i++)
        if (is_id(ids[i]))
            buf_printf(&in, "%s\n", ids[i]);
    if (!in.len)
        return 0;
    c.input = in.data;
    c.input_len = in.len;
    int rc = git_call_must(&c, GIT_ARGS("cat-file", "--batch-check=%(objectname) %(objecttype)"),
                           &out, BUNDLE_FAILED, e);
    for (size_t i = 0, len; rc == 0 && i < out.len; i += len + 1) {
        len = strcspn(out.data + i, "\n");
        if (len > GIT_ID_LEN && strncmp(out.data + i + GIT_ID_LEN, " commit\n", 8) == 0)
            buf_printf(revs, "^%.*s\n", GIT_ID_LEN, out.data + i);
    }
    return rc;
}

static void add_ref_updates(struct buf *refs, const char *const *commits, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool again = false; /* git refuses to update a reference twice at once */
        for (size_t k = 0; k < i; k++)
            again = again || strcmp(commits[k], commits[i]) == 0;
        if (!again)
            buf_printf(refs, "update refs/aurabench/commits/%s %s\n", commits[i], commits[i]);
    }
}

/* A bundle carries references, and the user's repository is not to get any: a repository of our own
 * beside the bundle has them, and looks into the user's objects. */
static int make_borrower(struct git_call *c, const char *dir, const char *const *commits, size_t n,
                         struct err *e)
{
    CLEANUP(buf_deinit) struct buf refs = {0};
    struct git_call init = GIT_CALL_IN(".");
    int rc = file_rmtree(dir, e);

    if (rc == 0)
        rc = git_call_must(
            &init,
            GIT_ARGS("init", "--quiet", "--bare", "--template=", "--object-format=sha1", dir), NULL,
            BUNDLE_FAILED, e);
    add_ref_updates(&refs, commits, n);
    c->input = refs.data;
    c->input_len = refs.len;
    if (rc == 0)
        rc = git_call_must(c, GIT_ARGS("update-ref", "--stdin"), NULL, BUNDLE_FAILED, e);
    return rc;
}

static int write_bundle(struct git_call *c, const struct buf *revs, const char *out_path,
                        struct err *e)
{
    CLEANUP(mem_closep)
    int fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return err_sys(e, -errno, "create", out_path);
    c->input = revs->data;
    c->input_len = revs->len;
    c->out_fd = fd;
    c->timeout_ms = BUNDLE_TIMEOUT_MS;
    return git_call_must(c, GIT_ARGS("bundle", "create", "--quiet", "--version=2", "-", "--stdin"),
                         NULL, BUNDLE_FAILED, e);
}

int git_bundle(const char *repo, const char *const *commits, size_t n, const char *const *exclude,
               size_t n_exclude, const char *out_path, struct err *e)
{
    CLEANUP(mem_freep) char *dir = mem_printf("%s.repo", out_path);
    CLEANUP(buf_deinit) struct buf objects = {0}, revs = {0};

    for (size_t i = 0; i < n; i++) {
        if (!is_id(commits[i]))
            return err_set(e, -EINVAL, BUNDLE_FAILED, "rev", "%s is no full commit id", commits[i]);
        buf_printf(&revs, "refs/aurabench/commits/%s\n", commits[i]);
    }
    if (n == 0)
        return err_set(e, -EINVAL, BUNDLE_FAILED, "rev", "there is no commit to send");
    int rc = find_objects(repo, &objects, e);
    struct git_call c = {.git_dir = dir,
                         .object_dir = buf_str(&objects),
                         .out_fd = -1,
                         .timeout_ms = BUNDLE_TIMEOUT_MS};
    if (rc == 0)
        rc = add_excludes(repo, exclude, n_exclude, &revs, e);
    if (rc == 0)
        rc = make_borrower(&c, dir, commits, n, e);
    if (rc == 0)
        rc = write_bundle(&c, &revs, out_path, e);
    (void)file_rmtree(dir, NULL);
    if (rc < 0)
        (void)unlink(out_path);
    return rc;
}
