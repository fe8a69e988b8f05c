/* Errors, arenas, buffers: the first error wins, allocations are zeroed and aligned, text stays
 * NUL-terminated. */
#include "unit/unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

static void first_error_wins(void **state)
{
    struct err e = {0};

    assert_int_equal(err_set(&e, -22, "a.b", "field", "sentence %d", 1), -22);
    assert_int_equal(err_set(&e, -5, "c.d", NULL, "later"), -5);
    assert_string_equal(e.code, "a.b");
    assert_string_equal(e.field, "field");
    assert_string_equal(e.text, "sentence 1");
    err_clear(&e);
    assert_false(err_is_set(&e));
    assert_int_equal(err_sys(&e, -2, "open", "/x"), -2);
    assert_string_equal(e.code, "system.open");
    assert_string_equal(e.text, "could not open /x: No such file or directory");
    err_clear(&e);
    assert_int_equal(err_sys(&e, -2, "read folder", "/x"), -2);
    assert_string_equal(e.code, "system.read_folder");
    assert_int_equal(err_set(NULL, -1, "a", "b", "c"), -1);
}

static void long_errors_are_cut_not_overrun(void **state)
{
    struct err e = {0};
    char big[4000];

    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    err_set(&e, -1, big, big, "%s", big);
    assert_int_equal(strlen(e.code), sizeof e.code - 1);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static void what_an_error_quotes_cannot_begin_a_line_or_steer_a_terminal(void **state)
{
    struct err e = {0};

    err_set(&e, -22, "a.b", "x\ny", "\"%s\" is wrong", "\x1b[2J\r\n<3>forged\x7f \xc3\xa9");
    assert_string_equal(e.field, "x?y");
    assert_string_equal(e.text, "\"?[2J?"
                                "?<3>forged? \xc3\xa9\" is wrong");
}

static void arena_memory_is_zeroed_aligned_and_distinct(void **state)
{
    struct arena a = {0};
    unsigned char *last = NULL;

    for (size_t size = 1; size < 40000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(&a, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
        assert_ptr_not_equal(p, last);
        last = p;
    }
    assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
    assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    assert_null(arena_strdup(&a, NULL));
    assert_null(arena_array(&a, 0, 8));
    arena_deinit(&a);
    assert_null(a.blocks);
}

static size_t count_blocks(const struct arena *a)
{
    size_t n = 0;

    /* The first member of a block is the next one. */
    for (const void *const *b = (const void *)a->blocks; b; b = *b)
        n++;
    return n;
}

static void an_arena_gone_back_to_a_mark_holds_what_came_before_and_no_more(void **state)
{
    struct arena a = {0};
    struct arena_mark empty = arena_mark(&a);

    arena_strdup(&a, "gone");
    arena_rewind(&a, &empty);
    assert_null(a.blocks);

    char *kept = arena_strdup(&a, "kept"), *large = arena_alloc(&a, 40000);
    memset(large, 'k', 40000);
    size_t blocks = count_blocks(&a);
    struct arena_mark mark = arena_mark(&a);
    for (int round = 0; round < 5; round++) {
        unsigned char *first = arena_alloc(&a, 64);
        for (int i = 0; i < 64; i++)
            assert_int_equal(first[i], 0);
        memset(first, 0xff, 64);
        memset(arena_alloc(&a, 50000), 0xff, 50000);
        for (int i = 0; i < 100; i++)
            memset(arena_alloc(&a, 1000), 0xff, 1000);
        arena_rewind(&a, &mark);
        assert_int_equal(count_blocks(&a), blocks);
    }
    assert_string_equal(kept, "kept");
    assert_int_equal(large[39999], 'k');
    arena_deinit(&a);
}

static void buffer_grows_and_stays_terminated(void **state)
{
    struct buf b = {0};

    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i);
    assert_int_equal(strlen(buf_str(&b)), b.len);
    buf_consume(&b, 2);
    assert_memory_equal(b.data, "1,2,", 4);
    buf_add(&b, "\0z", 2);
    assert_int_equal(b.data[b.len], '\0');
    buf_consume(&b, b.len + 10);
    assert_int_equal(b.len, 0);
    free(buf_take(&b));
    assert_null(b.data);
    char *empty = buf_take(&b);
    assert_string_equal(empty, "");
    free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_wins),
        cmocka_unit_test(long_errors_are_cut_not_overrun),
        cmocka_unit_test(what_an_error_quotes_cannot_begin_a_line_or_steer_a_terminal),
        cmocka_unit_test(arena_memory_is_zeroed_aligned_and_distinct),
        cmocka_unit_test(an_arena_gone_back_to_a_mark_holds_what_came_before_and_no_more),
        cmocka_unit_test(buffer_grows_and_stays_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
