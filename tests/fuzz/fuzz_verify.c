/* `verify` over an evidence folder that somebody changed: with the host's key every change shows,
 * whatever it is; without the key nothing that is found makes the checks stumble. And session.json
 * of a session's folder, which names other files.
 *
 * Input: the first byte says which. For a folder: changes, one after the other (a file, what is
 * done to it, where, a line of new bytes); a change may also bring the checksums up to date, as
 * somebody would who means it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/ids.h"
#include "client/verify/verify.h"
#include "client/verify/verify_session.h"
#include "evidence/evidence.h"
#include "fuzz/fuzz_spawn.h"
#include "proto/doc/doc_evidence.h"
#include "unit/report/sample.h"

int fuzz_file_write_all(int fd, const void *data, size_t len);
void fuzz_clock_sleep_ns(int64_t ns);

#define FILES_MAX 32
#define CHANGES_MAX 8

struct file {
    char *name, *path;
    struct buf sealed, now;
    enum { AS_IT_IS, IS_GONE, IS_LINK } kind;
};

/* Sealed once; each input puts back what it changed. */
static struct {
    char folder[4096];
    char *dir; /* the evidence */
    char key[KEY_HEX];
    struct file files[FILES_MAX];
    size_t n;
} evidence;

/* No command that is asked here gets an answer from a program. */
int fuzz_spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
                   struct err *e)
{
    (void)status, (void)out, (void)errout;
    return err_sys(e, -ENOENT, "run", req->argv[0]);
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

/* ---- the sealed folder */

static void remove_folder(void)
{
    for (size_t i = 0; i < evidence.n; i++) {
        free(evidence.files[i].name);
        free(evidence.files[i].path);
        buf_deinit(&evidence.files[i].sealed);
    }
    free(evidence.dir);
    (void)file_rmtree(evidence.folder, NULL);
}

static char *put(const char *name, const char *text)
{
    char *path = file_join(evidence.folder, name);
    struct err e = {0};

    MUST(file_write(path, text, strlen(text), 0644, &e) == 0, "%s", e.text);
    return path;
}

static int remember(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct err e = {0};

    (void)ctx, (void)mode, (void)bytes;
    if (kind != FILE_REGULAR)
        return 0;
    MUST(evidence.n < FILES_MAX);
    struct file *f = &evidence.files[evidence.n++];
    f->name = mem_strdup(path);
    f->path = file_join(evidence.dir, path);
    MUST(file_read(f->path, 1 << 22, &f->sealed, &e) == 0, "%s", e.text);
    MUST(chmod(f->path, 0644) == 0);
    return 0;
}

static void seal(struct raw *raw, const struct key *key)
{
    struct arena a = {0};
    CLEANUP(mem_freep) char *suite = file_join(evidence.folder, "suite");
    MUST(mkdir(suite, 0755) == 0);
    free(put("suite/suite.json", "{}"));
    CLEANUP(mem_freep) char *log = put("log", "cc ok\n");
    const struct evidence_log logs[] = {{"build-before-0.txt", log}};
    struct evidence_input in = {.root = evidence.folder,
                                .name = SAMPLE_ID,
                                .raw = raw,
                                .summary = summarise(&a, raw),
                                .report_markdown = "# report\n",
                                .suite_dir = suite,
                                .logs = logs,
                                .n_logs = 1,
                                .key = key};
    struct buf initial = {0};
    struct err e = {0};

    MUST(evidence_initial_sums(&in, &initial, &e) == 0, "%s", e.text);
    in.initial_sums = buf_str(&initial);
    MUST(evidence_seal(&in, NULL, &e) == 0, "%s", e.text);
    buf_deinit(&initial);
    arena_deinit(&a);
}

static void make_evidence(void)
{
    const char *tmp = getenv("TMPDIR");
    struct arena a = {0};
    struct raw *raw = sample_run(&a);
    struct key *key = NULL;
    struct err e = {0};

    (void)snprintf(evidence.folder, sizeof evidence.folder, "%s/aurabench-fuzz-XXXXXX",
                   tmp && tmp[0] ? tmp : "/tmp");
    MUST(mkdtemp(evidence.folder));
    (void)atexit(remove_folder);
    CLEANUP(mem_freep) char *private = file_join(evidence.folder, "key");
    CLEANUP(mem_freep) char *public = file_join(evidence.folder, "key.pub");
    MUST(key_load(private, public, &key, &e) == 0, "%s", e.text);
    memcpy(evidence.key, key_public(key), KEY_HEX);
    raw->host_key = evidence.key;
    raw->plan.n = raw->n_observations = 4; /* a few show the same as many */
    seal(raw, key);
    key_free(key);
    arena_deinit(&a);
    evidence.dir = file_join(evidence.folder, SAMPLE_ID);
    MUST(file_walk(evidence.dir, remember, NULL, &e) == 0, "%s", e.text);
}

/* ---- changes */

/* Quicker than file_write, which waits for the disk. */
static void write_file(const char *path, const struct buf *b)
{
    FILE *f = fopen(path, "w");

    MUST(f && fwrite(buf_str(b), 1, b->len, f) == b->len && fclose(f) == 0, "%s", path);
}

static struct file *find_file(const char *name)
{
    for (size_t i = 0; i < evidence.n; i++)
        if (strcmp(evidence.files[i].name, name) == 0)
            return &evidence.files[i];
    MUST(false, "%s", name);
    return NULL;
}

/* Bytes of the line over those at a place, behind them, or in their place. */
static void edit(struct fuzz_in *in, struct file *f)
{
    uint8_t how = fuzz_byte(in);
    size_t at = (size_t)fuzz_number(in, 2) % (f->now.len + 1);
    CLEANUP(mem_freep) char *line = fuzz_line(in);
    CLEANUP(buf_deinit) struct buf rest = {0};
    size_t n = strlen(line), skip = how % 3 == 0 ? n : how % 3 == 1 ? 0 : n + how / 8;

    if (how % 8 == 7) {
        buf_clear(&f->now);
        buf_add(&f->now, line, n);
        return;
    }
    if (at + skip < f->now.len)
        buf_add(&rest, f->now.data + at + skip, f->now.len - at - skip);
    f->now.len = at;
    buf_add(&f->now, line, n);
    buf_add(&f->now, buf_str(&rest), rest.len);
}

static void mend_sums(void)
{
    struct buf sums = {0};

    for (size_t i = 0; i < evidence.n; i++) {
        const struct file *f = &evidence.files[i];
        char hex[DIGEST_HEX];
        if (strncmp(f->name, MANIFEST_NAME, strlen(MANIFEST_NAME)) == 0 || f->kind == IS_GONE)
            continue;
        digest_bytes(buf_str(&f->now), f->now.len, hex);
        MUST(manifest_line(&sums, f->name, hex, NULL) == 0);
    }
    struct file *f = find_file(MANIFEST_NAME);
    buf_clear(&f->now);
    buf_add(&f->now, sums.data, sums.len);
    buf_deinit(&sums);
}

/* True when the checksums were brought up to date. */
static bool take_changes(struct fuzz_in *in)
{
    bool mend = fuzz_byte(in) & 1;

    for (size_t i = 0; i < evidence.n; i++) {
        struct file *f = &evidence.files[i];
        f->kind = AS_IT_IS;
        buf_clear(&f->now);
        buf_add(&f->now, f->sealed.data, f->sealed.len);
    }
    for (size_t i = 0; in->left && i < CHANGES_MAX; i++) {
        struct file *f = &evidence.files[fuzz_below(in, evidence.n)];
        uint8_t what = fuzz_byte(in);
        if (what < 240)
            edit(in, f);
        else
            f->kind = what < 250 ? IS_GONE : IS_LINK;
    }
    if (mend)
        mend_sums();
    return mend;
}

static bool is_changed(const struct file *f)
{
    return f->kind != AS_IT_IS || f->now.len != f->sealed.len ||
           memcmp(buf_str(&f->now), buf_str(&f->sealed), f->now.len) != 0;
}

/* On the disk; the number of files that are not as they were sealed. */
static size_t apply_changes(void)
{
    size_t changed = 0;

    for (size_t i = 0; i < evidence.n; i++) {
        struct file *f = &evidence.files[i];
        if (!is_changed(f))
            continue;
        changed++;
        if (f->kind == AS_IT_IS)
            write_file(f->path, &f->now);
        else
            MUST(unlink(f->path) == 0 &&
                 (f->kind == IS_GONE || symlink("/etc/hostname", f->path) == 0));
    }
    return changed;
}

static void undo_changes(void)
{
    for (size_t i = 0; i < evidence.n; i++) {
        struct file *f = &evidence.files[i];
        if (is_changed(f)) {
            (void)unlink(f->path);
            write_file(f->path, &f->sealed);
        }
        buf_deinit(&f->now);
    }
}

/* ---- the verification, as `aurabench verify` runs it */

static bool has_failed(const struct verify *v, const char *check)
{
    for (size_t i = 0; i < v->n_lines; i++)
        if (strcmp(v->lines[i].check, check) == 0 && v->lines[i].status == TRI_FAIL)
            return true;
    return false;
}

/* What stands between a folder and the key: the other checks judge the sample, not the change. */
static bool is_caught(const struct verify *v)
{
    static const char *const checks[] = {"sums", "files", "signature", "maker"};

    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (has_failed(v, checks[i]))
            return true;
    return false;
}

static void run_checks(struct verify *v)
{
    struct err e = {0};

    MUST(verify_load(v, &e) == 0, "%s", e.text);
    verify_sums(v);
    verify_signature(v);
    verify_documents(v);
    verify_report(v);
    verify_suite(v);
    verify_profiles(v);
    verify_corrections(v);
    MUST(v->n_lines > 0);
    for (size_t i = 0; i < v->n_lines; i++)
        MUST(v->lines[i].text && v->lines[i].status <= TRI_UNKNOWN, "%s", v->lines[i].check);
}

static void try_folder(struct fuzz_in *in)
{
    struct verify with_key, without;

    if (!evidence.dir)
        make_evidence();
    bool mended = take_changes(in);
    size_t changed = apply_changes();
    verify_init(&with_key, evidence.dir);
    with_key.key = evidence.key;
    run_checks(&with_key);
    MUST(is_caught(&with_key) == (changed > 0), "%zu files changed", changed);
    if (with_key.raw)
        fuzz_count_good();
    verify_deinit(&with_key);
    if (mended) {
        verify_init(&without, evidence.dir);
        without.ignore_signature = true;
        run_checks(&without);
        verify_deinit(&without);
    }
    undo_changes();
}

static void try_session(const char *data, size_t len)
{
    struct arena a = {0};
    char *text = arena_strndup(&a, data, len);
    const struct verify_text t = {text, len};
    const struct verify_session *s = verify_session_read(&a, &t);

    MUST(s->read == !err_is_set(&s->err));
    if (s->read)
        fuzz_count_good();
    else
        fuzz_refused(-EINVAL, &s->err);
    for (size_t i = 0; i < s->n_reports; i++) {
        MUST(ulid_valid(s->reports[i].attempt) && s->reports[i].job, "%s", s->reports[i].attempt);
        MUST(verify_session_find(s, s->reports[i].attempt) == &s->reports[i]);
    }
    MUST(verify_session_has(s, "page.md") && !verify_session_has(s, "reports/../raw.json"));
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};

    if (fuzz_byte(&in) & 1)
        try_session((const char *)in.at, in.left);
    else
        try_folder(&in);
    return 0;
}
