/* What the tests of evidence share: files in a folder of their own, and the real checksum tools. */
#pragma once

#include "../unit.h"
#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"

/* Writes the file, with the folders above it. */
static inline void folder_put(const char *dir, const char *name, const char *text)
{
    CLEANUP(mem_freep) char *path = file_join(dir, name);
    CLEANUP(mem_freep) char *parent = mem_strdup(path);
    struct err e = {0};
    *strrchr(parent, '/') = '\0';
    if (file_mkdirs(parent, 0755, &e) || file_write(path, text, strlen(text), 0644, &e))
        fail_msg("%s", e.text);
}

static inline char *folder_get(const char *dir, const char *name)
{
    CLEANUP(mem_freep) char *path = file_join(dir, name);
    struct buf text = {0};
    struct err e = {0};
    if (file_read(path, 1 << 22, &text, &e))
        fail_msg("%s", e.text);
    return buf_take(&text);
}

static inline bool folder_has(const char *dir, const char *name)
{
    CLEANUP(mem_freep) char *path = file_join(dir, name);
    return file_exists(path);
}

static inline void folder_remove(char *dir)
{
    assert_int_equal(file_rmtree(dir, NULL), 0);
    free(dir);
}

/* The exit status of the program run in dir; -1 when the machine has no such program. */
static inline int folder_run(const char *dir, const char *const *argv, struct buf *out)
{
    struct spawn_req req = SPAWN_REQ_INIT;
    struct err e = {0};
    int status = -1;
    req.argv = argv;
    req.cwd = dir;
    int rc = spawn_run(&req, &status, out, out, &e);
    return rc || status == 127 ? -1 : status;
}

static inline void folder_expect_sums_pass(const char *dir)
{
    static const char *const gnu[] = {"sha256sum", "--strict", "-c", "SHA256SUMS", NULL};
    static const char *const perl[] = {"shasum", "-a", "256", "-c", "SHA256SUMS", NULL};
    CLEANUP(buf_deinit) struct buf out = {0};
    int by_gnu = folder_run(dir, gnu, &out), by_perl = folder_run(dir, perl, &out);
    if (by_gnu < 0 && by_perl < 0)
        skip();
    if (by_gnu > 0 || by_perl > 0)
        fail_msg("%s", buf_str(&out));
}
