/* The daemon's side of git: lists of trees, heads of bundles, diffs that are compared, corrections
 * that are proven; and the reading of what git says of them, whatever it says. Nothing is proven by
 * answers that do not agree.
 *
 * Input: a byte of which question, then git's answers (fuzz_spawn.h); for a bundle its own bytes
 * come first, behind their length. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "fuzz/fuzz_spawn.h"
#include "source/correction.h"
#include "source/difference.h"

#define BASE "0123456789abcdef0123456789abcdef01234567"
#define CORRECTED "fedcba9876543210fedcba9876543210fedcba98"

static struct fuzz_in in;
static struct source_store *store;
static char folder[4096], checkout[4128]; /* the store's, and one made from it */

/* ---- a store, once for all inputs */

static void remove_folder(void)
{
    source_store_free(store);
    (void)file_rmtree(folder, NULL);
}

static void make_store(void)
{
    const char *tmp = getenv("TMPDIR");
    struct err e = {0};

    (void)snprintf(folder, sizeof folder, "%s/aurabench-fuzz-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    MUST(mkdtemp(folder));
    (void)snprintf(checkout, sizeof checkout, "%s/checkout", folder);
    (void)atexit(remove_folder);
    MUST(source_store_new(folder, &store, &e) == 0, "%s", e.text);
    CLEANUP(mem_freep) char *objects = file_join(store->git_dir, "objects/pack");
    MUST(file_mkdirs(objects, 0700, &e) == 0, "%s", e.text);
}

/* ---- a checkout, as far as git would have made it */

static bool asks_for(const struct spawn_req *req, const char *word)
{
    for (size_t i = 0; req->argv[i]; i++)
        if (strcmp(req->argv[i], word) == 0)
            return true;
    return false;
}

static void make_checkout(const struct spawn_req *req)
{
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    CLEANUP(mem_freep) char *info = file_join(checkout, ".git/objects/info");
    CLEANUP(mem_freep) char *big = file_join(checkout, "big.bin");

    if (asks_for(req, "init") && asks_for(req, checkout))
        MUST(file_mkdirs(info, 0700, NULL) == 0);
    if (asks_for(req, "read-tree") && req->cwd)
        MUST(file_write(big, pointer, sizeof pointer - 1, 0644, NULL) == 0);
}

int fuzz_spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
                   struct err *e)
{
    make_checkout(req);
    return fuzz_spawn_take(&in, req, status, out, errout, e);
}

/* ---- questions */

static void try_tree(void)
{
    struct source_tree tree = {0};
    struct err e = {0};
    size_t files = 0;

    if (fuzz_accepted(source_tree_list(store, BASE, &tree, &e), &e)) {
        for (size_t at = 0; at < tree.paths.len; at += strlen(tree.paths.data + at) + 1)
            files++;
        MUST(files == tree.files);
    }
    source_tree_deinit(&tree);
}

static void try_commits(void)
{
    static const char *const ids[] = {BASE, CORRECTED};
    struct arena a = {0};
    bool missing[2];
    const char **tips = NULL;
    size_t n = 0;
    struct err e = {0}, why = {0};

    MUST(source_missing(store, ids, 2, missing, &e) == 0, "%s", e.text);
    if (fuzz_accepted(source_tips(store, &a, 16, &tips, &n, &why), &why))
        for (size_t i = 0; i < n; i++)
            MUST(strlen(tips[i]) <= SOURCE_ID_LEN);
    arena_deinit(&a);
}

static void try_bundle(void)
{
    static const char *const ids[] = {BASE};
    CLEANUP(mem_freep) char *path = file_join(source_uploads_dir(store), "bundle");
    size_t len = (size_t)fuzz_number(&in, 2);
    struct err e = {0};

    len = len < in.left ? len : in.left;
    MUST(file_write(path, len ? (const char *)in.at : "", len, 0600, &e) == 0, "%s", e.text);
    in.at += len;
    in.left -= len;
    (void)fuzz_accepted(source_import_bundle(store, path, ids, 1, &e), &e);
}

/* Both texts are the input's; what is named is a line of the one that is said to have it. */
static void try_difference(void)
{
    size_t half = in.left / 2;
    struct fuzz_in first = {in.at, half}, second = {in.at + half, in.left - half};
    CLEANUP(mem_freep) char *made = fuzz_text(&first);
    CLEANUP(mem_freep) char *may = fuzz_text(&second);
    struct difference_at at = {0};

    MUST(!difference_find(made, made, &at));
    if (!difference_find(made, may, &at))
        return;
    const char *from = at.is_allowed ? may : made;
    size_t len = strlen(from);
    MUST(at.line >= from && at.line < from + len);
    MUST(at.line == from || at.line[-1] == '\n');
    MUST(!at.hunk || (at.hunk >= from && at.hunk < at.line && strncmp(at.hunk, "@@ -", 4) == 0));
    fuzz_count_good();
}

static void try_refusal(void)
{
    const struct source_git g = SOURCE_GIT(folder);
    const struct difference d = {&g, BASE, CORRECTED, BASE, "sources.after.correction"};
    struct err e = {0};

    fuzz_refused(difference_refuse(&d, &e), &e);
}

static void try_correction(void)
{
    struct job_correction c = {.base = "main",
                               .base_commit = BASE,
                               .diff = "diff --git a/x b/x\n",
                               .approved_by = "A",
                               .reason = "r"};
    const struct job_source s = {
        .side = "after", .repo = "/", .rev = "fix", .commit = CORRECTED, .correction = &c};
    struct arena a = {0};
    struct raw_correction out = {0};
    struct err e = {0};

    bool proven = fuzz_accepted(source_prove_correction(store, &a, &s, &out, &e), &e);
    MUST(out.proven == proven);
    arena_deinit(&a);
}

static void try_checkout(void)
{
    struct arena a = {0};
    struct raw_source out = {0};
    struct err e = {0};

    if (fuzz_accepted(source_checkout(store, &a, BASE, checkout, &out, &e), &e))
        MUST(strcmp(out.commit, out.head) == 0 && out.tree_sha256 && out.path_bytes > 0);
    (void)file_rmtree(checkout, NULL);
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(void) = {try_tree,    try_commits,    try_bundle,  try_difference,
                                          try_refusal, try_correction, try_checkout};

    if (!store)
        make_store();
    in = (struct fuzz_in){data, size};
    tries[fuzz_below(&in, ARRAY_LEN(tries))]();
    return 0;
}
