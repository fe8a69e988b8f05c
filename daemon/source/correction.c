#include "source/correction.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "source/difference.h"
#include "source/internal.h"

#define FAILED "source.store_failed"
#define SHORT_ID 12

struct proof {
    struct source_store *store;
    const char *base, *corrected; /* full ids */
    const char *diff;
    const char *field;
    char *dir;           /* the repository that is gone afterwards */
    struct source_git g; /* in it */
    char applied[65];    /* tree of the base with the diff */
    char tree[65];       /* of the corrected commit */
};

/* ---- what must be there */

static int check_here(struct proof *p, struct err *e)
{
    const char *const ids[] = {p->base, p->corrected};

    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        int rc = source_check_id(ids[i], e);
        if (rc < 0)
            return rc;
        if (!source_has_commit(p->store, ids[i]))
            return err_set(e, -ENOENT, "source.not_here", p->field,
                           "commit %s is not in the daemon's store; submit the job again", ids[i]);
    }
    return 0;
}

/* One line of git's answer. */
static int ask_line(struct proof *p, const char *const *args, char *line, size_t size,
                    struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    int rc = source_git_must(&p->g, args, &out, FAILED, e);
    size_t len = strcspn(buf_str(&out), "\n");

    if (rc < 0)
        return rc;
    if (len >= size)
        return err_set(e, -EPROTO, FAILED, p->field, "git %s answered in an unknown form", args[0]);
    memcpy(line, buf_str(&out), len);
    line[len] = '\0';
    return 0;
}

/* Nothing may stand between the two, and no other history come in. */
static int check_parent(struct proof *p, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    CLEANUP(mem_freep) char *parents = mem_printf("%s^@", p->corrected);
    CLEANUP(mem_freep) char *wanted = mem_printf("%s\n", p->base);
    int rc = source_git_must(&p->g, SOURCE_ARGS("rev-parse", parents), &out, FAILED, e);

    if (rc < 0 || strcmp(buf_str(&out), wanted) == 0)
        return rc;
    return err_set(e, -EINVAL, "source.correction_parent", p->field,
                   "the base %.*s is not the one parent of the corrected commit %.*s; commit the "
                   "allowed diff once, directly on top of the base",
                   SHORT_ID, p->base, SHORT_ID, p->corrected);
}

/* ---- the base with the diff */

static int make_scratch(struct proof *p, struct err *e)
{
    CLEANUP(mem_freep) char *line = mem_printf("%s/objects\n", p->store->git_dir);

    if (!mkdtemp(p->dir))
        return err_sys(e, -errno, "create folder", p->dir);
    p->g.git_dir = p->dir;
    CLEANUP(mem_freep) char *alternates = file_join(p->dir, "objects/info/alternates");
    int rc = source_git_must(
        &p->g, SOURCE_ARGS("init", "--quiet", "--bare", "--template=", "--object-format=sha1"),
        NULL, FAILED, e);
    return rc == 0 ? file_write(alternates, line, strlen(line), 0600, e) : rc;
}

/* git's own first line names the file: "error: patch failed: src/x.c:3". */
static int refuse_unapplied(const struct proof *p, const struct buf *errout, struct err *e)
{
    CLEANUP(buf_deinit) struct buf shown = {0};
    CLEANUP(mem_freep)
    char *line = mem_printf("%.*s", (int)strcspn(buf_str(errout), "\n"), buf_str(errout));
    const char *why = line;

    if (strncmp(why, "error: ", 7) == 0 || strncmp(why, "fatal: ", 7) == 0)
        why += 7;
    source_show_path(&shown, *why ? why : "git did not say why");
    return err_set(e, -EINVAL, "source.correction_unapplied", p->field,
                   "the allowed diff does not apply to the base %.*s (%.300s); make it with git "
                   "diff --binary BASE COMMIT",
                   SHORT_ID, p->base, shown.data);
}

static int apply(struct proof *p, struct err *e)
{
    CLEANUP(buf_deinit) struct buf out = {0}, errout = {0};
    struct source_git g = p->g;
    int status = 0;
    int rc = source_git_must(&p->g, SOURCE_ARGS("read-tree", p->base), NULL, FAILED, e);

    if (rc < 0)
        return rc;
    g.input = p->diff;
    g.input_len = strlen(p->diff);
    rc = source_git(&g, SOURCE_ARGS("apply", "--cached", "--whitespace=nowarn", "-p1", "-"),
                    &status, &out, &errout, e);
    if (rc == 0 && status != 0)
        rc = source_git_disk(&g, &errout, e);
    return rc == 0 && status != 0 ? refuse_unapplied(p, &errout, e) : rc;
}

static int compare(struct proof *p, struct err *e)
{
    CLEANUP(mem_freep) char *tree = mem_printf("%s^{tree}", p->corrected);
    int rc = ask_line(p, SOURCE_ARGS("write-tree"), p->applied, sizeof p->applied, e);

    if (rc == 0)
        rc = ask_line(p, SOURCE_ARGS("rev-parse", "--verify", tree), p->tree, sizeof p->tree, e);
    if (rc < 0 || strcmp(p->applied, p->tree) == 0)
        return rc;
    const struct difference d = {.g = &p->g,
                                 .base = p->base,
                                 .corrected = p->tree,
                                 .allowed = p->applied,
                                 .field = p->field};
    return difference_refuse(&d, e);
}

/* ---- what it amounts to */

/* "added TAB removed TAB path" a file; "-" for both of a binary one. */
static int count_changes(struct proof *p, struct raw_correction *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf list = {0};
    int rc = source_git_must(
        &p->g, SOURCE_ARGS("diff-tree", "-r", "--numstat", "--no-renames", p->base, p->tree), &list,
        FAILED, e);

    for (const char *line = buf_str(&list); rc == 0 && *line;) {
        char *end = NULL;
        out->files++;
        out->lines_added += strtol(line, &end, 10);
        out->lines_removed += *end == '\t' ? strtol(end + 1, NULL, 10) : 0;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return rc;
}

static int prove(struct proof *p, struct raw_correction *out, struct err *e)
{
    int rc = check_here(p, e);

    if (rc == 0)
        rc = make_scratch(p, e);
    if (rc == 0)
        rc = check_parent(p, e);
    if (rc == 0)
        rc = apply(p, e);
    if (rc == 0)
        rc = compare(p, e);
    return rc == 0 ? count_changes(p, out, e) : rc;
}

int source_prove_correction(struct source_store *s, struct arena *a,
                            const struct job_source *source, struct raw_correction *out,
                            struct err *e)
{
    const struct job_correction *c = source->correction;
    CLEANUP(mem_freep) char *dir = file_join(s->uploads, "correction-XXXXXX");
    char sha256[DIGEST_HEX];
    struct proof p = {.store = s,
                      .base = c->base_commit,
                      .corrected = source->commit,
                      .diff = c->diff,
                      .field = arena_printf(a, "sources.%s.correction", source->side),
                      .dir = dir,
                      .g = SOURCE_GIT(NULL)};

    digest_bytes(c->diff, strlen(c->diff), sha256);
    *out = (struct raw_correction){.base_commit = c->base_commit,
                                   .corrected = source->commit,
                                   .diff_sha256 = arena_strdup(a, sha256),
                                   .approved_by = c->approved_by,
                                   .reason = c->reason};
    int rc = prove(&p, out, e);
    if (p.g.git_dir && file_rmtree(dir, rc == 0 ? e : NULL) < 0 && rc == 0)
        rc = -EIO;
    out->proven = rc == 0;
    return rc;
}
