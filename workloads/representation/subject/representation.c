/* representation PROGRAM TIMES [--count]: one program; prints its result, or with --count what the
 * runtime counted. */
#include "callable.h"
#include "runtime.h"
#include "value.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- unions */

static int64_t union_scalar_local(int64_t times)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < times; i++) {
        value v = i % 2 == 0 ? value_of_int(i) : value_none();

        if (value_look(&v)->tag == TAG_INT)
            sum += value_look(&v)->number;
        value_drop(&v);
    }
    return sum;
}

struct item {
    int64_t id;
    value place; /* a point or nothing */
};

static int64_t union_class_field(int64_t times)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < times; i++) {
        struct item item = {i, i % 2 == 0 ? value_of_point((struct point){i, 1}) : value_none()};

        if (value_look(&item.place)->tag == TAG_POINT)
            sum += value_look(&item.place)->point.x + value_look(&item.place)->point.y;
        value_drop(&item.place);
    }
    return sum;
}

static int64_t union_text_local(int64_t times)
{
    struct text text = {.references = 1, .bytes = "text"};
    int64_t sum = 0;

    for (int64_t i = 0; i < times; i++) {
        value v = i % 2 == 0 ? value_of_text(&text) : value_none();

        if (value_look(&v)->tag == TAG_TEXT)
            sum += (int64_t)strlen(value_look(&v)->text->bytes);
        value_drop(&v);
    }
    if (text.references != 1)
        fail("a reference was lost");
    return sum;
}

/* ---- callables */

static int64_t add_one(const int64_t *captures, int64_t argument)
{
    return captures[0] + argument;
}

static int64_t add_four(const int64_t *captures, int64_t argument)
{
    return captures[0] + captures[1] + captures[2] + captures[3] + argument;
}

static const struct signature one = {add_one, 1};
static const struct signature four = {add_four, 4};

static int64_t pack_and_call(const struct signature *signature, int64_t times)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < times; i++) {
        const int64_t captures[] = {i, 1, 2, 3};
        struct callable callable = callable_pack(signature, captures);

        sum += callable_call(&callable, 1);
        callable_drop(&callable);
    }
    return sum;
}

static int64_t callable_pack_inline(int64_t times)
{
    return pack_and_call(&one, times);
}

static int64_t callable_pack_overflow(int64_t times)
{
    return pack_and_call(&four, times);
}

static int64_t callable_moves(int64_t times)
{
    const int64_t captures[] = {2};
    struct callable callable = callable_pack(&one, captures);
    int64_t sum = 0;

    for (int64_t i = 0; i < times; i++) {
        struct callable moved = callable_move(&callable);

        sum += callable_call(&moved, i);
        callable = callable_move(&moved);
    }
    callable_drop(&callable);
    return sum;
}

/* ---- which of them */

static const struct {
    const char *name;
    int64_t (*run)(int64_t times);
} programs[] = {
    {"union_scalar_local", union_scalar_local},
    {"union_class_field", union_class_field},
    {"union_text_local", union_text_local},
    {"callable_pack_inline", callable_pack_inline},
    {"callable_pack_overflow", callable_pack_overflow},
    {"callable_move", callable_moves},
};

static void print_counters(void)
{
    printf("COUNTER union_boxes %" PRIu64 "\nCOUNTER environments %" PRIu64
           "\nCOUNTER overflow_blocks %" PRIu64 "\nCOUNTER retains %" PRIu64
           "\nCOUNTER releases %" PRIu64 "\n",
           counters.union_boxes, counters.environments, counters.overflow_blocks, counters.retains,
           counters.releases);
}

static int64_t parse_times(const char *text)
{
    char *end;
    long long number;

    errno = 0;
    number = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || number < 1 || number > 1000000000)
        fail("TIMES is a number from 1 to 1000000000");
    return number;
}

static int64_t run(const char *name, int64_t times)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, name) == 0)
            return programs[i].run(times);
    fail("there is no such program");
}

int main(int argc, char **argv)
{
    int count = argc == 4 && strcmp(argv[3], "--count") == 0;
    int64_t result;

    if (argc != 3 && !count)
        fail("usage: representation PROGRAM TIMES [--count]");
    result = run(argv[1], parse_times(argv[2]));
    if (count)
        print_counters();
    else
        printf("%s %s %" PRId64 "\n", argv[1], argv[2], result);
    if (fflush(stdout) != 0)
        fail("cannot write to stdout");
    return 0;
}
