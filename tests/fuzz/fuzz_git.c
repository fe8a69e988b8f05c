/* What the client makes of git's output, whatever it is: a full id or a refusal, names of files
 * that can be shown, nothing read past the end. Input: a byte of which question, then git's
 * answers (fuzz_spawn.h). */
#include <string.h>

#include "client/git/git.h"
#include "client/verify/verify.h"
#include "fuzz/fuzz_spawn.h"

#define ID "0123456789abcdef0123456789abcdef01234567"

int fuzz_file_write_all(int fd, const void *data, size_t len);
void fuzz_clock_sleep_ns(int64_t ns);

static struct fuzz_in in;

int fuzz_spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
                   struct err *e)
{
    return fuzz_spawn_take(&in, req, status, out, errout, e);
}

static void try_repo(void)
{
    struct err e = {0};

    (void)fuzz_accepted(git_check_repo("/", &e), &e);
}

static void try_resolve(const char *rev)
{
    char id[GIT_ID_LEN + 1] = "";
    struct err e = {0};

    if (fuzz_accepted(git_resolve("/", rev, id, &e), &e))
        MUST(strlen(id) == GIT_ID_LEN && strspn(id, "0123456789abcdefABCDEF") == GIT_ID_LEN, "%s",
             id);
}

static void try_checkout(void)
{
    struct err e = {0}, why = {0};
    bool yes = false;

    (void)fuzz_accepted(git_names_checkout("/", "main", &yes, &e), &e);
    (void)fuzz_accepted(git_head_clean("/", &why), &why);
}

static void try_commit(void)
{
    struct err e = {0};

    (void)fuzz_accepted(git_check_commit("/", ID, &e), &e);
}

static void try_covers(void)
{
    static const char *paths[] = {"src", NULL};
    static struct raw_source source = {.side = "after", .commit = ID};
    const struct raw raw = {.sources = &source, .n_sources = 1};
    const struct verify_covers covers = {"main", "/", {paths, 1}};
    struct verify v;

    verify_init(&v, "/");
    v.raw = &raw;
    verify_covers(&v, &covers);
    MUST(v.n_lines == 1 && strcmp(v.lines[0].check, "covers") == 0);
    MUST(v.lines[0].status == TRI_PASS || v.lines[0].status == TRI_FAIL);
    if (v.lines[0].status == TRI_PASS)
        fuzz_count_good();
    verify_deinit(&v);
}

/* Into a folder that is not there: what is asked before the bundle is written. */
static void try_bundle(void)
{
    static const char *const ids[] = {ID, "fedcba9876543210fedcba9876543210fedcba98"};
    struct err e = {0};

    (void)fuzz_accepted(git_bundle("/", ids, 1, ids + 1, 1, "/nonexistent/bundle", &e), &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    in = (struct fuzz_in){data, size};
    switch (fuzz_below(&in, 7)) {
    case 0:
        try_repo();
        break;
    case 1:
        try_resolve("v1.2~3");
        break;
    case 2:
        try_resolve("deadbeef");
        break;
    case 3:
        try_checkout();
        break;
    case 4:
        try_commit();
        break;
    case 5:
        try_covers();
        break;
    default:
        try_bundle();
    }
    return 0;
}

int fuzz_file_write_all(int fd, const void *data, size_t len)
{
    (void)fd, (void)data, (void)len;
    return 0;
}

void fuzz_clock_sleep_ns(int64_t ns)
{
    (void)ns;
}
