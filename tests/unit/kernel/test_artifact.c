/* Artifacts: the same bytes whenever and wherever they are made; damaged ones are refused. */
#include "kernel.h"

#include <sys/wait.h>
#include <unistd.h>

static char *source(void)
{
    return example("reducer.pk");
}

static void every_compile_gives_the_same_bytes(void **state)
{
    char *text = source();
    struct pk_bytes first = compiled(text);
    for (int i = 0; i < 50; i++) {
        char *moved = malloc(strlen(text) + 1); /* at another address each time */
        memcpy(moved, text, strlen(text) + 1);
        struct pk_bytes again = compiled(moved);
        assert_int_equal(again.n, first.n);
        assert_memory_equal(again.p, first.p, first.n);
        pk_bytes_free(&again);
        free(moved);
    }
    pk_bytes_free(&first);
    free(text);
}

static void every_process_gives_the_same_bytes(void **state)
{
    char *text = source();
    struct pk_bytes here = compiled(text);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pk_bytes there = compiled(text);
        _exit(write(ends[1], there.p, there.n) == (ssize_t)there.n ? 0 : 1);
    }
    (void)close(ends[1]);
    uint8_t got[16384];
    size_t n = 0;
    for (ssize_t more; (more = read(ends[0], got + n, sizeof got - n)) > 0;)
        n += (size_t)more;
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(n, here.n);
    assert_memory_equal(got, here.p, n);
    (void)close(ends[0]);
    pk_bytes_free(&here);
    free(text);
}

static int decode(const uint8_t *bytes, size_t n, struct pk_err *e)
{
    struct pk_program *p = NULL;
    struct pk_abi abi;
    uint8_t *exact = malloc(n ? n : 1);
    memcpy(exact, bytes, n);
    pk_abi_init(&abi);
    *e = (struct pk_err){0};
    int rc = pk_decode(&abi, exact, n, &p, e);
    assert_true((rc == 0) == (p != NULL) && (rc == 0) == (e->text[0] == 0));
    pk_program_free(p);
    free(exact);
    return rc;
}

/* The sum at the end is made to fit, as one who means harm would. */
static void reseal(uint8_t *bytes, size_t n)
{
    if (n >= PK_DIGEST)
        pk_sha256(bytes, n - PK_DIGEST, bytes + n - PK_DIGEST);
}

static void every_changed_byte_is_refused(void **state)
{
    char *text = source();
    struct pk_bytes good = compiled(text);
    struct pk_err e;
    for (size_t i = 0; i < good.n; i++) {
        good.p[i] ^= 0x41;
        assert_int_equal(decode(good.p, good.n, &e), -1);
        good.p[i] ^= 0x41;
    }
    assert_int_equal(decode(good.p, good.n, &e), 0);
    pk_bytes_free(&good);
    free(text);
}

static void every_shorter_or_longer_artifact_is_refused(void **state)
{
    char *text = source();
    struct pk_bytes good = compiled(text);
    struct pk_err e;
    for (size_t n = 0; n < good.n; n++) {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, good.p, n);
        reseal(cut, n);
        assert_int_equal(decode(cut, n, &e), -1);
        free(cut);
    }
    assert_true(good.n > PK_DIGEST);
    uint8_t *more = calloc(1, good.n + 1);
    memcpy(more, good.p, good.n - PK_DIGEST);
    reseal(more, good.n + 1);
    assert_int_equal(decode(more, good.n + 1, &e), -1);
    assert_string_equal(e.text, "the artifact is refused: something stands behind its end");
    free(more);
    pk_bytes_free(&good);
    free(text);
}

/* Runs what was accepted: an artifact that decodes is safe, whatever it does. */
static void run_it(const uint8_t *bytes, size_t n)
{
    static const char input[] = "{\"state\":{\"count\":0,\"history\":[],\"label\":\"\"},"
                                "\"event\":{\"kind\":\"increment\",\"amount\":1}}";
    struct pk_program *p = NULL;
    struct pk_bytes json = {0};
    struct pk_value in, out;
    struct pk_entry entry;
    struct pk_err e = {0};
    struct pk_abi abi;
    pk_abi_init(&abi);
    if (pk_decode(&abi, bytes, n, &p, &e))
        return;
    struct pk_state *s = pk_state_new();
    if (pk_find(p, "reduce", PK_FUNCTION, &entry, &e) == 0 &&
        pk_input(s, p, &entry, input, strlen(input), &in, &e) == 0 &&
        pk_dispatch(s, p, &entry, &in, &out, &e) == 0)
        (void)pk_output(p, &entry, &out, &json, &e);
    pk_bytes_free(&json);
    pk_state_free(s);
    pk_program_free(p);
}

static void a_changed_artifact_with_a_good_sum_is_refused_or_safe(void **state)
{
    char *text = source();
    struct pk_bytes good = compiled(text);
    static const uint8_t turns[] = {1, 2, 0x80, 0xff};
    for (size_t i = 0; i < good.n - PK_DIGEST; i++)
        for (size_t t = 0; t < sizeof turns; t++) {
            good.p[i] ^= turns[t];
            reseal(good.p, good.n);
            run_it(good.p, good.n);
            good.p[i] ^= turns[t];
        }
    pk_bytes_free(&good);
    free(text);
}

static void an_artifact_of_another_kernel_says_so(void **state)
{
    char *text = source();
    struct pk_bytes good = compiled(text);
    struct pk_err e;
    good.p[4]++;
    reseal(good.p, good.n);
    assert_int_equal(decode(good.p, good.n, &e), -1);
    assert_string_equal(e.text, "the artifact is refused: it has another format version; compile "
                                "the source again");
    good.p[4]--;
    for (size_t at = 8; at <= 40; at += 32) { /* the semantic fingerprint, then that of opcodes */
        good.p[at]++;
        reseal(good.p, good.n);
        assert_int_equal(decode(good.p, good.n, &e), -1);
        assert_string_equal(e.text, "the artifact is refused: it was made for another kernel; "
                                    "compile the source again");
        good.p[at]--;
    }
    pk_bytes_free(&good);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_compile_gives_the_same_bytes),
        cmocka_unit_test(every_process_gives_the_same_bytes),
        cmocka_unit_test(every_changed_byte_is_refused),
        cmocka_unit_test(every_shorter_or_longer_artifact_is_refused),
        cmocka_unit_test(a_changed_artifact_with_a_good_sum_is_refused_or_safe),
        cmocka_unit_test(an_artifact_of_another_kernel_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
