/* The strict reader and the canonical form, held against cJSON: what is accepted cJSON reads whole
 * and to the same values; the canonical text says the same and is its own canonical text. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/json/json.h"
#include "proto/json/json_text.h"
#include "unit/client/json_tree_renamed.h"

static void must_be_equal(const cJSON *a, const cJSON *b);

static void members_must_be_equal(const cJSON *a, const cJSON *b)
{
    const cJSON *m;

    cJSON_ArrayForEach (m, a) {
        const cJSON *other = cJSON_GetObjectItemCaseSensitive(b, m->string);
        MUST(other, "%s is gone", m->string);
        must_be_equal(m, other);
    }
}

static void must_be_equal(const cJSON *a, const cJSON *b)
{
    MUST((a->type & 0xff) == (b->type & 0xff));
    if (cJSON_IsString(a))
        MUST(strcmp(a->valuestring, b->valuestring) == 0, "%s, %s", a->valuestring, b->valuestring);
    if (cJSON_IsNumber(a))
        MUST(a->valuedouble == b->valuedouble && isfinite(a->valuedouble));
    if (!cJSON_IsObject(a) && !cJSON_IsArray(a))
        return;
    MUST(cJSON_GetArraySize(a) == cJSON_GetArraySize(b));
    if (cJSON_IsObject(a))
        members_must_be_equal(a, b);
    else
        for (const cJSON *x = a->child, *y = b->child; x; x = x->next, y = y->next)
            must_be_equal(x, y);
}

/* cJSON's own reading, which must take exactly the bytes that were accepted; and the client's. */
static void must_agree_with_cjson(const char *data, size_t len, const cJSON *doc)
{
    const char *end = NULL;
    cJSON *other = cJSON_ParseWithLengthOpts(data, len, &end, false);

    MUST(other);
    for (; end < data + len; end++)
        MUST(strchr(" \t\r\n", *end), "cJSON left a rest");
    must_be_equal(doc, other);
    cJSON_Delete(other);
    other = tree_parse(data, len);
    must_be_equal(doc, other);
    tree_delete(other);
}

static void must_be_canonical(const char *text, const cJSON *doc)
{
    struct buf again = {0};
    cJSON *other = NULL;
    struct err e = {0};
    size_t len = strlen(text);

    MUST(json_canonical(text, len, &again, &e) == 0, "%s", e.text);
    MUST(again.len == len && memcmp(again.data, text, len) == 0, "%s", again.data);
    MUST(json_parse(text, len, &other, &e) == 0, "%s", e.text);
    must_be_equal(doc, other);
    MUST(text[len - 1] == '\n' && !memchr(text, '\n', len - 1));
    cJSON_Delete(other);
    buf_deinit(&again);
}

static void accepted(const char *data, size_t len, cJSON *doc)
{
    struct buf out = {0};
    struct err e = {0};

    must_agree_with_cjson(data, len, doc);
    MUST(json_canonical(data, len, &out, &e) == 0, "%s", e.text);
    must_be_canonical(out.data, doc);
    buf_deinit(&out);
    cJSON_Delete(doc);
}

static void refused(const char *data, size_t len, int rc, const struct err *e)
{
    struct buf out = {0};
    struct err why = {0};
    size_t offset;

    fuzz_refused(rc, e);
    MUST(e->field[0]);
    if (strcmp(e->code, "json.bad") == 0)
        MUST(sscanf(e->field, "offset %zu", &offset) == 1 && offset <= len, "%s", e->field);
    else
        MUST(strcmp(e->code, "json.duplicate_key") == 0, "%s", e->code);
    /* Only the length of strings is bounded in the one and not in the other. */
    bool bound = strstr(e->text, "longer than this document allows") != NULL;
    buf_puts(&out, "kept");
    if (json_canonical(data, len, &out, &why) < 0)
        MUST(strcmp(out.data, "kept") == 0 && (bound || strcmp(why.code, e->code) == 0), "%s",
             why.code);
    else
        MUST(bound, "%s", e->text);
    buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct err e = {0};
    cJSON *doc = NULL;
    bool small = fuzz_byte(&in) & 1; /* a bound for strings that inputs reach */
    const char *text = (const char *)in.at;
    int rc = json_parse_max(text, in.left, small ? 8 : JSON_STRING_MAX, &doc, &e);

    MUST((rc == 0) == (doc != NULL));
    if (fuzz_accepted(rc, &e))
        accepted(text, in.left, doc);
    else
        refused(text, in.left, rc, &e);
    return 0;
}
