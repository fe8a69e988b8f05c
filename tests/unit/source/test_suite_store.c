/* Suites in the daemon's store: taken only as what they are called, copied, hashed again. */
#include "sandbox.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/git/suite_dir.h"
#include "proto/evidence/pack.h"
#include "source/source.h"

static void free_store(struct source_store **store)
{
    source_store_free(*store);
}

#define STORE CLEANUP(free_store) struct source_store *

static struct source_store *open_store(struct sandbox *s)
{
    struct source_store *store = NULL;

    assert_ok(s, file_mkdirs(sandbox_path(s, "state"), 0755, &s->e));
    assert_ok(s, source_store_new(sandbox_path(s, "state"), &store, &s->e));
    return store;
}

/* Packs a small suite into the file "pack"; its identity. */
static const char *make_pack(struct sandbox *s)
{
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};

    sandbox_write(s, sandbox_path(s, "suite/suite.json"), "{}\n");
    sandbox_write(s, sandbox_path(s, "suite/bin/run"), "#!/bin/sh\n");
    sandbox_write(s, sandbox_path(s, "suite/bin/empty"), "");
    assert_int_equal(chmod(sandbox_path(s, "suite/bin/run"), 0755), 0);
    assert_ok(s, suite_dir_pack(sandbox_path(s, "suite"), &pack, &s->e));
    assert_ok(s, file_write(sandbox_path(s, "pack"), pack.bytes.data, pack.bytes.len, 0600, &s->e));
    return arena_strdup(&s->a, pack.sha256);
}

static unsigned mode_of(const char *path)
{
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 0777;
}

static void an_imported_suite_is_kept_read_only_under_its_hash(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *sha = make_pack(s);

    assert_false(source_has_suite(store, sha));
    assert_null(source_suite_path(store, &s->a, sha));
    assert_ok(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e));
    assert_ok(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e));
    assert_true(source_has_suite(store, sha));
    const char *dir = source_suite_path(store, &s->a, sha);
    assert_string_equal(dir, sandbox_path(s, "state/suites/%s", sha));
    assert_string_equal(sandbox_read(s, arena_printf(&s->a, "%s/bin/run", dir)), "#!/bin/sh\n");
    assert_int_equal(mode_of(dir), 0555);
    assert_int_equal(mode_of(arena_printf(&s->a, "%s/bin", dir)), 0555);
    assert_int_equal(mode_of(arena_printf(&s->a, "%s/bin/run", dir)), 0555);
    assert_int_equal(mode_of(arena_printf(&s->a, "%s/suite.json", dir)), 0444);
    assert_string_equal(sandbox_list(s, sandbox_path(s, "state/suites")), sha);
}

static void a_suite_under_a_wrong_name_is_refused(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *const names[] = {"0123456789012345678901234567890123456789012345678901234567890123",
                                 "../../etc", ""};

    make_pack(s);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_code(s, source_import_suite(store, sandbox_path(s, "pack"), names[i], &s->e),
                    "suite.hash_mismatch");
        assert_false(source_has_suite(store, names[i]));
    }
    assert_string_equal(sandbox_list(s, sandbox_path(s, "state/suites")), "");
}

struct hostile {
    const char *bytes;
    size_t len;
    const char *code;
};

#define HEAD "aurabench-suite-pack 1\n"
#define FILE_(path)                                                                                \
    path "\0"                                                                                      \
         "100644\0"                                                                                \
         "1\0"                                                                                     \
         "x"
#define HOSTILE(text, code_)                                                                       \
    {                                                                                              \
        (text), sizeof(text) - 1, (code_)                                                          \
    }

static void hostile_packs_are_refused_and_write_nothing(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    static const struct hostile packs[] = {
        HOSTILE("", "suite.pack_bad"),
        HOSTILE(HEAD, "suite.not_found"),
        HOSTILE(HEAD FILE_("a/suite.json"), "suite.not_found"),
        HOSTILE(HEAD FILE_("../escaped") FILE_("suite.json"), "suite.pack_bad"),
        HOSTILE(HEAD FILE_("/tmp/escaped") FILE_("suite.json"), "suite.pack_bad"),
        HOSTILE(HEAD FILE_("a/../../../escaped") FILE_("suite.json"), "suite.pack_bad"),
        HOSTILE(HEAD FILE_("suite.json") FILE_("suite.json"), "suite.pack_bad"),
        HOSTILE(HEAD FILE_("suite.json") FILE_("suite.json/x"), "suite.pack_bad"),
        HOSTILE(HEAD "l\0"
                     "120000\0"
                     "4\0"
                     "/etc" FILE_("suite.json"),
                "suite.pack_bad"),
        HOSTILE(HEAD FILE_("suite.json") "z\0"
                                         "100644\0"
                                         "9\0"
                                         "x",
                "suite.pack_bad"),
    };

    for (size_t i = 0; i < ARRAY_LEN(packs); i++) {
        char sha[DIGEST_HEX];
        digest_bytes(packs[i].bytes, packs[i].len, sha);
        const char *path = sandbox_path(s, "hostile");
        assert_ok(s, file_write(path, packs[i].bytes, packs[i].len, 0600, &s->e));
        assert_code(s, source_import_suite(store, path, sha, &s->e), packs[i].code);
        assert_false(source_has_suite(store, sha));
    }
    assert_string_equal(sandbox_list(s, sandbox_path(s, "state/suites")), "");
    assert_string_equal(sandbox_list(s, s->dir), "hostile state");
}

static void too_large_a_pack_is_refused(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *sha = make_pack(s);

    assert_int_equal(truncate(sandbox_path(s, "pack"), (off_t)PACK_BYTES_MAX + 1), 0);
    assert_code(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e),
                "suite.too_large");
}

static void a_copy_is_writable_and_proved(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *sha = make_pack(s);
    const char *dest = sandbox_path(s, "copy");
    char again[DIGEST_HEX];

    assert_code(s, source_copy_suite(store, sha, dest, &s->e), "source.suite_not_here");
    assert_ok(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e));
    assert_ok(s, source_copy_suite(store, sha, dest, &s->e));
    assert_int_equal(mode_of(sandbox_path(s, "copy/bin/run")), 0755);
    assert_int_equal(mode_of(sandbox_path(s, "copy/suite.json")), 0644);
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_equal(again, sha);
    assert_int_not_equal(source_copy_suite(store, sha, dest, &s->e), 0);
    err_clear(&s->e);
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_equal(again, sha);
}

static void what_a_build_adds_does_not_count_but_what_it_changes_does(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *sha = make_pack(s);
    const char *dest = sandbox_path(s, "copy");
    char again[DIGEST_HEX];

    assert_ok(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e));
    assert_ok(s, source_copy_suite(store, sha, dest, &s->e));
    sandbox_write(s, sandbox_path(s, "copy/bin/built"), "x");
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_equal(again, sha);
    sandbox_write(s, sandbox_path(s, "copy/suite.json"), "{ }\n");
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_not_equal(again, sha);
    assert_true(digest_valid(again));
    sandbox_write(s, sandbox_path(s, "copy/suite.json"), "{}\n");
    assert_int_equal(chmod(sandbox_path(s, "copy/bin/run"), 0644), 0);
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_not_equal(again, sha);
}

static void a_file_that_is_gone_or_no_longer_plain_has_no_hash(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *sha = make_pack(s);
    const char *dest = sandbox_path(s, "copy");
    char again[DIGEST_HEX] = "unset";

    assert_ok(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e));
    assert_ok(s, source_copy_suite(store, sha, dest, &s->e));
    assert_int_equal(rename(sandbox_path(s, "copy/bin"), sandbox_path(s, "copy/moved")), 0);
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_equal(again, "");
    assert_int_equal(symlink("moved", sandbox_path(s, "copy/bin")), 0);
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_equal(again, "");
    assert_int_equal(unlink(sandbox_path(s, "copy/bin")), 0);
    assert_int_equal(rename(sandbox_path(s, "copy/moved"), sandbox_path(s, "copy/bin")), 0);
    assert_int_equal(truncate(sandbox_path(s, "copy/bin/run"), (off_t)PACK_BYTES_MAX), 0);
    assert_ok(s, source_hash_suite(store, sha, dest, again, &s->e));
    assert_string_equal(again, "");
}

static void a_kept_suite_that_was_changed_is_not_handed_out(void **state)
{
    struct sandbox *s = *state;
    STORE store = open_store(s);
    const char *sha = make_pack(s);
    const char *kept = sandbox_path(s, "state/suites/%s", sha);

    assert_ok(s, source_import_suite(store, sandbox_path(s, "pack"), sha, &s->e));
    assert_int_equal(chmod(arena_printf(&s->a, "%s/suite.json", kept), 0644), 0);
    sandbox_write(s, arena_printf(&s->a, "%s/suite.json", kept), "{\"evil\":1}\n");
    assert_code(s, source_copy_suite(store, sha, sandbox_path(s, "copy"), &s->e),
                "source.suite_damaged");
    assert_false(file_exists(sandbox_path(s, "copy")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SANDBOX_TEST(an_imported_suite_is_kept_read_only_under_its_hash),
        SANDBOX_TEST(a_suite_under_a_wrong_name_is_refused),
        SANDBOX_TEST(hostile_packs_are_refused_and_write_nothing),
        SANDBOX_TEST(too_large_a_pack_is_refused),
        SANDBOX_TEST(a_copy_is_writable_and_proved),
        SANDBOX_TEST(what_a_build_adds_does_not_count_but_what_it_changes_does),
        SANDBOX_TEST(a_file_that_is_gone_or_no_longer_plain_has_no_hash),
        SANDBOX_TEST(a_kept_suite_that_was_changed_is_not_handed_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
