/* collections PROGRAM [COUNT COUNT]: one program of the suite; prints its result. */
#include "dict.h"
#include "memory.h"
#include "set.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 40, STRIDE = 7919 };

struct text {
    char *bytes;
    size_t length;
};

/* "key-17"; returns its length. */
static size_t numbered(char text[TEXT_BYTES], const char *word, int64_t number)
{
    int length = snprintf(text, TEXT_BYTES, "%s-%" PRId64, word, number);

    if (length < 0 || length >= TEXT_BYTES)
        fail("collections: a text is too long");
    return (size_t)length;
}

/* As the other languages do it by default: an overflow is an error. */
static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        fail("collections: overflow");
    return sum;
}

static int64_t dict_build_get(int64_t keys, int64_t gets)
{
    struct dict dict = {0};
    char key[TEXT_BYTES];
    int64_t sum = 0;

    for (int64_t i = 0; i < keys; i++)
        dict_put_int(&dict, key, numbered(key, "key", i), i);
    for (int64_t g = 0; g < gets; g++) {
        const struct value *value = dict_get(&dict, key, numbered(key, "key", g * STRIDE % keys));

        if (value == NULL || value->kind != VALUE_INT)
            fail("collections: %s is not there", key);
        sum = add(sum, value->number);
    }
    dict_free(&dict);
    return sum;
}

static int64_t set_insert_contains(int64_t inserts, int64_t tests)
{
    struct set set = {0};
    int64_t hits = 0;

    for (int64_t i = 0; i < inserts; i++)
        set_insert(&set, 3 * i);
    for (int64_t t = 0; t < tests; t++)
        hits += set_contains(&set, t * STRIDE % (3 * inserts)) ? 1 : 0;
    set_free(&set);
    return hits;
}

static int64_t int_list_sum(int64_t count, int64_t passes)
{
    int64_t *list = allocate((size_t)count, sizeof *list);
    int64_t total = 0;

    for (int64_t i = 0; i < count; i++)
        list[i] = i % 1000;
    for (int64_t pass = 0; pass < passes; pass++) {
        /* The compiler has to assume that the list changes between two passes. */
        __asm__ volatile("" : "+r"(list) : : "memory");
        for (int64_t i = 0; i < count; i++)
            total = add(total, list[i]);
    }
    free(list);
    return total;
}

static struct text *numbered_list(int64_t count, int64_t different)
{
    struct text *list = allocate((size_t)count, sizeof *list);
    char text[TEXT_BYTES];

    for (int64_t i = 0; i < count; i++) {
        list[i].length = numbered(text, "name", i % different);
        list[i].bytes = copy_text(text, list[i].length);
    }
    return list;
}

static int64_t string_list_scan(int64_t count, int64_t passes)
{
    struct text *list = numbered_list(count, 100);
    struct text wanted = {"name-42", strlen("name-42")};
    int64_t hits = 0;

    for (int64_t pass = 0; pass < passes; pass++) {
        __asm__ volatile("" : "+r"(list) : : "memory");
        for (int64_t i = 0; i < count; i++)
            if (list[i].length == wanted.length &&
                memcmp(list[i].bytes, wanted.bytes, wanted.length) == 0)
                hits++;
    }
    for (int64_t i = 0; i < count; i++)
        free(list[i].bytes);
    free(list);
    return hits;
}

static void fill_record(struct dict *record, int64_t i)
{
    char text[TEXT_BYTES];

    dict_put_int(record, "id", 2, i);
    (void)numbered(text, "user", i);
    dict_put_text(record, "name", 4, text);
    dict_put_int(record, "age", 3, i % 90);
    (void)numbered(text, "city", i % 50);
    dict_put_text(record, "city", 4, text);
}

static int64_t record_field_reads(int64_t count, int64_t passes)
{
    struct dict *records = allocate((size_t)count, sizeof *records);
    int64_t sum = 0;

    for (int64_t i = 0; i < count; i++)
        fill_record(&records[i], i);
    for (int64_t pass = 0; pass < passes; pass++) {
        __asm__ volatile("" : "+r"(records) : : "memory");
        for (int64_t i = 0; i < count; i++) {
            const struct value *age = dict_get(&records[i], "age", 3);

            if (age != NULL && age->kind == VALUE_INT)
                sum = add(sum, age->number);
        }
    }
    for (int64_t i = 0; i < count; i++)
        dict_free(&records[i]);
    free(records);
    return sum;
}

static const struct {
    const char *name;
    int64_t (*run)(int64_t count, int64_t times);
} programs[] = {
    {"dict_build_get", dict_build_get},
    {"set_insert_contains", set_insert_contains},
    {"int_list_sum", int_list_sum},
    {"string_list_scan", string_list_scan},
    {"record_field_reads", record_field_reads},
};

static int64_t parse_count(const char *text)
{
    char *end;
    long long value;

    errno = 0;
    value = strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < 1 || value > 100000000)
        fail("collections: %s is not a number from 1 to 100000000", text);
    return value;
}

static void run(const char *name, int64_t count, int64_t times)
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, name) == 0) {
            printf("%s %" PRId64 " %" PRId64 " %" PRId64 "\n", name, count, times,
                   programs[i].run(count, times));
            return;
        }
    fail("collections: there is no program %s", name);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "startup") == 0)
        puts("startup");
    else if (argc == 4)
        run(argv[1], parse_count(argv[2]), parse_count(argv[3]));
    else
        fail("usage: collections PROGRAM COUNT TIMES, or collections startup");
    if (fflush(stdout) != 0)
        fail("collections: cannot write to stdout");
    return 0;
}
