/* Receipts: reader, writer and schemas have the same fields, and what contradicts itself is
 * refused. */
#include "../unit.h"

#include <math.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/doc/doc_kernel.h"
#include "proto/wire/kernel_wire.h"

static const char *const examples[] = {"native.json", "browser.json", "harn-native.json",
                                       "harn-browser.json"};

static void read_file(const char *path, struct buf *out)
{
    struct err e = {0};
    if (file_read(path, 1 << 20, out, &e))
        fail_msg("%s", e.text);
}

static cJSON *parsed(const char *text, size_t len)
{
    struct err e = {0};
    cJSON *doc = NULL;
    if (json_parse(text, len, &doc, &e))
        fail_msg("%s", e.text);
    return doc;
}

static cJSON *example(const char *name, struct buf *text)
{
    CLEANUP(mem_freep) char *path = mem_printf("%s/kernel/%s", getenv("AURABENCH_FIXTURES"), name);
    read_file(path, text);
    return parsed(text->data, text->len);
}

static const char *schema_file(bool harn)
{
    return harn ? PROTO_DIR "/schema/kernel_harn.json" : PROTO_DIR "/schema/kernel.json";
}

static void the_schemas_are_those_of_the_table(void **state)
{
    for (int harn = 0; harn < 2; harn++) {
        struct buf file = {0}, made = {0};
        struct json_out o;
        read_file(schema_file(harn), &file);
        json_out_init(&o, &made);
        kernel_schema_encode(&o, harn);
        cJSON *x = parsed(file.data, file.len), *y = parsed(made.data, made.len);
        if (!cJSON_Compare(x, y, true))
            fail_msg("%s is not what kernel_schema prints; make it anew", schema_file(harn));
        cJSON_Delete(x);
        cJSON_Delete(y);
        buf_deinit(&file);
        buf_deinit(&made);
    }
}

/* ---- every set of fields, both ways */

static size_t count(const cJSON *node)
{
    return (size_t)cJSON_GetArraySize(node);
}

static bool required(const cJSON *schema, const char *key)
{
    const cJSON *item;
    cJSON_ArrayForEach (item, cJSON_GetObjectItemCaseSensitive(schema, "required"))
        if (strcmp(item->valuestring, key) == 0)
            return true;
    return false;
}

static const cJSON *object_of(const cJSON *schema)
{
    const cJSON *any = cJSON_GetObjectItemCaseSensitive(schema, "anyOf");
    return any ? any->child : schema;
}

/* Table, schema and document name the same members; the schema is closed and requires all. */
static size_t compare_sets(const struct kernel_part *part, const cJSON *schema, const cJSON *doc)
{
    const cJSON *properties = cJSON_GetObjectItemCaseSensitive(schema, "properties");
    size_t objects = 1;
    assert_true(cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(schema, "additionalProperties")));
    assert_int_equal(count(properties), part->n);
    assert_int_equal(count(cJSON_GetObjectItemCaseSensitive(schema, "required")), part->n);
    assert_int_equal(count(doc), part->n);
    for (size_t i = 0; i < part->n; i++) {
        const struct kernel_field *f = &part->fields[i];
        const cJSON *property = cJSON_GetObjectItemCaseSensitive(properties, f->key);
        const cJSON *member = cJSON_GetObjectItemCaseSensitive(doc, f->key);
        assert_non_null(property);
        assert_non_null(member);
        assert_true(required(schema, f->key));
        if (f->kind == KERNEL_F_PART && !cJSON_IsNull(member))
            objects += compare_sets(f->part, object_of(property), member);
    }
    return objects;
}

static void every_field_set_is_the_same_in_table_schema_and_document(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        const bool harn = strncmp(examples[i], "harn", 4) == 0;
        struct buf text = {0}, file = {0};
        cJSON *doc = example(examples[i], &text);
        read_file(schema_file(harn), &file);
        cJSON *schema = parsed(file.data, file.len);
        size_t objects = compare_sets(harn ? &kernel_part_harn : &kernel_part_ours, schema, doc);
        /* receipt, provenance, compile, dispatch and their statistics; decode where it is */
        assert_int_equal(objects, strstr(examples[i], "browser") ? 6 : 7);
        cJSON_Delete(schema);
        cJSON_Delete(doc);
        buf_deinit(&text);
        buf_deinit(&file);
    }
}

static void a_receipt_is_written_as_it_was_read(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
        CLEANUP(arena_deinit) struct arena a = {0};
        struct buf text = {0}, again = {0};
        struct kernel_receipt *r = NULL;
        struct json_out o;
        struct err e = {0};
        cJSON *doc = example(examples[i], &text);
        if (kernel_receipt_decode(&a, text.data, text.len, &r, &e))
            fail_msg("%s: %s", examples[i], e.text);
        assert_int_equal(r->target,
                         strstr(examples[i], "browser") ? KERNEL_BROWSER : KERNEL_NATIVE);
        json_out_init(&o, &again);
        kernel_receipt_encode(&o, NULL, r);
        cJSON *copy = parsed(again.data, again.len);
        assert_true(cJSON_Compare(doc, copy, true));
        cJSON_Delete(copy);
        cJSON_Delete(doc);
        buf_deinit(&text);
        buf_deinit(&again);
    }
}

/* ---- refusals */

static void refused(const char *from, const char *to, const char *code)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct buf text = {0}, changed = {0};
    struct kernel_receipt *r = NULL;
    struct err e = {0};
    cJSON *doc = example("native.json", &text);
    char *at = strstr(text.data, from);
    if (!at)
        fail_msg("the example has no %s", from);
    buf_add(&changed, text.data, (size_t)(at - text.data));
    buf_puts(&changed, to);
    buf_puts(&changed, at + strlen(from));
    if (kernel_receipt_decode(&a, changed.data, changed.len, &r, &e) == 0)
        fail_msg("%s was taken", to);
    assert_null(r);
    assert_string_equal(e.code, code);
    cJSON_Delete(doc);
    buf_deinit(&text);
    buf_deinit(&changed);
}

static void what_is_no_receipt_is_refused(void **state)
{
    refused("aurabench.kernel.v1", "aurabench.kernel.v2", "json.schema");
    refused("\"entry\"", "\"entrance\"", "json.unknown_key");
    refused("\"workers\": 4", "\"workers\": 257", "json.range");
    refused("\"iterations\": 500,\n  \"workers\"", "\"iterations\": 0,\n  \"workers\"",
            "json.range");
    refused("\"native\"", "\"phone\"", "json.value");
    refused("\"artifactDigest\": \"c", "\"artifactDigest\": \"C", "json.value");
    refused("\"source\": \"example/reducer.pk\"", "\"source\": \"\"", "json.value");
    refused("\"batchWallMs\": ", "\"batchWallMs\": -", "json.range");
    refused("\"batchWallMs\": 0.291348", "\"batchWallMs\": 0", "json.range");
    refused("\"decode\": {", "\"decode\": 7, \"decoder\": {", "json.unknown_key");
}

static void what_contradicts_itself_is_refused(void **state)
{
    refused("\"iterations\": 500,\n  \"workers\"", "\"iterations\": 400,\n  \"workers\"",
            "kernel.receipt");
    refused("\"throughputPerSecond\": ", "\"throughputPerSecond\": 1", "kernel.receipt");
    refused("\"min_ms\": 0", "\"min_ms\": 9", "kernel.receipt");
    refused("\"mean_ms\": 0", "\"mean_ms\": 9", "kernel.receipt");
    refused("\"total_ms\": ", "\"total_ms\": 1", "kernel.receipt");
    refused("\"stddev_ms\": 0", "\"stddev_ms\": 9", "kernel.receipt");
}

/* ---- what a driver says */

static void message_refused(const char *line)
{
    CLEANUP(arena_deinit) struct arena a = {0};
    struct kernel_message m;
    struct err e = {0};
    if (kernel_message_decode(&a, line, strlen(line), &m, &e) == 0)
        fail_msg("%s was taken", line);
    assert_string_equal(e.code, "kernel.driver");
}

static void what_is_no_message_is_refused(void **state)
{
    message_refused("garbage");
    message_refused("[]");
    message_refused("{}");
    message_refused("{\"samples\":\"link\",\"ns\":[1]}");
    message_refused("{\"samples\":\"decode\",\"ns\":[]}");
    message_refused("{\"samples\":\"decode\",\"ns\":[1.5]}");
    message_refused("{\"samples\":\"decode\",\"ns\":[-1]}");
    message_refused("{\"samples\":\"decode\",\"ns\":[null]}");
    message_refused("{\"samples\":\"compile\",\"ns\":[1],\"digest\":\"12\"}");
    message_refused("{\"samples\":\"decode\",\"ns\":[1],\"more\":1}");
    message_refused("{\"samples\":\"dispatch\",\"ns\":[1],\"worker\":256}");
    message_refused("{\"done\":\"compile\"}");
    message_refused("{\"done\":\"compile\",\"artifactBytes\":0}");
    message_refused("{\"done\":\"dispatch\",\"batchWallNs\":0,\"workers\":1}");
    message_refused("{\"error\":\"\"}");
    message_refused("{\"kernelDriver\":2,\"name\":\"x\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_schemas_are_those_of_the_table),
        cmocka_unit_test(every_field_set_is_the_same_in_table_schema_and_document),
        cmocka_unit_test(a_receipt_is_written_as_it_was_read),
        cmocka_unit_test(what_is_no_receipt_is_refused),
        cmocka_unit_test(what_contradicts_itself_is_refused),
        cmocka_unit_test(what_is_no_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
