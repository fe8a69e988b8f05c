/* The writer and the typed reader: what was written, in whatever order and with whatever bytes, is
 * valid and reads back as the same values. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/json/json.h"
#include "proto/json/json_text.h"

#define MEMBERS_MAX 64

enum kind { STR, INT, INT_OR_NULL, NUM, BOOL, NUL, ARGS, KINDS };

struct member {
    char key[8];
    enum kind kind;
    char *text;
    int64_t i;
    double num;
    struct args args;
};

/* Any eight bytes as a double, or a whole one. */
static double double_of(struct fuzz_in *in)
{
    uint64_t bits = fuzz_number(in, 8);
    double v;

    if (bits % 4 == 0)
        return (double)(int64_t)bits;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static struct args args_of(struct fuzz_in *in, struct arena *a)
{
    size_t n = fuzz_below(in, 4);
    struct args args = {arena_array(a, n + 1, sizeof *args.v), n};

    for (size_t i = 0; i < n; i++) {
        CLEANUP(mem_freep) char *text = fuzz_line(in);
        args.v[i] = arena_strdup(a, text);
    }
    return args;
}

static void put(struct json_out *o, struct fuzz_in *in, struct arena *a, struct member *m)
{
    m->kind = (enum kind)fuzz_below(in, KINDS);
    switch (m->kind) {
    case STR:
        m->text = fuzz_line(in);
        json_put_str(o, m->key, m->text);
        break;
    case INT:
        m->i = (int64_t)fuzz_number(in, 8);
        json_put_int(o, m->key, m->i);
        break;
    case INT_OR_NULL:
        m->i = (int64_t)fuzz_number(in, 8);
        json_put_int_or_null(o, m->key, m->i);
        break;
    case NUM:
        m->num = double_of(in);
        json_put_num(o, m->key, m->num);
        break;
    case BOOL:
        m->i = fuzz_byte(in) & 1;
        json_put_bool(o, m->key, m->i != 0);
        break;
    case NUL:
        json_put_null(o, m->key);
        break;
    case ARGS:
        m->args = args_of(in, a);
        json_put_args(o, m->key, &m->args);
        break;
    case KINDS:
        break;
    }
}

/* Bytes that are not UTF-8 come back as U+FFFD, everything else as it was. */
static void must_be_same_text(const char *written, const char *read)
{
    for (size_t left = strlen(written), n; left; left -= n, written += n) {
        size_t valid = json_utf8_len((const unsigned char *)written, left);
        const char *want = valid ? written : "\xef\xbf\xbd";
        size_t len = valid ? valid : 3;
        MUST(strncmp(read, want, len) == 0, "%s", read);
        read += len;
        n = valid ? valid : 1;
    }
    MUST(!*read, "%s is too much", read);
}

static void read_args(struct json_in *in, const cJSON *doc, const struct member *m)
{
    struct args read = json_opt_args(in, doc, m->key, 8);

    MUST(read.n == m->args.n);
    for (size_t i = 0; i < read.n; i++)
        must_be_same_text(m->args.v[i], read.v[i]);
}

static void read_back(struct json_in *in, const cJSON *doc, const struct member *m)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(doc, m->key);
    bool is_null = m->kind == NUL || (m->kind == NUM && !isfinite(m->num)) ||
                   (m->kind == INT_OR_NULL && m->i < 0);

    MUST(item && cJSON_IsNull(item) == is_null, "%s", m->key);
    if (is_null)
        MUST(!json_opt_str(in, doc, m->key, 1, NULL) &&
             json_opt_int(in, doc, m->key, 1, 2, 7) == 7);
    else if (m->kind == STR)
        must_be_same_text(m->text, json_str(in, doc, m->key, JSON_STRING_MAX));
    else if (m->kind == INT || m->kind == INT_OR_NULL)
        MUST(json_int(in, doc, m->key, INT64_MIN, INT64_MAX) == m->i, "%" PRId64, m->i);
    else if (m->kind == NUM)
        MUST(json_num(in, doc, m->key, -INFINITY, INFINITY) == m->num, "%.17g", m->num);
    else if (m->kind == BOOL)
        MUST(json_bool(in, doc, m->key) == (m->i != 0));
    else
        read_args(in, doc, m);
    MUST(in->rc == 0, "%s %s", in->e->field, in->e->text);
}

static void must_read_back(const struct buf *text, const struct member *members, size_t n)
{
    struct arena a = {0};
    struct err e = {0};
    struct json_in in;
    cJSON *doc = NULL;

    MUST(json_parse_max(text->data, text->len, SIZE_MAX, &doc, &e) == 0, "%s: %s", e.text,
         text->data);
    json_in_init(&in, &a, &e);
    for (size_t i = 0; i < n; i++)
        read_back(&in, doc, &members[i]);
    cJSON_Delete(doc);
    arena_deinit(&a);
    fuzz_count_good();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct member members[MEMBERS_MAX] = {0};
    struct arena a = {0};
    struct buf text = {0};
    struct json_out o;
    size_t n = 0;

    json_out_init(&o, &text);
    json_begin(&o, NULL);
    for (; n < MEMBERS_MAX && in.left; n++) {
        (void)snprintf(members[n].key, sizeof members[n].key, "m%zu", n);
        put(&o, &in, &a, &members[n]);
    }
    json_end(&o);
    must_read_back(&text, members, n);
    for (size_t i = 0; i < n; i++)
        free(members[i].text);
    buf_deinit(&text);
    arena_deinit(&a);
    return 0;
}
