#include "client/job/correction.h"

#include <errno.h>
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/git/git.h"
#include "proto/json/json_text.h"

#define FIELD_DIFF "correction.diff"

/* ---- the diff */

static int bad_diff(const char *path, const char *what, struct err *e)
{
    return err_set(e, -EINVAL, "source.correction_diff", FIELD_DIFF, "%.300s %s", path, what);
}

/* JSON carries text: neither NUL nor what is not UTF-8. */
static bool is_text(const struct buf *b)
{
    const unsigned char *p = (const unsigned char *)b->data;

    for (size_t left = b->len, n; left; p += n, left -= n) {
        n = json_utf8_len(p, left);
        if (n == 0 || *p == '\0')
            return false;
    }
    return true;
}

static int read_diff(struct cli *cli, struct job_correction *c, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const char *path = c->diff;
    char sha256[DIGEST_HEX];
    struct err why = {0};
    int rc = file_read(path, JOB_DIFF_MAX, &text, &why);

    if (rc == -EFBIG)
        return bad_diff(path,
                        "has more than 65536 bytes: too many for a correction; have the change "
                        "reviewed and measure its commit as it is",
                        e);
    if (rc < 0)
        return err_set(e, rc, why.code, FIELD_DIFF, "%s", why.text);
    if (!text.len)
        return bad_diff(path, "is empty; leave the correction out, or name the allowed diff", e);
    if (!is_text(&text))
        return bad_diff(path,
                        "is no UTF-8 text; make it with git diff --binary, with \"-diff\" in "
                        ".git/info/attributes for files in another encoding",
                        e);
    digest_bytes(text.data, text.len, sha256);
    c->diff = arena_strdup(&cli->a, buf_str(&text));
    c->diff_sha256 = arena_strdup(&cli->a, sha256);
    return 0;
}

int correction_resolve(struct cli *cli, const char *repo, struct job_correction *c, struct err *e)
{
    char id[GIT_ID_LEN + 1];
    struct err why = {0};
    int rc = git_resolve(repo, c->base, id, &why);

    if (rc < 0)
        return err_set(e, rc, why.code, "correction.base", "%s", why.text);
    c->base_commit = arena_strdup(&cli->a, id);
    return read_diff(cli, c, e);
}

/* ---- options */

static int lacks(const char *option, const char *what, struct err *e)
{
    return err_set(e, -EINVAL, "usage", option,
                   "a corrected commit needs %s: %s; together they are --before-base or "
                   "--after-base, --allowed-diff, --approved-by and --reason",
                   what, option);
}

int correction_opts_apply(struct cli *cli, const struct correction_opts *o,
                          struct job_source sources[2], struct err *e)
{
    const char *const bases[] = {o->before_base, o->after_base};

    if (!o->before_base && !o->after_base && !o->diff && !o->approved_by && !o->reason)
        return 0;
    if (!o->before_base && !o->after_base)
        return lacks("--before-base", "the commit that was corrected", e);
    if (!o->diff)
        return lacks("--allowed-diff", "the file with the diff that was allowed", e);
    if (!o->approved_by || !*o->approved_by)
        return lacks("--approved-by", "the name of who allowed it", e);
    if (!o->reason || !*o->reason)
        return lacks("--reason", "why it was allowed", e);
    for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
        if (!bases[i])
            continue;
        struct job_correction *c = arena_alloc(&cli->a, sizeof *c);
        *c = (struct job_correction){
            .base = bases[i], .diff = o->diff, .approved_by = o->approved_by, .reason = o->reason};
        sources[i].correction = c;
    }
    return 0;
}
