/* SHA256SUMS and its signature as text: what is read is exactly what is written. */
#include "../unit.h"

#include "base/files.h"
#include "base/mem.h"
#include "proto/evidence/manifest.h"
#include "proto/evidence/signature.h"

#define SUM "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static int parse(struct arena *a, const char *text, size_t len, struct manifest *m, struct err *e)
{
    return manifest_parse(a, text, len, m, e);
}

static void every_name_that_is_written_is_read_back(void **state)
{
    static const char *const names[] = {" blank",    "-dash",       "a/b",
                                        "back\\nn",  "back\\slash", "b\xff",
                                        "new\nline", "trailing\\",  "z"};
    struct arena a = {0};
    struct manifest m;
    struct err e = {0};
    CLEANUP(buf_deinit) struct buf text = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_int_equal(manifest_line(&text, names[i], SUM, NULL), 0);
    if (parse(&a, text.data, text.len, &m, &e))
        fail_msg("%s %s", e.field, e.text);
    assert_int_equal(m.n, ARRAY_LEN(names));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_string_equal(m.v[i].path, names[i]);
        assert_string_equal(m.v[i].sha256, SUM);
        assert_ptr_equal(manifest_find(&m, names[i]), &m.v[i]);
    }
    assert_null(manifest_find(&m, "blank"));
    arena_deinit(&a);
}

static void an_empty_manifest_has_no_entries(void **state)
{
    struct arena a = {0};
    struct manifest m;

    (void)state;
    assert_int_equal(parse(&a, "", 0, &m, NULL), 0);
    assert_int_equal(m.n, 0);
    assert_null(manifest_find(&m, "x"));
    arena_deinit(&a);
}

static void lines_that_are_none_are_refused_by_number(void **state)
{
    static const char *const bad[] = {
        SUM "  a",             /* no newline */
        "\n",                  /* empty */
        SUM "\n",              /* no name */
        SUM "  \n",            /* an empty name */
        SUM " *a\n",           /* binary mark */
        SUM " a\n",            /* one blank */
        SUM "  a\r\n",         /* carriage return */
        SUM "  /etc/passwd\n", /* outside */
        SUM "  ../a\n",
        SUM "  a/../../b\n",
        SUM "  ./a\n",
        SUM "  a\\b\n",       /* not escaped */
        "\\" SUM "  a\n",     /* escaped without a need */
        "\\" SUM "  a\\xb\n", /* no such escape */
        "\\" SUM "  a\\\n",
        "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855  a\n",
        "e3b0  a\n",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arena a = {0};
        struct manifest m;
        struct err e = {0};
        CLEANUP(mem_freep) char *text = mem_printf(SUM "  A\n%s", bad[i]);
        if (parse(&a, text, strlen(text), &m, &e) == 0)
            fail_msg("line %zu was taken", i);
        assert_string_equal(e.code, "manifest.bad");
        assert_string_equal(e.field, "line 2");
        arena_deinit(&a);
    }
}

static void a_zero_byte_is_refused(void **state)
{
    static const char text[] = SUM "  a\0b\n";
    struct arena a = {0};
    struct manifest m;
    struct err e = {0};

    (void)state;
    assert_int_not_equal(parse(&a, text, sizeof text - 1, &m, &e), 0);
    assert_string_equal(e.code, "manifest.bad");
    arena_deinit(&a);
}

static void order_and_uniqueness_are_required(void **state)
{
    static const char *const bad[] = {SUM "  b\n" SUM "  a\n", SUM "  a\n" SUM "  a\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct arena a = {0};
        struct manifest m;
        struct err e = {0};
        assert_int_not_equal(parse(&a, bad[i], strlen(bad[i]), &m, &e), 0);
        assert_string_equal(e.field, "line 2");
        arena_deinit(&a);
    }
}

/* ---- the signature */

static struct key *make_key(void)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *path = file_join(dir, "k"), *public_path = file_join(dir, "p");
    struct key *k = NULL;

    assert_int_equal(key_load(path, public_path, &k, NULL), 0);
    assert_int_equal(file_rmtree(dir, NULL), 0);
    return k;
}

static void a_signature_is_read_back_and_fits(void **state)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct key *k = make_key();
    struct signature s;
    struct err e = {0};

    (void)state;
    signature_write(&line, k, "sums", 4);
    if (signature_parse(line.data, line.len, &s, &e))
        fail_msg("%s", e.text);
    assert_string_equal(s.public_hex, key_public(k));
    assert_true(key_verify(s.public_hex, "sums", 4, s.bytes));
    assert_false(key_verify(s.public_hex, "sumz", 4, s.bytes));
    key_free(k);
}

static void every_other_text_is_no_signature(void **state)
{
    CLEANUP(buf_deinit) struct buf line = {0};
    struct key *k = make_key();
    struct signature s;

    (void)state;
    signature_write(&line, k, "sums", 4);
    for (size_t len = 0; len < line.len; len++)
        assert_int_not_equal(signature_parse(line.data, len, &s, NULL), 0);
    for (size_t i = 0; i < line.len; i++) {
        char kept = line.data[i];
        line.data[i] = ' ';
        bool same = kept == ' ';
        assert_true((signature_parse(line.data, line.len, &s, NULL) == 0) == same);
        line.data[i] = kept;
    }
    buf_putc(&line, '\n');
    struct err e = {0};
    assert_int_not_equal(signature_parse(line.data, line.len, &s, &e), 0);
    assert_string_equal(e.code, "signature.bad");
    key_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_that_is_written_is_read_back),
        cmocka_unit_test(an_empty_manifest_has_no_entries),
        cmocka_unit_test(lines_that_are_none_are_refused_by_number),
        cmocka_unit_test(a_zero_byte_is_refused),
        cmocka_unit_test(order_and_uniqueness_are_required),
        cmocka_unit_test(a_signature_is_read_back_and_fits),
        cmocka_unit_test(every_other_text_is_no_signature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
