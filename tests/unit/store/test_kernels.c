/* Receipts of kernels: each once, the latest first, found by a part of its id, never changed. */
#include "tests/unit/store/unit.h"

#include <errno.h>

#include "store/kernels.h"

static struct store_kernel row(const char *id, const char *sha256)
{
    return (struct store_kernel){.id = id,
                                 .sha256 = sha256,
                                 .wall_ms = 7,
                                 .peer_uid = -1,
                                 .schema = KERNEL_SCHEMA_HARN,
                                 .target = KERNEL_BROWSER,
                                 .profile = KERNEL_DEBUG,
                                 .source = "a.harn",
                                 .entry = "main",
                                 .workers = 4,
                                 .iterations = 500,
                                 .document = "{\"n\":1}"};
}

static const char *put(struct unit *u, const struct store_kernel *r, bool known)
{
    static char id[ULID_LEN + 1];
    bool duplicate = !known;
    ok(u, store_kernel_put(u->s, r, id, &duplicate, &u->e));
    assert_int_equal(duplicate, known);
    return id;
}

#define A "01KB9XK3Q8Z4T1V7N5M2C0D6EA"
#define B "01KB9XK3Q8Z4T1V7N5M2C0D6EB"
#define C "01KB9XK3Q8Z4T1V7N5M2C0D6EC"

static void the_same_receipt_is_there_once(void **ctx)
{
    struct unit *u = *ctx;
    struct store_kernel r = row(A, "x");
    assert_string_equal(put(u, &r, false), A);
    r.id = B;
    r.machine = "another";
    assert_string_equal(put(u, &r, true), A);
    r.sha256 = "y";
    assert_string_equal(put(u, &r, false), B);
    assert_int_equal(unit_raw_number(u, "SELECT count(*) FROM kernel_receipts"), 2);
}

static void what_was_put_is_read_back(void **ctx)
{
    struct unit *u = *ctx;
    struct store_kernel r = row(A, "x"), got;
    put(u, &r, false);
    unit_reopen(u);
    ok(u, store_kernel_find(u->s, A, &u->arena, &got, &u->e));
    assert_string_equal(got.sha256, "x");
    assert_int_equal(got.wall_ms, 7);
    assert_int_equal(got.peer_uid, -1);
    assert_null(got.machine);
    assert_string_equal(got.schema, KERNEL_SCHEMA_HARN);
    assert_int_equal(got.target, KERNEL_BROWSER);
    assert_int_equal(got.profile, KERNEL_DEBUG);
    assert_string_equal(got.source, "a.harn");
    assert_string_equal(got.entry, "main");
    assert_int_equal(got.workers, 4);
    assert_int_equal(got.iterations, 500);
    assert_string_equal(got.document, "{\"n\":1}");
}

static void the_latest_come_first_page_by_page(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_kernel a = row(B, "1"), b = row(A, "2"), c = row(C, "3");
    struct store_kernel *list;
    size_t n;
    put(u, &a, false);
    put(u, &b, false);
    put(u, &c, false);
    ok(u, store_kernel_list(u->s, NULL, 2, &u->arena, &list, &n, &u->e));
    assert_int_equal(n, 2);
    assert_string_equal(list[0].id, C);
    assert_string_equal(list[1].id, A);
    ok(u, store_kernel_list(u->s, A, 2, &u->arena, &list, &n, &u->e));
    assert_int_equal(n, 1);
    assert_string_equal(list[0].id, B);
    refused(u, store_kernel_list(u->s, "nothing", 2, &u->arena, &list, &n, &u->e), -ENOENT,
            "kernel.not_found");
}

static void one_is_found_by_a_part_of_its_id(void **ctx)
{
    struct unit *u = *ctx;
    const struct store_kernel a = row(A, "1"), b = row(B, "2");
    struct store_kernel got;
    put(u, &a, false);
    put(u, &b, false);
    ok(u, store_kernel_find(u->s, "c0d6eb", &u->arena, &got, &u->e));
    assert_string_equal(got.id, B);
    refused(u, store_kernel_find(u->s, "01KB9XK3", &u->arena, &got, &u->e), STORE_AMBIGUOUS,
            "kernel.ambiguous");
    refused(u, store_kernel_find(u->s, "01KB9XK4", &u->arena, &got, &u->e), -ENOENT,
            "kernel.not_found");
    refused(u, store_kernel_find(u->s, "%", &u->arena, &got, &u->e), -ENOENT, "kernel.not_found");
}

static void receipts_are_never_changed(void **ctx)
{
    struct unit *u = *ctx;
    struct store_kernel r = row(A, "1");
    put(u, &r, false);
    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = NULL;
        assert_int_equal(sqlite3_open(u->path, &db), SQLITE_OK);
        assert_int_not_equal(sqlite3_exec(db,
                                          i ? "DELETE FROM kernel_receipts"
                                            : "UPDATE kernel_receipts SET machine = 'm'",
                                          NULL, NULL, NULL),
                             SQLITE_OK);
        assert_non_null(strstr(sqlite3_errmsg(db), "append-only"));
        sqlite3_close(db);
    }
    r = row(B, "2");
    r.workers = 300;
    char id[ULID_LEN + 1];
    bool duplicate;
    refused(u, store_kernel_put(u->s, &r, id, &duplicate, &u->e), -EINVAL, "store.constraint");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, unit_setup, unit_teardown)
    const struct CMUnitTest tests[] = {
        T(the_same_receipt_is_there_once),     T(what_was_put_is_read_back),
        T(the_latest_come_first_page_by_page), T(one_is_found_by_a_part_of_its_id),
        T(receipts_are_never_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
