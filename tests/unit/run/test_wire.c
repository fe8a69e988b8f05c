/* Messages between daemon and runner: what goes in comes out, and nothing else gets in. */
#include "unit.h"

#include <errno.h>
#include <time.h>

#include "base/mem.h"
#include "proto/wire/runner_wire.h"

#define HEADER (WIRE_HEADER + 2)

static struct wire_msg *make_observe(void)
{
    static const uint8_t mask[] = {0x05};
    struct wire_msg *m = mem_alloc(sizeof *m);
    struct wire_observe *o = &m->observe;

    m->type = WIRE_OBSERVE;
    m->id = -7;
    o->program.argv = (struct wire_list){.v = {"/bin/x", "", "a b"}, .n = 3};
    o->program.env = (struct wire_list){.v = {"A=1"}, .n = 1};
    o->program.cwd = "/";
    o->measure = WIRE_PROTOCOL;
    o->ready = "READY";
    o->go = "GO";
    o->expected = (struct wire_bytes){"a\0b", 3};
    o->stdout_limit_bytes = INT64_MAX;
    o->stderr_limit_bytes = INT64_MIN;
    o->cpus = (struct wire_bytes){mask, 1};
    o->pin_cpu = -1;
    return m;
}

static void test_observe_comes_out_as_it_went_in(void **state)
{
    CLEANUP(mem_freep) struct wire_msg *in = make_observe();
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    uint8_t frame[1024];
    int len = wire_encode(in, frame, sizeof frame);

    assert_true(len > HEADER);
    assert_int_equal(wire_frame_rest(frame), len - WIRE_HEADER);
    assert_int_equal(wire_decode(frame, (size_t)len, out), 0);
    assert_int_equal(out->type, WIRE_OBSERVE);
    assert_int_equal(out->id, -7);
    const struct wire_observe *o = &out->observe;
    assert_int_equal(o->program.argv.n, 3);
    assert_string_equal(o->program.argv.v[0], "/bin/x");
    assert_string_equal(o->program.argv.v[1], "");
    assert_string_equal(o->program.argv.v[2], "a b");
    assert_null(o->program.argv.v[3]);
    assert_int_equal(o->program.env.n, 1);
    assert_string_equal(o->program.cwd, "/");
    assert_string_equal(o->ready, "READY");
    assert_string_equal(o->go, "GO");
    assert_null(o->done);
    assert_int_equal(o->expected.len, 3);
    assert_memory_equal(o->expected.data, "a\0b", 3);
    assert_true(o->stdout_limit_bytes == INT64_MAX);
    assert_true(o->stderr_limit_bytes == INT64_MIN);
    assert_int_equal(o->cpus.len, 1);
    assert_int_equal(o->pin_cpu, -1);
}

static void test_every_type_survives_encoding_twice(void **state)
{
    static const enum wire_type types[] = {WIRE_HELLO,  WIRE_EXEC,        WIRE_OBSERVE,
                                           WIRE_CANCEL, WIRE_EXEC_RESULT, WIRE_OBSERVE_RESULT,
                                           WIRE_SOURCES};
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    uint8_t once[2048], twice[2048];

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        CLEANUP(mem_freep) struct wire_msg *m = mem_alloc(sizeof *m);
        m->type = types[i];
        m->id = (int64_t)i + 1;
        if (m->type == WIRE_EXEC)
            m->exec.program.cwd = m->exec.log_path = "/";
        if (m->type == WIRE_OBSERVE)
            m->observe.program.cwd = "/";
        if (m->type == WIRE_EXEC_RESULT)
            m->exec_result.end.outcome = "ok";
        if (m->type == WIRE_OBSERVE_RESULT)
            m->observe_result.end.outcome = "ok";
        int len = wire_encode(m, once, sizeof once);
        assert_true(len > 0);
        assert_int_equal(wire_decode(once, (size_t)len, out), 0);
        assert_int_equal(wire_encode(out, twice, sizeof twice), len);
        assert_memory_equal(once, twice, (size_t)len);
    }
}

static void test_empty_bytes_are_not_missing_bytes(void **state)
{
    CLEANUP(mem_freep) struct wire_msg *in = make_observe();
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    uint8_t frame[1024];

    in->observe.expected = (struct wire_bytes){"", 0};
    in->observe.cpus = (struct wire_bytes){NULL, 0};
    int len = wire_encode(in, frame, sizeof frame);
    assert_int_equal(wire_decode(frame, (size_t)len, out), 0);
    assert_non_null(out->observe.expected.data);
    assert_int_equal(out->observe.expected.len, 0);
    assert_null(out->observe.cpus.data);
}

static void test_what_does_not_fit_is_not_encoded(void **state)
{
    CLEANUP(mem_freep) struct wire_msg *m = make_observe();
    CLEANUP(mem_freep) uint8_t *frame = mem_alloc(2 * WIRE_FRAME_MAX);
    CLEANUP(mem_freep) char *big = mem_alloc(WIRE_FRAME_MAX);
    int len = wire_encode(m, frame, WIRE_FRAME_MAX);

    assert_int_equal(wire_encode(m, frame, (size_t)len), len);
    for (int cap = 0; cap < len; cap++)
        assert_int_equal(wire_encode(m, frame, (size_t)cap), -E2BIG);
    m->observe.expected = (struct wire_bytes){big, WIRE_FRAME_MAX};
    assert_int_equal(wire_encode(m, frame, 2 * WIRE_FRAME_MAX), -E2BIG);
    m->observe.expected = (struct wire_bytes){NULL, 0};
    m->observe.program.env.n = WIRE_LIST_MAX + 1;
    assert_int_equal(wire_encode(m, frame, WIRE_FRAME_MAX), -E2BIG);
    m->observe.program.env.n = 0;
    m->observe.program.cwd = NULL;
    assert_int_equal(wire_encode(m, frame, WIRE_FRAME_MAX), -EINVAL);
    m->type = (enum wire_type)0;
    assert_int_equal(wire_encode(m, frame, WIRE_FRAME_MAX), -EINVAL);
    m->type = (enum wire_type)(WIRE_SOURCES + 1);
    assert_int_equal(wire_encode(m, frame, WIRE_FRAME_MAX), -EINVAL);
}

static void test_frame_length_is_bounded(void **state)
{
    const uint8_t zero[4] = {0}, one[4] = {1}, two[4] = {2}, huge[4] = {255, 255, 255, 255};
    const uint8_t most[4] = {0xfc, 0xff, 0x0f, 0}, over[4] = {0xfd, 0xff, 0x0f, 0};

    assert_int_equal(wire_frame_rest(zero), -EBADMSG);
    assert_int_equal(wire_frame_rest(one), -EBADMSG);
    assert_int_equal(wire_frame_rest(two), 2);
    assert_int_equal(wire_frame_rest(most), WIRE_FRAME_MAX - WIRE_HEADER);
    assert_int_equal(wire_frame_rest(over), -EBADMSG);
    assert_int_equal(wire_frame_rest(huge), -EBADMSG);
}

/* ---- hostile frames, written by hand */

struct frame {
    uint8_t data[512];
    size_t len;
};

static struct frame begin(unsigned type)
{
    struct frame f = {.len = HEADER};

    f.data[4] = (uint8_t)type;
    return f;
}

static void add(struct frame *f, unsigned tag, const void *data, size_t len)
{
    f->data[f->len] = (uint8_t)tag;
    f->data[f->len + 1] = (uint8_t)(tag >> 8);
    for (size_t i = 0; i < 4; i++)
        f->data[f->len + 2 + i] = (uint8_t)(len >> (8 * i));
    memcpy(f->data + f->len + 6, data, len);
    f->len += 6 + len;
}

static int decode(struct frame *f)
{
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    /* In a block of its own size, so that a sanitizer sees every byte read beyond it. */
    CLEANUP(mem_freep) uint8_t *exact = mem_alloc(f->len);

    f->data[0] = (uint8_t)(f->len - WIRE_HEADER);
    f->data[1] = (uint8_t)((f->len - WIRE_HEADER) >> 8);
    memcpy(exact, f->data, f->len);
    return wire_decode(exact, f->len, out);
}

static const uint8_t int8[8] = {1};

static struct frame hello(void)
{
    struct frame f = begin(WIRE_HELLO);

    add(&f, 1, int8, 8);
    add(&f, 2, int8, 8);
    add(&f, 3, int8, 8);
    return f;
}

static void test_only_exact_frames_decode(void **state)
{
    struct frame f = hello();

    assert_int_equal(decode(&f), 0);
    f = hello();
    add(&f, 3, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG); /* twice */
    f = hello();
    add(&f, 4, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG); /* unknown tag */
    f = hello();
    add(&f, 0, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG);
    f = hello();
    add(&f, 65535, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG);
    f = begin(WIRE_HELLO);
    add(&f, 1, int8, 8);
    add(&f, 2, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG); /* one is missing */
    f = begin(WIRE_HELLO);
    add(&f, 2, int8, 8);
    add(&f, 3, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG); /* no id */
    f = begin(WIRE_HELLO);
    add(&f, 1, int8, 8);
    add(&f, 2, int8, 7);
    add(&f, 3, int8, 8);
    assert_int_equal(decode(&f), -EBADMSG); /* not an integer */
    f = hello();
    f.data[4] = 0;
    assert_int_equal(decode(&f), -EBADMSG);
    f = hello();
    f.data[5] = 1;
    assert_int_equal(decode(&f), -EBADMSG); /* type 257 */
}

static void test_strings_end_with_their_only_nul(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        int rc;
    } cases[] = {{"/x", 3, 0},          {"", 1, 0},        {"/x", 2, -EBADMSG},
                 {"a\0b", 4, -EBADMSG}, {"", 0, -EBADMSG}, {"a\0", 3, -EBADMSG}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct frame f = begin(WIRE_EXEC);
        add(&f, 1, int8, 8);
        add(&f, 2, "argv", 5);
        add(&f, 4, cases[i].bytes, cases[i].len);
        add(&f, 5, "/log", 5);
        add(&f, 6, int8, 8);
        add(&f, 7, int8, 8);
        assert_int_equal(decode(&f), cases[i].rc);
    }
}

static void test_list_longer_than_its_room_is_refused(void **state)
{
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    CLEANUP(mem_freep) struct wire_msg *in = make_observe();
    static uint8_t frame[65536];

    for (size_t i = 0; i < WIRE_LIST_MAX; i++)
        in->observe.program.argv.v[i] = "x";
    in->observe.program.argv.n = WIRE_LIST_MAX;
    int len = wire_encode(in, frame, sizeof frame);
    assert_int_equal(wire_decode(frame, (size_t)len, out), 0);
    assert_int_equal(out->observe.program.argv.n, WIRE_LIST_MAX);
    /* One more of the same tag, behind everything else. */
    static const uint8_t more[] = {2, 0, 2, 0, 0, 0, 'y', 0};
    memcpy(frame + len, more, sizeof more);
    len += (int)sizeof more;
    for (int i = 0; i < 4; i++)
        frame[i] = (uint8_t)((len - WIRE_HEADER) >> (8 * i));
    assert_int_equal(wire_decode(frame, (size_t)len, out), -EBADMSG);
}

static void test_every_cut_frame_is_refused(void **state)
{
    CLEANUP(mem_freep) struct wire_msg *in = make_observe();
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    uint8_t frame[1024];
    int len = wire_encode(in, frame, sizeof frame);

    for (int cut = 0; cut < len; cut++) {
        CLEANUP(mem_freep) uint8_t *exact = mem_alloc((size_t)cut + 1);
        memcpy(exact, frame, (size_t)cut);
        assert_int_equal(wire_decode(exact, (size_t)cut, out), -EBADMSG);
    }
}

static void test_damaged_frames_never_read_beyond_their_end(void **state)
{
    CLEANUP(mem_freep) struct wire_msg *in = make_observe();
    CLEANUP(mem_freep) struct wire_msg *out = mem_alloc(sizeof *out);
    uint8_t frame[1024], again[1024];
    int len = wire_encode(in, frame, sizeof frame);
    unsigned seed = (unsigned)time(NULL);
    int refused = 0;

    print_message("seed %u\n", seed);
    for (int i = 0; i < 20000; i++) {
        CLEANUP(mem_freep) uint8_t *exact = mem_alloc((size_t)len);
        memcpy(exact, frame, (size_t)len);
        for (int hits = 1 + rand_r(&seed) % 3; hits > 0; hits--)
            exact[WIRE_HEADER + rand_r(&seed) % (len - WIRE_HEADER)] = (uint8_t)rand_r(&seed);
        int rc = wire_decode(exact, (size_t)len, out);
        assert_true(rc == 0 || rc == -EBADMSG);
        refused += rc != 0;
        /* What decodes is whole: every string in it can be read and written again. */
        if (rc == 0)
            assert_true(wire_encode(out, again, sizeof again) > 0);
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observe_comes_out_as_it_went_in),
        cmocka_unit_test(test_every_type_survives_encoding_twice),
        cmocka_unit_test(test_empty_bytes_are_not_missing_bytes),
        cmocka_unit_test(test_what_does_not_fit_is_not_encoded),
        cmocka_unit_test(test_frame_length_is_bounded),
        cmocka_unit_test(test_only_exact_frames_decode),
        cmocka_unit_test(test_strings_end_with_their_only_nul),
        cmocka_unit_test(test_list_longer_than_its_room_is_refused),
        cmocka_unit_test(test_every_cut_frame_is_refused),
        cmocka_unit_test(test_damaged_frames_never_read_beyond_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
