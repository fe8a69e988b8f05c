#include "kernel.h"

static void expect(const char *text, size_t n, const char *wanted)
{
    uint8_t digest[PK_DIGEST];
    char hex[2 * PK_DIGEST + 1];
    pk_sha256(text, n, digest);
    pk_hex(digest, hex);
    assert_string_equal(hex, wanted);
}

/* The published examples of the standard. */
static void the_digests_are_those_of_the_standard(void **state)
{
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    expect(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_digests_are_those_of_the_standard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
