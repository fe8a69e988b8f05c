/* Host keys: made once, kept private, and what they sign nobody else can. */
#include "../unit.h"

#include <sys/stat.h>

#include "base/files.h"
#include "base/keys.h"
#include "base/mem.h"

struct fixture {
    char *dir, *path, *public_path;
};

static int setup(void **state)
{
    struct fixture *f = mem_alloc(sizeof *f);

    f->dir = unit_folder();
    f->path = file_join(f->dir, "host.key");
    f->public_path = file_join(f->dir, "host.pub");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(file_rmtree(f->dir, NULL), 0);
    free(f->dir);
    free(f->path);
    free(f->public_path);
    free(f);
    return 0;
}

static struct key *load(const struct fixture *f)
{
    struct key *k = NULL;
    struct err e = {0};

    if (key_load(f->path, f->public_path, &k, &e))
        fail_msg("%s: %s", e.code, e.text);
    return k;
}

static void expect_refused(const struct fixture *f, const char *code)
{
    struct key *k = NULL;
    struct err e = {0};

    assert_true(key_load(f->path, f->public_path, &k, &e) < 0);
    assert_null(k);
    assert_string_equal(e.code, code);
    assert_non_null(strstr(e.text, f->path));
}

static char *read_text(const char *path)
{
    struct buf text = {0};

    assert_int_equal(file_read(path, 4096, &text, NULL), 0);
    return buf_take(&text);
}

static void the_first_load_makes_a_private_key_and_the_second_reads_it(void **state)
{
    const struct fixture *f = *state;
    struct stat st;
    struct key *made = load(f), *read = load(f);
    CLEANUP(mem_freep) char *pem = read_text(f->path);
    CLEANUP(mem_freep) char *text = read_text(f->public_path);
    CLEANUP(mem_freep) char *line = mem_printf("%s\n", key_public(made));

    assert_string_equal(key_public(made), key_public(read));
    assert_true(key_valid(key_public(made)));
    assert_string_equal(text, line);
    assert_int_equal(strncmp(pem, "-----BEGIN PRIVATE KEY-----\n", 28), 0);
    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    key_free(made);
    key_free(read);
}

static void no_two_keys_are_equal(void **state)
{
    const struct fixture *f = *state;
    struct key *first = load(f);

    assert_int_equal(unlink(f->path), 0);
    struct key *second = load(f);
    assert_string_not_equal(key_public(first), key_public(second));
    key_free(first);
    key_free(second);
}

static void a_key_that_others_can_read_or_write_is_refused(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0660};
    const struct fixture *f = *state;

    key_free(load(f));
    CLEANUP(mem_freep) char *before = read_text(f->path);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        assert_int_equal(chmod(f->path, modes[i]), 0);
        expect_refused(f, "key.exposed");
    }
    CLEANUP(mem_freep) char *after = read_text(f->path);
    assert_string_equal(before, after);
}

static void what_is_no_ed25519_key_is_refused_and_stays(void **state)
{
    static const char *const texts[] = {
        "", "nonsense\n", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        /* an X25519 key: the same length, another kind */
        "-----BEGIN PRIVATE KEY-----\n"
        "MC4CAQAwBQYDK2VuBCIEIHgHbeA/uQeAfmLcMfLCcBEXVqdLJUZN5gWAjzHJ7PdZ\n"
        "-----END PRIVATE KEY-----\n"};
    const struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(file_write(f->path, texts[i], strlen(texts[i]), 0600, NULL), 0);
        expect_refused(f, "key.bad");
        CLEANUP(mem_freep) char *now = read_text(f->path);
        assert_string_equal(now, texts[i]);
    }
}

static void a_link_or_a_folder_in_the_place_of_the_key_is_refused(void **state)
{
    const struct fixture *f = *state;

    assert_int_equal(symlink("/dev/null", f->path), 0);
    expect_refused(f, "system.open");
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkdir(f->path, 0700), 0);
    expect_refused(f, "key.bad");
}

static void a_wrong_public_part_is_mended(void **state)
{
    const struct fixture *f = *state;
    struct key *k = load(f);

    assert_int_equal(file_write(f->public_path, "x", 1, 0644, NULL), 0);
    key_free(load(f));
    CLEANUP(mem_freep) char *text = read_text(f->public_path);
    assert_int_equal(strncmp(text, key_public(k), KEY_HEX - 1), 0);
    key_free(k);
}

static void only_the_same_bytes_under_the_same_key_fit(void **state)
{
    const struct fixture *f = *state;
    struct key *k = load(f);
    unsigned char signature[KEY_SIGNATURE_BYTES];
    char other[KEY_HEX];

    key_sign(k, "the sums", 8, signature);
    assert_true(key_verify(key_public(k), "the sums", 8, signature));
    assert_false(key_verify(key_public(k), "the sumS", 8, signature));
    assert_false(key_verify(key_public(k), "the sum", 7, signature));
    memcpy(other, key_public(k), sizeof other);
    other[0] = other[0] == '0' ? '1' : '0';
    assert_false(key_verify(other, "the sums", 8, signature));
    assert_false(key_verify("no key", "the sums", 8, signature));
    for (size_t i = 0; i < sizeof signature; i++) {
        signature[i] ^= 1;
        assert_false(key_verify(key_public(k), "the sums", 8, signature));
        signature[i] ^= 1;
    }
    key_free(k);
}

/* RFC 8032, section 7.1, test 2. */
static void a_signature_of_the_standard_fits(void **state)
{
    static const unsigned char signature[KEY_SIGNATURE_BYTES] = {
        0x92, 0xa0, 0x09, 0xa9, 0xf0, 0xd4, 0xca, 0xb8, 0x72, 0x0e, 0x82, 0x0b, 0x5f,
        0x64, 0x25, 0x40, 0xa2, 0xb2, 0x7b, 0x54, 0x16, 0x50, 0x3f, 0x8f, 0xb3, 0x76,
        0x22, 0x23, 0xeb, 0xdb, 0x69, 0xda, 0x08, 0x5a, 0xc1, 0xe4, 0x3e, 0x15, 0x99,
        0x6e, 0x45, 0x8f, 0x36, 0x13, 0xd0, 0xf1, 0x1d, 0x8c, 0x38, 0x7b, 0x2e, 0xae,
        0xb4, 0x30, 0x2a, 0xee, 0xb0, 0x0d, 0x29, 0x16, 0x12, 0xbb, 0x0c, 0x00};
    static const char public_hex[] =
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    char id[KEY_ID];

    assert_true(key_verify(public_hex, "\x72", 1, signature));
    key_id(public_hex, id);
    assert_string_equal(id, "39f713d0a644253f");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_first_load_makes_a_private_key_and_the_second_reads_it),
        TEST(no_two_keys_are_equal),
        TEST(a_key_that_others_can_read_or_write_is_refused),
        TEST(what_is_no_ed25519_key_is_refused_and_stays),
        TEST(a_link_or_a_folder_in_the_place_of_the_key_is_refused),
        TEST(a_wrong_public_part_is_mended),
        TEST(only_the_same_bytes_under_the_same_key_fit),
        TEST(a_signature_of_the_standard_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
