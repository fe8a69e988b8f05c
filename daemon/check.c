#include "daemon/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/disk.h"
#include "base/files.h"
#include "base/mem.h"
#include "evidence/check.h"
#include "evidence/evidence.h"
#include "report/text.h"
#include "store/upkeep.h"

#define NAMED_MAX 20 /* of one kind of leftovers, or of damaged folders */

struct names {
    char **items;
    size_t n, cap;
};

struct checking {
    const char *state;
    struct store *store; /* NULL: it could not be opened */
    struct names sealed; /* ids of the folders that the database knows */
    size_t n_bad;
    bool failed;
};

static void names_deinit(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i]);
    free(names->items);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void say(struct checking *c, const char *status, const char *what, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static void say(struct checking *c, const char *status, const char *what, const char *fmt, ...)
{
    CLEANUP(buf_deinit) struct buf text = {0}, line = {0};
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    buf_printf(&line, "%s  %-10s  ", status, what);
    text_clean(&line, buf_str(&text), 0); /* names of files are in it */
    (void)puts(buf_str(&line));
    c->failed = c->failed || strcmp(status, "FAIL") == 0;
}

/* The sentence, and what is asked of the person after it where the sentence has none. */
static void say_err(struct checking *c, const char *what, const struct err *e, const char *mend)
{
    size_t len = strlen(e->text);

    say(c, "FAIL", what, "%.*s%s", (int)(len && e->text[len - 1] == '.' ? len - 1 : len), e->text,
        mend);
}

/* ---- the folder */

static void check_folder(struct checking *c)
{
    struct stat st;

    if (stat(c->state, &st) < 0)
        say(c, "FAIL", "folder", "%s: %s", c->state, strerror(errno));
    else if (st.st_mode & (S_IWGRP | S_IWOTH))
        say(c, "FAIL", "folder", "others than its owner may write into %s: say `chmod go-w`",
            c->state);
    else
        say(c, "PASS", "folder", "%s belongs to user %lu alone, %.1f GiB free", c->state,
            (unsigned long)st.st_uid, (double)disk_free_bytes(c->state) / (1 << 30));
}

static void check_key(struct checking *c)
{
    CLEANUP(mem_freep) char *path = file_join(c->state, "host.key");
    struct stat st;

    if (lstat(path, &st) < 0)
        say(c, "NOTE", "key", "there is no host.key; the next start makes a new one");
    else if (!S_ISREG(st.st_mode) || (st.st_mode & 077))
        say(c, "FAIL", "key",
            "others could have read or changed %s: make it yours with mode 0600 if nobody has, "
            "else move it away",
            path);
    else
        say(c, "PASS", "key", "host.key is its owner's alone");
}

/* ---- the database */

static void on_fault(void *ctx, const char *text)
{
    say(ctx, "FAIL", "pages", "%s", text);
}

static void check_pages(struct checking *c)
{
    struct err e = {0};
    int n = 0;

    int rc = store_audit(c->store, on_fault, c, &n, &e);
    if (rc < 0)
        say_err(c, "pages", &e, "");
    else if (n > 0)
        say(c, "FAIL", "pages", "restore aurabench.db from a backup");
    else
        say(c, "PASS", "pages", "pages, indexes, references and counts hold together");
}

static void check_database(struct checking *c)
{
    CLEANUP(mem_freep) char *path = file_join(c->state, "aurabench.db");
    struct err e = {0};
    int pending = 0;

    if (!file_exists(path)) {
        say(c, "FAIL", "database", "there is no %s: restore it from a backup", path);
        return;
    }
    if (store_open_read(path, &c->store, &pending, &e) < 0) {
        say_err(c, "database", &e, "");
        return;
    }
    say(c, "PASS", "database", "%s is one of aurabench, and this program knows its migrations",
        path);
    if (pending > 0)
        say(c, "NOTE", "database", "the next start applies %d migrations; back it up before",
            pending);
    check_pages(c);
}

/* ---- evidence */

static int on_sealed(void *ctx, const struct store_sealed *s)
{
    struct checking *c = ctx;
    CLEANUP(mem_freep) char *here = mem_printf("%s/evidence/%s", c->state, s->id);
    const struct evidence_expected expected = {s->raw_sha256, s->summary_sha256, s->sums_sha256};
    struct err e = {0};

    MEM_GROW(c->sealed.items, c->sealed.n, c->sealed.cap);
    c->sealed.items[c->sealed.n++] = mem_strdup(s->id);
    /* It was sealed elsewhere when the state folder was moved, or it was moved away. */
    if (evidence_check(file_exists(here) ? here : s->evidence, &expected, &e) == 0)
        return 0;
    if (++c->n_bad <= NAMED_MAX)
        say_err(c, "evidence", &e, "; restore the folder from a copy");
    return 0;
}

static void check_evidence(struct checking *c)
{
    struct err e = {0};

    if (store_each_sealed(c->store, on_sealed, c, &e) < 0)
        say_err(c, "evidence", &e, "");
    else if (c->n_bad > NAMED_MAX)
        say(c, "FAIL", "evidence", "and %zu more folders", c->n_bad - NAMED_MAX);
    else if (c->n_bad == 0)
        say(c, "PASS", "evidence", "%zu sealed folders are there and as they were sealed",
            c->sealed.n);
    if (c->sealed.n)
        qsort(c->sealed.items, c->sealed.n, sizeof *c->sealed.items, by_bytes);
}

static int on_suite(void *ctx, const char *sha256)
{
    struct checking *c = ctx;
    CLEANUP(mem_freep) char *path = mem_printf("%s/suites/%s", c->state, sha256);

    if (!file_exists(path))
        say(c, "FAIL", "suites",
            "a job that waits needs suite %.12s, which is not there: restore suites/ from a copy, "
            "or submit the job again",
            sha256);
    return 0;
}

static void check_suites(struct checking *c)
{
    struct err e = {0};

    if (store_each_needed_suite(c->store, on_suite, c, &e) < 0)
        say_err(c, "suites", &e, "");
}

/* ---- leftovers: of a daemon that went down */

typedef bool (*is_left_fn)(const struct checking *c, const char *name);

static bool is_any(const struct checking *c, const char *name)
{
    return c && name[0];
}

static bool is_new(const struct checking *c, const char *name)
{
    return c && strcmp(name, ".new") == 0;
}

static bool is_temporary(const struct checking *c, const char *name)
{
    return c && strstr(name, ".tmp.") != NULL;
}

static bool is_new_git(const struct checking *c, const char *name)
{
    return c && strcmp(name, "store.git.new") == 0;
}

static bool is_partial(const struct checking *c, const char *name)
{
    return c && strncmp(name, EVIDENCE_PARTIAL, strlen(EVIDENCE_PARTIAL)) == 0;
}

static bool is_unknown(const struct checking *c, const char *name)
{
    return c->store && name[0] != '.' &&
           !(c->sealed.n &&
             bsearch(&name, c->sealed.items, c->sealed.n, sizeof *c->sealed.items, by_bytes));
}

static const struct {
    const char *folder; /* below the state folder */
    is_left_fn is_left;
    const char *what; /* how it comes to be there, and who deals with it */
} LEFTOVERS[] = {
    {".", is_temporary, "was being written; you may remove it"},
    {"evidence", is_partial, "was being sealed; the next start removes it"},
    {"evidence", is_unknown, "is no report that the database knows"},
    {"uploads", is_any, "had not arrived whole; the next start removes it"},
    {"work", is_any, "is of an attempt that did not end; the next start removes it"},
    {"trash", is_any, "was about to be removed; the next start removes it"},
    {"suites", is_new, "was being taken in; the next start removes it"},
    {"repos", is_new_git, "was being made; the next start removes it"},
    {"repos/store.git/objects/incoming", is_any, "was being taken in; the next start removes it"},
};

static void check_leftovers_of(struct checking *c, size_t i)
{
    CLEANUP(mem_freep) char *path = file_join(c->state, LEFTOVERS[i].folder);
    const struct dirent *entry;
    DIR *d = opendir(path);
    size_t n = 0;

    while (d && (entry = readdir(d))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || !LEFTOVERS[i].is_left(c, name))
            continue;
        if (++n <= NAMED_MAX)
            say(c, "NOTE", "leftover", "%s/%s %s", LEFTOVERS[i].folder, name, LEFTOVERS[i].what);
    }
    if (n > NAMED_MAX)
        say(c, "NOTE", "leftover", "and %zu more in %s", n - NAMED_MAX, LEFTOVERS[i].folder);
    if (d)
        (void)closedir(d);
}

/* ---- the whole */

/* Keeps a daemon from starting meanwhile. Where there is no lock, none ever ran. */
static int take_lock(const char *state, int *fd, struct err *e)
{
    CLEANUP(mem_freep) char *path = file_join(state, "lock");

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (*fd < 0 && errno == ENOENT)
        return 0;
    if (*fd < 0)
        return err_sys(e, -errno, "open", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    return err_set(e, -errno, "daemon.state_locked", "--state",
                   "an aurabenchd uses %s: stop it first, or check a copy (aurabench backup)",
                   state);
}

int check_run(const char *state_dir, struct err *e)
{
    struct checking c = {.state = state_dir};
    CLEANUP(mem_closep) int lock = -1;
    struct stat st;

    if (stat(state_dir, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(e, -ENOENT, "daemon.no_state", "--state",
                       "there is no folder %s: name the state folder with --state", state_dir);
    int rc = take_lock(state_dir, &lock, e);
    if (rc < 0)
        return rc;
    check_folder(&c);
    check_key(&c);
    check_database(&c);
    if (c.store) {
        check_evidence(&c);
        check_suites(&c);
    }
    for (size_t i = 0; i < ARRAY_LEN(LEFTOVERS); i++)
        check_leftovers_of(&c, i);
    store_close(c.store);
    names_deinit(&c.sealed);
    return c.failed ? 1 : 0;
}
