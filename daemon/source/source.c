#include "source/source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"
#include "source/internal.h"

#define REFS "refs/aurabench/commits"

/* ---- the store's folders */

/* git's list of borrowed object folders is one path a line. */
static int check_state_path(const char *path, struct err *e)
{
    for (const char *p = path; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return err_set(e, -EINVAL, "source.state_path", "state",
                           "the path of the state folder contains control characters; choose "
                           "another folder with --state");
    return 0;
}

struct locks {
    const char *dir;
    struct err *e;
};

static int remove_lock(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    const struct locks *l = ctx;
    CLEANUP(mem_freep) char *full = file_join(l->dir, path);
    size_t len = strlen(path);

    (void)mode;
    (void)bytes;
    if (kind != FILE_REGULAR || len < 5 || strcmp(path + len - 5, ".lock") != 0)
        return 0;
    return file_rmtree(full, l->e);
}

/* A git that was killed leaves its locks, and every later one would wait for them in vain. */
static int clear_locks(const struct source_store *s, struct err *e)
{
    static const char *const names[] = {"HEAD.lock", "config.lock", "packed-refs.lock"};
    CLEANUP(mem_freep) char *refs = file_join(s->git_dir, "refs");
    struct locks locks = {refs, e};
    int rc = file_exists(refs) ? file_walk(refs, remove_lock, &locks, e) : 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(names); i++) {
        CLEANUP(mem_freep) char *path = file_join(s->git_dir, names[i]);
        rc = file_rmtree(path, e);
    }
    return rc;
}

/* What an interrupted run left: nobody waits for it any more. */
static int clear_leftovers(const struct source_store *s, struct err *e)
{
    CLEANUP(mem_freep) char *incoming = file_join(s->git_dir, "objects/incoming");
    CLEANUP(mem_freep) char *new_git = mem_printf("%s.new", s->git_dir);
    CLEANUP(mem_freep) char *new_suite = file_join(s->suites, ".new");
    const char *const paths[] = {s->uploads, incoming, new_git, new_suite};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(paths); i++)
        rc = file_rmtree(paths[i], e);
    return rc == 0 ? clear_locks(s, e) : rc;
}

int source_store_new(const char *state_dir, struct source_store **out, struct err *e)
{
    CLEANUP(mem_freep) char *state = realpath(state_dir, NULL);
    CLEANUP(mem_freep) char *repos = state ? file_join(state, "repos") : NULL;
    struct source_store *s;

    *out = NULL;
    if (!state)
        return err_sys(e, -errno, "open", state_dir);
    int rc = check_state_path(state, e);
    if (rc < 0)
        return rc;
    s = mem_alloc(sizeof *s);
    s->git_dir = file_join(repos, "store.git");
    s->suites = file_join(state, "suites");
    s->uploads = file_join(state, "uploads");
    rc = clear_leftovers(s, e);
    const char *const folders[] = {repos, s->suites, s->uploads};
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(folders); i++)
        rc = file_mkdirs(folders[i], 0700, e);
    if (rc < 0) {
        source_store_free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void source_store_free(struct source_store *s)
{
    if (!s)
        return;
    free(s->git_dir);
    free(s->suites);
    free(s->uploads);
    free(s);
}

const char *source_uploads_dir(const struct source_store *s)
{
    return s->uploads;
}

/* Settings for whoever calls git in there by hand; our own calls bring theirs. */
static int write_settings(const char *git_dir, struct err *e)
{
    static const char *const settings[][2] = {{"gc.auto", "0"},
                                              {"maintenance.auto", "false"},
                                              {"transfer.fsckObjects", "true"},
                                              {"core.hooksPath", "/dev/null"}};
    const struct source_git g = SOURCE_GIT(git_dir);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(settings); i++)
        rc = source_git_must(&g, SOURCE_ARGS("config", settings[i][0], settings[i][1]), NULL,
                             "source.store_failed", e);
    return rc;
}

int source_store_ready(struct source_store *s, struct err *e)
{
    CLEANUP(mem_freep) char *fresh = mem_printf("%s.new", s->git_dir);
    const struct source_git g = SOURCE_GIT(fresh);

    if (file_exists(s->git_dir))
        return 0;
    int rc = source_git_must(
        &g, SOURCE_ARGS("init", "--quiet", "--bare", "--template=", "--object-format=sha1"), NULL,
        "source.store_failed", e);
    if (rc == 0)
        rc = write_settings(fresh, e);
    FAULT_POINT("import.store_made");
    return rc == 0 ? file_rename(fresh, s->git_dir, e) : rc;
}

/* ---- commits */

bool source_id_valid(const char *id)
{
    return id && strlen(id) == SOURCE_ID_LEN && strspn(id, "0123456789abcdef") == SOURCE_ID_LEN;
}

int source_check_id(const char *id, struct err *e)
{
    if (source_id_valid(id))
        return 0;
    return err_set(e, -EINVAL, "source.bad_id", "commit",
                   "%.60s is no full commit id: 40 lower-case hex digits", id ? id : "null");
}

/* Only what a reference reaches is known to be complete: that an object is there says little. */
bool source_has_commit(struct source_store *s, const char *id)
{
    const struct source_git g = SOURCE_GIT(s->git_dir);
    CLEANUP(buf_deinit) struct buf out = {0};
    char ref[sizeof REFS + 1 + SOURCE_ID_LEN];
    int status = 0;

    if (!source_id_valid(id) || !file_exists(s->git_dir))
        return false;
    (void)snprintf(ref, sizeof ref, "%s/%s", REFS, id);
    if (source_git_asks(&g, SOURCE_ARGS("show-ref", "--verify", "--quiet", ref)))
        return true;
    int rc = source_git(&g, SOURCE_ARGS("for-each-ref", "--count=1", "--contains", id, REFS),
                        &status, &out, NULL, NULL);
    return rc == 0 && status == 0 && out.len > 0;
}

int source_missing(struct source_store *s, const char *const *ids, size_t n, bool *missing,
                   struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        int rc = source_check_id(ids[i], e);
        if (rc < 0)
            return rc;
        missing[i] = !source_has_commit(s, ids[i]);
    }
    return 0;
}

int source_tips(struct source_store *s, struct arena *a, size_t max, const char ***ids, size_t *n,
                struct err *e)
{
    const struct source_git g = SOURCE_GIT(s->git_dir);
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(mem_freep) char *count = mem_printf("--count=%zu", max);

    *ids = NULL;
    *n = 0;
    if (max == 0 || !file_exists(s->git_dir))
        return 0;
    int rc = source_git_must(
        &g,
        SOURCE_ARGS("for-each-ref", count, "--sort=-committerdate", "--format=%(objectname)", REFS),
        &out, "source.store_failed", e);
    if (rc < 0)
        return rc;
    *ids = arena_array(a, out.len / (SOURCE_ID_LEN + 1), sizeof **ids);
    for (size_t at = 0; at + SOURCE_ID_LEN < out.len; at += SOURCE_ID_LEN + 1)
        (*ids)[(*n)++] = arena_strndup(a, out.data + at, SOURCE_ID_LEN);
    return 0;
}

int source_pin(struct source_store *s, const char *const *commits, size_t n, struct err *e)
{
    CLEANUP(buf_deinit) struct buf in = {0};
    struct source_git g = SOURCE_GIT(s->git_dir);

    for (size_t i = 0; i < n; i++) {
        bool again = false; /* git refuses to update a reference twice at once */
        for (size_t k = 0; k < i; k++)
            again = again || strcmp(commits[k], commits[i]) == 0;
        if (!again)
            buf_printf(&in, "update %s/%s %s\n", REFS, commits[i], commits[i]);
    }
    g.input = buf_str(&in);
    g.input_len = in.len;
    return source_git_must(&g, SOURCE_ARGS("update-ref", "--stdin"), NULL, "source.store_failed",
                           e);
}
