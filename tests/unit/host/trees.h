/* Copies of the host trees under tests/fixtures/hosts, to be edited by a test. */
#pragma once

#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "host/probe.h"
#include "host/proc_parse.h"
#include "unit/unit.h"

/* A fresh copy of a named tree; the path is malloc'd, tree_drop removes it. */
static inline char *tree_copy(const char *name)
{
    CLEANUP(mem_freep) char *folder = unit_folder();
    const char *fixtures = getenv("AURABENCH_FIXTURES");
    assert_non_null(fixtures);
    CLEANUP(mem_freep) char *from = mem_printf("%s/hosts/%s", fixtures, name);
    const char *const argv[] = {"cp", "-a", from, folder, NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    int status = -1;
    req.argv = argv;
    assert_int_equal(spawn_run(&req, &status, NULL, NULL, NULL), 0);
    assert_int_equal(status, 0);
    return mem_printf("%s/%s", folder, name);
}

static inline void tree_drop(char *tree)
{
    *strrchr(tree, '/') = '\0';
    assert_int_equal(file_rmtree(tree, NULL), 0);
    free(tree);
}

/* Puts text into a file of the tree; NULL removes the file or folder. */
static inline void tree_write(const char *tree, const char *path, const char *text)
{
    CLEANUP(mem_freep) char *full = file_join(tree, path);
    assert_true(file_exists(full) || text);
    assert_int_equal(file_rmtree(full, NULL), 0);
    if (text)
        assert_int_equal(file_write(full, text, strlen(text), 0644, NULL), 0);
}

static inline void tree_link(const char *tree, const char *path, const char *target)
{
    CLEANUP(mem_freep) char *full = file_join(tree, path);
    assert_int_equal(file_rmtree(full, NULL), 0);
    assert_int_equal(symlink(target, full), 0);
}

/* The line of totals in /proc/stat moves on by so many ticks. */
static inline void tree_pass_time(const char *tree, int64_t busy, int64_t idle, int64_t steal)
{
    CLEANUP(mem_freep) char *full = file_join(tree, "proc/stat");
    struct buf b = {0};
    long long v[8];
    assert_int_equal(file_read(full, 1 << 20, &b, NULL), 0);
    assert_int_equal(sscanf(buf_str(&b), "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &v[0],
                            &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]),
                     8);
    CLEANUP(mem_freep)
    char *text = mem_printf("cpu  %lld %lld %lld %lld %lld %lld %lld %lld 0 0%s",
                            v[0] + (long long)busy, v[1], v[2], v[3] + (long long)idle, v[4], v[5],
                            v[6], v[7] + (long long)steal, strchr(buf_str(&b), '\n'));
    assert_int_equal(file_write(full, text, strlen(text), 0644, NULL), 0);
    buf_deinit(&b);
}
