/* What a program says of itself: this test's own program, and small ones made and damaged here. */
#include "unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/form/elf.h"

struct seen {
    const char *wanted;
    bool library, symbol;
    size_t n;
};

static void see_library(void *of, const char *name)
{
    struct seen *s = of;
    s->library = s->library || strcmp(name, s->wanted) == 0;
    s->n++;
}

static void see_symbol(void *of, const char *name)
{
    struct seen *s = of;
    s->symbol = s->symbol || strcmp(name, s->wanted) == 0;
    s->n++;
}

struct image {
    uint8_t *data;
    size_t bytes;
};

static bool read_image(void *of, uint64_t at, void *to, size_t len)
{
    const struct image *i = of;
    if (at > i->bytes || len > i->bytes - at)
        return false;
    memcpy(to, i->data + at, len);
    return true;
}

static int look(const struct image *image, struct seen *s)
{
    struct image copy = *image;
    const struct elf_file file = {image->bytes, read_image, &copy};
    const struct elf_seen seen = {see_library, see_symbol, s};
    return elf_read(&file, &seen);
}

static struct image own_program(void)
{
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    struct image image = {mem_alloc((size_t)st.st_size), (size_t)st.st_size};
    assert_int_equal(read(fd, image.data, image.bytes), image.bytes);
    assert_int_equal(close(fd), 0);
    return image;
}

static void a_program_tells_of_its_libraries_and_symbols(void **state)
{
    struct image image = own_program();
    struct seen library = {.wanted = "libcmocka.so.0"}, symbol = {.wanted = "elf_read"};
    struct seen none = {.wanted = "libssl.so.3"};

    (void)state;
    assert_int_equal(look(&image, &library), 0);
    assert_int_equal(look(&image, &symbol), 0);
    assert_int_equal(look(&image, &none), 0);
    assert_true(library.library && !library.symbol);
    assert_true(symbol.symbol && !symbol.library);
    assert_true(!none.library && !none.symbol);
    free(image.data);
}

/* ---- small ones */

static void put(uint8_t *at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

static void put_section(uint8_t *at, uint32_t type, uint64_t offset, uint64_t bytes, uint32_t link)
{
    put(at + 4, type, 4);
    put(at + 0x18, offset, 8);
    put(at + 0x20, bytes, 8);
    put(at + 0x28, link, 4);
}

enum { SECTIONS = 64, N_SECTIONS = 4, NAMES = 320, DYNAMIC = 352, SYMBOLS = 400, SMALL = 448 };

/* Sections: none, names, dynamic, symbols. */
static void small(uint8_t *to)
{
    memset(to, 0, SMALL);
    memcpy(to,
           "\x7f"
           "ELF\x02\x01\x01",
           7);
    put(to + 0x28, SECTIONS, 8);
    put(to + 0x3a, 64, 2);
    put(to + 0x3c, N_SECTIONS, 2);
    memcpy(to + NAMES, "\0liba.so\0open", 14);
    put_section(to + SECTIONS + 64, 3, NAMES, 14, 0);
    put_section(to + SECTIONS + 128, 6, DYNAMIC, 48, 1);
    put_section(to + SECTIONS + 192, 11, SYMBOLS, 48, 1);
    put(to + DYNAMIC, 1, 8);
    put(to + DYNAMIC + 8, 1, 8);
    put(to + DYNAMIC + 32, 1, 8); /* behind the end of the list */
    put(to + DYNAMIC + 40, 9, 8);
    put(to + SYMBOLS + 24, 9, 4);
}

static void the_list_of_libraries_ends_where_it_says(void **state)
{
    uint8_t data[SMALL];
    struct image image = {data, SMALL};
    struct seen a = {.wanted = "liba.so"}, open = {.wanted = "open"};

    (void)state;
    small(data);
    assert_int_equal(look(&image, &a), 0);
    assert_int_equal(look(&image, &open), 0);
    assert_true(a.library && open.symbol && !open.library);
    assert_int_equal(a.n, 2);
}

static void names_that_lie_outside_are_none(void **state)
{
    uint8_t data[SMALL];
    struct image image = {data, SMALL};
    struct seen s = {.wanted = "x"};

    (void)state;
    small(data);
    put(data + DYNAMIC + 8, 14, 8);
    put(data + SYMBOLS + 24, UINT32_MAX, 4);
    assert_int_equal(look(&image, &s), 0);
    assert_int_equal(s.n, 0);
}

static void a_file_that_tells_nothing_is_told_from_one_that_has_none(void **state)
{
    uint8_t data[SMALL];
    struct image image = {data, SMALL};
    struct seen s = {.wanted = "x"};

    (void)state;
    small(data);
    put(data + 0x3c, 2, 2); /* stripped of both */
    assert_int_equal(look(&image, &s), -ENODATA);
    put(data + 0x3c, 0, 2);
    assert_int_equal(look(&image, &s), -ENODATA);
}

static void damage_is_refused(void **state)
{
    static const struct {
        size_t at, bytes;
        uint64_t value;
    } bad[] = {
        {0, 1, 'E'},                                 /* no program */
        {4, 1, 1},                                   /* 32 bit */
        {5, 1, 2},                                   /* the other byte order */
        {0x28, 8, UINT64_MAX},                       /* the table of sections */
        {0x28, 8, SMALL - 64},                       /* of which only the first is there */
        {0x3a, 2, 63},                               /* of another size */
        {SECTIONS + 128 + 0x18, 8, UINT64_MAX},      /* an offset */
        {SECTIONS + 128 + 0x20, 8, UINT64_MAX},      /* a size */
        {SECTIONS + 128 + 0x20, 8, SMALL},           /* beyond the end */
        {SECTIONS + 128 + 0x28, 4, N_SECTIONS},      /* names in no section */
        {SECTIONS + 64 + 0x20, 8, (uint64_t)1 << 40} /* names */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        uint8_t data[SMALL];
        struct image image = {data, SMALL};
        struct seen s = {.wanted = "x"};
        small(data);
        put(data + bad[i].at, bad[i].value, bad[i].bytes);
        if (look(&image, &s) != -EBADMSG)
            fail_msg("damage %zu was not refused", i);
    }
    for (size_t bytes = 0; bytes < SYMBOLS + 48; bytes++) {
        uint8_t data[SMALL];
        struct image image = {data, bytes};
        struct seen s = {.wanted = "x"};
        small(data);
        assert_int_equal(look(&image, &s), -EBADMSG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_tells_of_its_libraries_and_symbols),
        cmocka_unit_test(the_list_of_libraries_ends_where_it_says),
        cmocka_unit_test(names_that_lie_outside_are_none),
        cmocka_unit_test(a_file_that_tells_nothing_is_told_from_one_that_has_none),
        cmocka_unit_test(damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
