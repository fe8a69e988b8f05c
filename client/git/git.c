#include "client/git/git.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "client/git/git_run.h"

#define DIRTY_SHOWN 10

/* ---- the repository */

static int check_folder(const char *repo, struct err *e)
{
    struct stat st;

    if (repo[0] == '\0' || stat(repo, &st) < 0)
        return err_set(e, -ENOENT, "source.not_a_repository", "repo",
                       "the repository %s does not exist; name a folder of a git checkout", repo);
    if (!S_ISDIR(st.st_mode))
        return err_set(e, -ENOTDIR, "source.not_a_repository", "repo",
                       "the repository %s is no folder; name a folder of a git checkout", repo);
    return 0;
}

/* A partial clone would ask its remote for what it lacks, and the bundle would lack it. */
static bool is_partial(const struct git_call *c)
{
    return git_call_asks(c, GIT_ARGS("config", "--get-regexp",
                                     "^(extensions\\.partialclone|remote\\..*\\.promisor)$"));
}

static int refuse_by_answers(const char *repo, char *answers, struct err *e)
{
    char *save = NULL;
    const char *bare = strtok_r(answers, "\n", &save), *inside = strtok_r(NULL, "\n", &save);
    const char *shallow = strtok_r(NULL, "\n", &save), *format = strtok_r(NULL, "\n", &save);

    if (!bare || !inside || !shallow || !format)
        return err_set(e, -EPROTO, "source.not_a_repository", "repo",
                       "git said nothing about %s; is this git 2.30 or later?", repo);
    if (strcmp(bare, "true") == 0)
        return err_set(e, -EINVAL, "source.bare", "repo",
                       "%s is a bare repository; name a checkout of it", repo);
    if (strcmp(inside, "true") != 0)
        return err_set(e, -EINVAL, "source.not_a_repository", "repo",
                       "%s is not inside a git checkout; name the folder that holds .git", repo);
    if (strcmp(shallow, "true") == 0)
        return err_set(e, -EINVAL, "source.shallow", "repo",
                       "%s is a shallow clone and lacks history; run git fetch --unshallow there",
                       repo);
    if (strcmp(format, "sha1") != 0)
        return err_set(e, -EINVAL, "source.object_format", "repo",
                       "%s has %s object ids, which this version does not support; use a "
                       "repository with SHA-1 ids",
                       repo, format);
    return 0;
}

int git_check_repo(const char *repo, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    struct git_call c = GIT_CALL_IN(repo);
    int status = 0;
    int rc = check_folder(repo, e);

    if (rc == 0)
        rc = git_call(&c,
                      GIT_ARGS("rev-parse", "--is-bare-repository", "--is-inside-work-tree",
                               "--is-shallow-repository", "--show-object-format"),
                      &status, &out, &errout, e);
    if (rc < 0)
        return rc;
    if (status != 0)
        return err_set(e, -EINVAL, "source.not_a_repository", "repo",
                       "git does not take %s for a repository that it may read: %s", repo,
                       git_complaint(&errout));
    buf_putc(&out, '\n');
    rc = refuse_by_answers(repo, out.data, e);
    if (rc == 0 && is_partial(&c))
        return err_set(e, -EINVAL, "source.partial", "repo",
                       "%s is a partial clone and lacks objects; measure from a full clone", repo);
    return rc;
}

/* ---- revisions */

static bool is_hex(const char *s, size_t len)
{
    return len > 0 && strspn(s, "0123456789abcdefABCDEF") >= len;
}

static int unresolved(const char *repo, const char *rev, struct err *e)
{
    return err_set(e, -ENOENT, "source.unresolved", "rev",
                   "%s names no commit in %s; see git branch, git tag and git log", rev, repo);
}

static int ambiguous(const char *rev, const char *why, struct err *e)
{
    return err_set(e, -EINVAL, "source.ambiguous", "rev", "%s is ambiguous: %s; name the full id",
                   rev, why);
}

static int check_spelling(const char *rev, struct err *e)
{
    bool printable = rev[0] != '\0' && rev[0] != '-' && strlen(rev) <= 256;

    for (const char *p = rev; *p; p++)
        printable = printable && (unsigned char)*p >= 0x20 && *p != 0x7f;
    if (printable)
        return 0;
    return err_set(e, -EINVAL, "source.unresolved", "rev",
                   "a revision is 1 to 256 printable characters and does not begin with a dash; "
                   "name a branch, a tag or a commit id");
}

/* The name at the front of a revision: "v1.2" of "v1.2^{commit}~3"; malloc'd. */
static char *base_name(const char *rev)
{
    const char *end = rev + strcspn(rev, "^~:");
    const char *at = strstr(rev, "@{");

    if (at && at < end)
        end = at;
    return mem_printf("%.*s", (int)(end - rev), rev);
}

/* In how many of the places where git looks for a name there is a reference. */
static int count_refs(const struct git_call *c, const char *name)
{
    static const char *const places[] = {"refs/%s", "refs/tags/%s", "refs/heads/%s",
                                         "refs/remotes/%s", "refs/remotes/%s/HEAD"};
    int count = strncmp(name, "refs/", 5) == 0 || strcmp(name, "HEAD") == 0;

    for (size_t i = 0; name[0] && i < ARRAY_LEN(places); i++) {
        const char *slot = strstr(places[i], "%s");
        CLEANUP(mem_freep)
        char *ref = mem_printf("%.*s%s%s", (int)(slot - places[i]), places[i], name, slot + 2);
        count += git_call_asks(c, GIT_ARGS("show-ref", "--verify", "--quiet", ref));
    }
    return count;
}

/* How many objects have an id that begins with prefix. */
static int count_objects(const struct git_call *c, const char *prefix)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(mem_freep) char *option = mem_printf("--disambiguate=%s", prefix);
    int status = 0, lines = 0;

    if (git_call(c, GIT_ARGS("rev-parse", option), &status, &out, NULL, NULL) < 0 || status != 0)
        return 0;
    for (size_t i = 0; i < out.len; i++)
        lines += out.data[i] == '\n';
    return lines;
}

static int check_ambiguity(const struct git_call *c, const char *rev, struct err *e)
{
    CLEANUP(mem_freep) char *base = base_name(rev);
    size_t len = strlen(base);
    int refs = count_refs(c, base);
    bool reads_like_id = len >= 4 && len <= GIT_ID_LEN && is_hex(base, len);

    if (refs > 1)
        return ambiguous(rev, "more than one branch, tag or remote has that name", e);
    if (refs == 1 && reads_like_id && (len == GIT_ID_LEN || count_objects(c, base) > 0))
        return ambiguous(rev, "a branch or tag has the name of a commit id", e);
    return 0;
}

int git_resolve(const char *repo, const char *rev, char id[GIT_ID_LEN + 1], struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(mem_freep) char *commit = mem_printf("%s^{commit}", rev);
    struct git_call c = GIT_CALL_IN(repo);
    int status = 0;
    int rc = check_spelling(rev, e);

    if (rc == 0)
        rc = check_ambiguity(&c, rev, e);
    if (rc == 0)
        rc = git_call(&c, GIT_ARGS("rev-parse", "--verify", "--quiet", commit), &status, &out, NULL,
                      e);
    if (rc < 0)
        return rc;
    const char *line = git_first_line(&out);
    if (status == 0 && strlen(line) == GIT_ID_LEN && is_hex(line, GIT_ID_LEN)) {
        memcpy(id, line, GIT_ID_LEN + 1);
        return 0;
    }
    CLEANUP(mem_freep) char *base = base_name(rev);
    if (is_hex(base, strlen(base)) && count_objects(&c, base) > 1)
        return ambiguous(rev, "several commits have an id that begins so", e);
    return unresolved(repo, rev, e);
}

/* The full name of the reference that rev is, "" when it is an expression or an id; malloc'd. */
static char *ref_of(const struct git_call *c, const char *rev)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int status = 0;

    if (git_call(c, GIT_ARGS("rev-parse", "--symbolic-full-name", rev), &status, &out, NULL, NULL) <
            0 ||
        status != 0)
        return mem_strdup("");
    return mem_strdup(git_first_line(&out));
}

int git_names_checkout(const char *repo, const char *rev, bool *yes, struct err *e)
{
    struct git_call c = GIT_CALL_IN(repo);
    int rc = check_spelling(rev, e);

    if (rc < 0)
        return rc;
    CLEANUP(mem_freep) char *head = ref_of(&c, "HEAD");
    CLEANUP(mem_freep) char *named = ref_of(&c, rev);
    *yes = named[0] && strcmp(head, named) == 0;
    return 0;
}

/* ---- the checkout */

/* Programs that the configuration names for file contents; git would run them to compare. */
static int find_filters(const struct git_call *c, struct git_names *filters, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int status = 0;
    int rc = git_call(c,
                      GIT_ARGS("config", "-z", "--name-only", "--get-regexp",
                               "^filter\\..*\\.(clean|smudge|process|required)$"),
                      &status, &out, NULL, e);

    for (size_t i = 0; rc == 0 && i < out.len; i += strlen(out.data + i) + 1)
        git_names_add(filters, mem_strdup(out.data + i));
    return rc;
}

static int refuse_dirty(const char *repo, const struct buf *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf list = {0};
    size_t files = 0, shown = 0;

    for (size_t i = 0; i + 3 < out->len; i += strlen(out->data + i) + 1, files++) {
        if (files >= DIRTY_SHOWN || list.len > 300)
            continue;
        git_list_name(&list, out->data + i + 3);
        shown++;
    }
    if (files == 0)
        return 0;
    if (shown < files)
        buf_printf(&list, " and %zu more", files - shown);
    return err_set(e, -EINVAL, "source.dirty", "rev",
                   "%s has changes that no commit holds; commit, stash or ignore them, or name a "
                   "commit id: %s",
                   repo, buf_str(&list));
}

int git_head_clean(const char *repo, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(git_names_deinit) struct git_names filters = {0};
    struct git_call c = GIT_CALL_IN(repo);
    int rc = find_filters(&c, &filters, e);

    c.mute = &filters;
    if (rc == 0)
        rc = git_call_must(&c,
                           GIT_ARGS("status", "--porcelain=v1", "-z", "--untracked-files=normal",
                                    "--ignore-submodules=all", "--no-renames"),
                           &out, "source.not_a_repository", e);
    return rc < 0 ? rc : refuse_dirty(repo, &out, e);
}
