/* The client's functions of cJSON do what the library's do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "json_tree_renamed.h"

static void must_be_equal(const cJSON *a, const cJSON *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(tree_kind(b), b->type);
    assert_int_equal(a->string != NULL, b->string != NULL);
    if (a->string)
        assert_string_equal(a->string, b->string);
    assert_int_equal(a->valuestring != NULL, b->valuestring != NULL);
    if (a->valuestring)
        assert_string_equal(a->valuestring, b->valuestring);
    assert_memory_equal(&a->valuedouble, &b->valuedouble, sizeof a->valuedouble);
    assert_int_equal(a->valueint, b->valueint);
    const cJSON *x = a->child, *y = b->child;
    for (; x && y; x = x->next, y = y->next) {
        must_be_equal(x, y);
        assert_int_equal(x->prev == a->child, y->prev == b->child);
    }
    assert_true(!x && !y);
}

static void what_is_read_is_what_the_library_reads(void **state)
{
    static const char *const texts[] = {
        "{}",
        " [ ] ",
        "null",
        "\"\"",
        "[true,false,null,0,-0,1,-1,1.5,-2.5e-3,1E+2,9007199254740991,-9007199254740991,1e300]",
        "{\"a\":{\"b\":[{\"c\":[[],{}]},\"d\"]} , \"e\" : \"f\"}",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00 \xc3\xa9\xe2\x82\xac\"",
        "{\"\\u0061\\n\":\"x\",\"\":1}\n\t ",
        "[2147483647,2147483648,-2147483648,-2147483649,0.1,123456789012345]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cJSON *theirs = cJSON_ParseWithLength(texts[i], strlen(texts[i]));
        cJSON *ours = tree_parse(texts[i], strlen(texts[i]));
        assert_non_null(theirs);
        must_be_equal(theirs, ours);
        cJSON_Delete(theirs);
        tree_delete(ours);
    }
}

static void items_are_found_as_the_library_finds_them(void **state)
{
    static const char text[] = "{\"a\":[1,2,3],\"A\":4,\"b\":{}}";
    cJSON *doc = tree_parse(text, sizeof text - 1), *array = tree_member(doc, "a");

    assert_int_equal(tree_size(doc), 3);
    assert_int_equal(tree_size(array), cJSON_GetArraySize(array));
    assert_int_equal(tree_size(NULL), 0);
    for (int i = -1; i <= 3; i++)
        assert_ptr_equal(tree_item(array, i), cJSON_GetArrayItem(array, i));
    assert_ptr_equal(tree_member(doc, "A"), doc->child->next);
    assert_null(tree_member(doc, "B"));
    assert_null(tree_member(NULL, "a"));
    assert_null(tree_item(NULL, 0));
    assert_int_equal(tree_kind(NULL), 0);
    tree_delete(doc);
}

static void must_print(const cJSON *doc, const char *text)
{
    char *printed = cJSON_PrintUnformatted(doc);

    assert_string_equal(printed, text);
    cJSON_free(printed);
}

static void lists_keep_whole_when_items_move(void **state)
{
    static const char text[] = "{\"from\":[1,2,3],\"to\":[0],\"document\":null}";
    cJSON *doc = tree_parse(text, sizeof text - 1);
    cJSON *from = tree_member(doc, "from"), *to = tree_member(doc, "to");

    assert_true(tree_add(to, tree_detach(from, from->child->next))); /* from the middle */
    assert_true(tree_add(to, tree_detach(from, from->child->next))); /* the last */
    assert_ptr_equal(from->child->prev, from->child);
    assert_true(tree_add(to, tree_detach(from, from->child))); /* the only one */
    assert_null(from->child);
    assert_true(tree_add(from, tree_detach(to, to->child))); /* the first */
    assert_true(tree_replace(doc, "document", tree_parse("[7]", 3)));
    cJSON *none = tree_parse("8", 1);
    assert_false(tree_replace(doc, "absent", none));
    tree_delete(none);
    must_print(doc, "{\"from\":[0],\"to\":[2,3,1],\"document\":[7]}");
    assert_ptr_equal(to->child->prev, to->child->next->next);
    tree_delete(doc);
}

/* In its place, wherever that is. */
static void what_is_replaced_stays_where_it_is(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{\"a\":1}", "{\"a\":[7]}"},
        {"{\"a\":1,\"b\":2}", "{\"a\":[7],\"b\":2}"},
        {"{\"b\":2,\"a\":1}", "{\"b\":2,\"a\":[7]}"},
        {"{\"b\":2,\"a\":1,\"c\":3}", "{\"b\":2,\"a\":[7],\"c\":3}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cJSON *ours = tree_parse(cases[i].before, strlen(cases[i].before));
        cJSON *theirs = cJSON_Parse(cases[i].before);
        assert_true(tree_replace(ours, "a", tree_parse("[7]", 3)));
        assert_true(cJSON_ReplaceItemInObjectCaseSensitive(theirs, "a", cJSON_Parse("[7]")));
        must_print(ours, cases[i].after);
        must_print(theirs, cases[i].after);
        for (const cJSON *o = ours->child, *t = theirs->child; o; o = o->next, t = t->next)
            assert_string_equal(o->prev->string, t->prev->string);
        tree_delete(ours);
        cJSON_Delete(theirs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_what_the_library_reads),
        cmocka_unit_test(items_are_found_as_the_library_finds_them),
        cmocka_unit_test(lists_keep_whole_when_items_move),
        cmocka_unit_test(what_is_replaced_stays_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
