/* A temporary folder with git repositories for one test. Everything in it, strings included, ends
 * with sandbox_teardown. Paths are absolute unless said otherwise; failures fail the test.
 *
 * The environment of the test is set so that no configuration of the machine is read: HOME and
 * XDG_CONFIG_HOME lie in the sandbox.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"

struct sandbox {
    char *dir;
    struct arena a;
    struct err e;
};

int sandbox_setup(void **state);
int sandbox_teardown(void **state);

#define SANDBOX_TEST(fn) cmocka_unit_test_setup_teardown(fn, sandbox_setup, sandbox_teardown)

const char *sandbox_path(struct sandbox *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a file (with its folders) and returns its path. */
const char *sandbox_write(struct sandbox *s, const char *path, const char *text);
const char *sandbox_read(struct sandbox *s, const char *path);
/* An executable script that makes the file `trace` when it runs. */
const char *sandbox_tripwire(struct sandbox *s, const char *path, const char *trace);
/* Runs git in the folder (relative to the sandbox, or absolute); its output without the last
 * newline. It must succeed. */
const char *sandbox_git(struct sandbox *s, const char *repo, ...) __attribute__((sentinel));
int sandbox_git_status(struct sandbox *s, const char *repo, ...) __attribute__((sentinel));
/* A new repository on branch main with one committed file; its path. */
const char *sandbox_repo(struct sandbox *s, const char *name);
/* Commits all that is there; the full id. */
const char *sandbox_commit(struct sandbox *s, const char *repo);
/* The names in a folder, sorted, joined by blanks. */
const char *sandbox_list(struct sandbox *s, const char *dir);

#define assert_code(s, rc, expected)                                                               \
    do {                                                                                           \
        assert_int_not_equal((rc), 0);                                                             \
        assert_string_equal((s)->e.code, (expected));                                              \
        assert_true((s)->e.text[0] != '\0');                                                       \
        err_clear(&(s)->e);                                                                        \
    } while (0)

/* Shows the sentence when it fails. */
#define assert_ok(s, rc)                                                                           \
    do {                                                                                           \
        int rc_ = (rc);                                                                            \
        if (rc_ != 0)                                                                              \
            print_error("%d %s %s\n", rc_, (s)->e.code, (s)->e.text);                              \
        assert_int_equal(rc_, 0);                                                                  \
    } while (0)
