/* Identifiers sort by time of making; digests are those of the standard. */
#include "unit/unit.h"

#include <openssl/evp.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/mem.h"

static void ulids_are_valid_distinct_and_increasing(void **state)
{
    char last[ULID_LEN + 1] = "", next[ULID_LEN + 1];

    for (int i = 0; i < 5000; i++) {
        ulid_new(next);
        assert_true(ulid_valid(next));
        assert_true(strcmp(next, last) > 0);
        memcpy(last, next, sizeof last);
    }
}

static void malformed_ulids_are_refused(void **state)
{
    assert_true(ulid_valid("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert_false(ulid_valid("01ARZ3NDEKTSV4RRFFQ69G5FA"));
    assert_false(ulid_valid("81ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert_false(ulid_valid("01arz3ndektsv4rrffq69g5fav"));
    assert_false(ulid_valid("01ARZ3NDEKTSV4RRFFQ69G5FAI"));
    assert_false(ulid_valid(""));
}

/* FIPS 180-4's examples. */
static void digests_are_those_of_the_standard(void **state)
{
    char hex[DIGEST_HEX];

    digest_bytes("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    digest_bytes("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_true(digest_valid(hex));
    hex[3] = 'G';
    assert_false(digest_valid(hex));
}

/* Whichever library makes them (digest.h): at every length around a block, in pieces of every size.
 */
static void digests_are_those_of_libcrypto(void **state)
{
    unsigned char data[300], raw[32];
    char hex[DIGEST_HEX], expected[DIGEST_HEX];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7 + i / 64);
    for (size_t len = 0; len <= sizeof data; len++) {
        struct digest *d = digest_new();
        for (size_t at = 0, piece = 1 + len % 67; at < len; at += piece)
            digest_add(d, data + at, len - at < piece ? len - at : piece);
        digest_finish(d, hex);
        assert_int_equal(EVP_Digest(data, len, raw, NULL, EVP_sha256(), NULL), 1);
        for (size_t i = 0; i < sizeof raw; i++)
            (void)snprintf(expected + 2 * i, 3, "%02x", raw[i]);
        assert_string_equal(hex, expected);
    }
}

static void files_hash_as_their_bytes_and_links_are_refused(void **state)
{
    CLEANUP(mem_freep) char *dir = unit_folder();
    CLEANUP(mem_freep) char *path = file_join(dir, "f");
    CLEANUP(mem_freep) char *link = file_join(dir, "l");
    char *big = mem_alloc(1000001);
    char expected[DIGEST_HEX], got[DIGEST_HEX];
    int64_t bytes = 0;

    digest_bytes(big, 1000001, expected);
    assert_int_equal(file_write(path, big, 1000001, 0600, NULL), 0);
    assert_int_equal(digest_file(path, got, &bytes, NULL), 0);
    assert_string_equal(got, expected);
    assert_int_equal(bytes, 1000001);
    assert_int_equal(symlink(path, link), 0);
    assert_true(digest_file(link, got, &bytes, NULL) < 0);
    assert_true(digest_file(dir, got, &bytes, NULL) < 0);
    free(big);
    assert_int_equal(file_rmtree(dir, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ulids_are_valid_distinct_and_increasing),
        cmocka_unit_test(malformed_ulids_are_refused),
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(digests_are_those_of_libcrypto),
        cmocka_unit_test(files_hash_as_their_bytes_and_links_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
