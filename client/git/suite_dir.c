#include "client/git/suite_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/evidence/pack.h"

/* ---- finding */

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The absolute folder when it has suite.json, else NULL; malloc'd. */
static char *as_suite(const char *dir)
{
    CLEANUP(mem_freep) char *json = file_join(dir, "suite.json");

    return is_file(json) ? realpath(dir, NULL) : NULL;
}

static char *by_path(const char *arg)
{
    size_t len = strlen(arg), tail = strlen("suite.json");
    bool names_json = len >= tail && strcmp(arg + len - tail, "suite.json") == 0 &&
                      (len == tail || arg[len - tail - 1] == '/');

    if (names_json && is_file(arg)) {
        CLEANUP(mem_freep)
        char *dir = len == tail ? mem_strdup(".") : mem_printf("%.*s", (int)(len - tail), arg);
        return as_suite(dir);
    }
    return as_suite(arg);
}

/* Tries base/name; adds what was tried to the sentence. */
static char *try_in(const char *base, const char *name, struct buf *tried)
{
    CLEANUP(mem_freep) char *dir = file_join(base, name);

    buf_printf(tried, ", %s", dir);
    return as_suite(dir);
}

static char *in_list(const char *list, const char *name, struct buf *tried)
{
    char *found = NULL;

    while (list && !found) {
        size_t len = strcspn(list, ":");
        CLEANUP(mem_freep) char *base = mem_printf("%.*s", (int)len, list);
        if (len)
            found = try_in(base, name, tried);
        list = list[len] ? list + len + 1 : NULL;
    }
    return found;
}

char *program_folder(const char *exe)
{
    char own[PATH_MAX];

    if (!exe) {
        ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
        if (n <= 0)
            return NULL;
        own[n] = '\0';
        exe = own;
    }
    const char *slash = strrchr(exe, '/');
    return slash ? mem_printf("%.*s", (int)(slash - exe), exe) : NULL;
}

static char *beside_program(const char *exe, const char *name, struct buf *tried)
{
    static const char *const places[] = {"../share/aurabench/workloads", "../workloads",
                                         "../../workloads"};
    CLEANUP(mem_freep) char *folder = program_folder(exe);
    char *found = NULL;

    for (size_t i = 0; folder && !found && i < ARRAY_LEN(places); i++) {
        CLEANUP(mem_freep) char *base = file_join(folder, places[i]);
        found = try_in(base, name, tried);
    }
    return found;
}

int suite_dir_find(const char *arg, const char *workloads, const char *exe, char **dir,
                   struct err *e)
{
    CLEANUP(buf_deinit) struct buf tried = {0};

    *dir = arg[0] ? by_path(arg) : NULL;
    if (!*dir && file_path_is_inside(arg) && !strchr(arg, '/')) {
        *dir = in_list(workloads, arg, &tried);
        if (!*dir)
            *dir = beside_program(exe, arg, &tried);
    }
    if (*dir)
        return 0;
    return err_set(e, -ENOENT, "suite.not_found", "suite",
                   "there is no suite %s; name a folder that has a suite.json, or set "
                   "AURABENCH_WORKLOADS to the folder of your suites (sought: %s%s)",
                   arg, arg, buf_str(&tried));
}

/* ---- packing */

struct folder {
    const char *dir;
    struct pack_entry *entries;
    size_t n, cap;
    size_t bytes;
    struct err *e;
};

static void folder_deinit(struct folder *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free((void *)f->entries[i].path);
        free((void *)f->entries[i].data);
    }
    free(f->entries);
}

static bool is_left_out(const char *path)
{
    size_t len = strlen(path);

    for (const char *part = path; part;) {
        size_t n = strcspn(part, "/");
        if ((n == 4 && memcmp(part, ".git", n) == 0) ||
            (n == 11 && memcmp(part, "__pycache__", n) == 0))
            return true;
        part = part[n] ? part + n + 1 : NULL;
    }
    return len > 4 && strcmp(path + len - 4, ".pyc") == 0;
}

static int add_file(struct folder *f, const char *path, bool executable)
{
    CLEANUP(mem_freep) char *full = file_join(f->dir, path);
    CLEANUP(buf_deinit) struct buf data = {0};
    int rc = file_read(full, PACK_BYTES_MAX - f->bytes, &data, f->e);

    if (rc < 0)
        return rc;
    f->bytes += data.len;
    MEM_GROW(f->entries, f->n, f->cap);
    struct pack_entry *entry = &f->entries[f->n++];
    entry->path = mem_strdup(path);
    entry->executable = executable;
    entry->len = data.len;
    entry->data = buf_take(&data);
    return 0;
}

static int visit(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct folder *f = ctx;

    if (is_left_out(path) || kind == FILE_FOLDER)
        return 0;
    int rc = pack_check_path(path, f->e); /* first: the sentences below show the path */
    if (rc < 0)
        return rc;
    if (kind == FILE_LINK)
        return err_set(f->e, -EINVAL, "suite.link", path,
                       "the suite cannot contain links; replace it by the file it names: %s", path);
    if (kind != FILE_REGULAR)
        return err_set(f->e, -EINVAL, "suite.special_file", path,
                       "the suite can only contain plain files; remove this one: %s", path);
    if (f->n == PACK_FILES_MAX)
        return err_set(f->e, -EFBIG, "suite.too_large", "suite",
                       "the suite folder has more than %d files; keep what is built or fetched "
                       "outside of it",
                       PACK_FILES_MAX);
    if ((size_t)bytes > PACK_BYTES_MAX - f->bytes)
        return err_set(f->e, -EFBIG, "suite.too_large", path,
                       "the suite folder is larger than %zu MiB; keep what is built or fetched "
                       "outside of it (the last file seen: %s)",
                       PACK_BYTES_MAX >> 20, path);
    return add_file(f, path, mode & S_IXUSR);
}

int suite_dir_pack(const char *dir, struct suite_pack *out, struct err *e)
{
    CLEANUP(mem_freep) char *json = file_join(dir, "suite.json");
    CLEANUP(folder_deinit) struct folder f = {.dir = dir, .e = e};

    if (!is_file(json))
        return err_set(e, -ENOENT, "suite.not_found", "suite",
                       "%s has no suite.json; name the folder of a suite", dir);
    int rc = file_walk(dir, visit, &f, e);
    if (rc == 0)
        rc = pack_write(f.entries, f.n, &out->bytes, e);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < f.n; i++)
        if (strcmp(f.entries[i].path, "suite.json") == 0)
            buf_add(&out->json, f.entries[i].data, f.entries[i].len);
    out->files = f.n;
    digest_bytes(out->bytes.data, out->bytes.len, out->sha256);
    return 0;
}

void suite_pack_deinit(struct suite_pack *p)
{
    buf_deinit(&p->bytes);
    buf_deinit(&p->json);
    *p = (struct suite_pack){0};
}
