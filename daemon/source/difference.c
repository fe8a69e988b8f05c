#include "source/difference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SHOWN_LINE 80
#define SHOWN_PATH 200

/* ---- reading a diff: its changes, each with its place in the base */

struct cursor {
    const char *at;   /* the next line */
    const char *line; /* the change under it; NULL: none is left */
    const char *hunk; /* the header it stands under; NULL: in the head of the diff */
    long old_line;    /* of the next line of the base; 0 in the head */
};

static bool starts_with(const char *line, const char *prefix)
{
    return strncmp(line, prefix, strlen(prefix)) == 0;
}

/* Lines of a diff's head that say only which file and which contents. */
static bool is_label(const char *line)
{
    return starts_with(line, "diff --git ") || starts_with(line, "index ") ||
           starts_with(line, "--- ") || starts_with(line, "+++ ");
}

/* Takes in one line; true when it is a change. */
static bool take_line(struct cursor *c, const char *line)
{
    if (starts_with(line, "@@ -")) {
        c->hunk = line;
        c->old_line = strtol(line + 4, NULL, 10);
        return false;
    }
    if (c->hunk && (*line == ' ' || *line == '-'))
        c->old_line++;
    if (c->hunk && strchr(" +-\\", *line))
        return *line != ' ';
    c->hunk = NULL;
    c->old_line = 0;
    return *line != '\n' && !is_label(line);
}

static void advance(struct cursor *c)
{
    c->line = NULL;
    while (*c->at && !c->line) {
        const char *line = c->at;
        c->at += strcspn(line, "\n");
        c->at += *c->at == '\n';
        if (take_line(c, line))
            c->line = line;
    }
}

static bool same_change(const struct cursor *a, const struct cursor *b)
{
    size_t len = strcspn(a->line, "\n");

    return a->old_line == b->old_line && strcspn(b->line, "\n") == len &&
           memcmp(a->line, b->line, len) == 0;
}

bool difference_find(const char *corrected, const char *allowed, struct difference_at *out)
{
    struct cursor made = {.at = corrected}, may = {.at = allowed};

    for (;;) {
        advance(&made);
        advance(&may);
        if (!made.line && !may.line)
            return false;
        if (!made.line || !may.line || !same_change(&made, &may))
            break;
    }
    /* The one that comes first in the file is what the other lacks. */
    out->is_allowed = !made.line || (may.line && may.old_line < made.old_line);
    out->hunk = out->is_allowed ? may.hunk : made.hunk;
    out->line = out->is_allowed ? may.line : made.line;
    return true;
}

/* ---- asking git */

static int first_path(const struct difference *d, struct buf *path, struct err *e)
{
    CLEANUP(buf_deinit) struct buf list = {0};
    int rc = source_git_must(d->g,
                             SOURCE_ARGS("diff-tree", "-r", "-z", "--name-only", "--no-renames",
                                         d->allowed, d->corrected),
                             &list, "source.store_failed", e);

    if (rc == 0)
        buf_puts(path, buf_str(&list)); /* up to the first NUL */
    return rc;
}

static int diff_of(const struct difference *d, const char *tree, const char *path, struct buf *out,
                   struct err *e)
{
    int rc = source_git_must(
        d->g,
        SOURCE_ARGS("--literal-pathspecs", "diff-tree", "-r", "-p", "--full-index", "--binary",
                    "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "-U3",
                    "--inter-hunk-context=0", "--diff-algorithm=myers", "--no-indent-heuristic",
                    "--src-prefix=a/", "--dst-prefix=b/", d->base, tree, "--", path),
        out, "source.store_failed", e);

    for (size_t i = 0; i < out->len; i++) /* in a file that git takes for text for its begin */
        if (!out->data[i])
            out->data[i] = '?';
    return rc;
}

/* A line, or the header of a hunk up to its second "@@", made fit for a sentence. */
static void show(struct buf *out, const char *line, bool header)
{
    size_t len = strcspn(line, "\r\n");
    const char *end = header ? strstr(line + 2, "@@") : NULL;

    if (end && (size_t)(end - line) < len)
        len = (size_t)(end - line) + 2;
    CLEANUP(mem_freep)
    char *text = mem_printf("%.*s", (int)(len > SHOWN_LINE ? SHOWN_LINE : len), line);
    source_show_path(out, text);
}

static int say(const struct difference *d, const char *path, const struct difference_at *at,
               struct err *e)
{
    CLEANUP(buf_deinit) struct buf name = {0}, hunk = {0}, line = {0};

    source_show_path(&name, path);
    if (at->hunk)
        show(&hunk, at->hunk, true);
    show(&line, at->line, false);
    return err_set(
        e, -EINVAL, "source.correction_differs", d->field,
        "the corrected commit is not its base with exactly the allowed diff: in %.*s, "
        "%s, %s has \"%s\", %s does not; commit exactly that diff, or have the diff that "
        "is there allowed",
        SHOWN_PATH, name.data, at->hunk ? buf_str(&hunk) : "before its first hunk",
        at->is_allowed ? "the allowed diff" : "the commit", buf_str(&line),
        at->is_allowed ? "the commit" : "the allowed diff");
}

int difference_refuse(const struct difference *d, struct err *e)
{
    CLEANUP(buf_deinit) struct buf path = {0}, corrected = {0}, allowed = {0};
    struct difference_at at = {.line = "another content"};
    int rc = first_path(d, &path, e);

    if (rc == 0)
        rc = diff_of(d, d->corrected, buf_str(&path), &corrected, e);
    if (rc == 0)
        rc = diff_of(d, d->allowed, buf_str(&path), &allowed, e);
    if (rc < 0)
        return rc;
    (void)difference_find(buf_str(&corrected), buf_str(&allowed), &at);
    return say(d, buf_str(&path), &at, e);
}
