/* kernel.put, kernel.list, kernel.show: receipts of portable-kernel benchmarks. */
#include "store/kernels.h"

#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "base/digest.h"
#include "proto/doc/doc_kernel.h"

#define LIST_MAX 1000
#define MACHINE_MAX 200

static const char *optional_line(struct api_call *c, const char *key)
{
    const char *s = json_opt_str(&c->in, c->req.params, key, MACHINE_MAX, NULL);
    for (const char *p = s; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            json_fail(&c->in, key, "json.value", "%s must be one line", key);
    if (s && !*s)
        json_fail(&c->in, key, "json.value", "%s must not be empty", key);
    return s;
}

/* The document in its one form, so that the same receipt is the same row. */
static int canonical(struct api_call *c, const char *text, const char **document,
                     char sha256[DIGEST_HEX])
{
    struct buf out = {0};
    int rc = json_canonical(text, strlen(text), &out, &c->e);

    if (rc == 0) {
        digest_bytes(out.data, out.len, sha256);
        *document = arena_strndup(&c->arena, out.data, out.len - 1);
    }
    buf_deinit(&out);
    return rc;
}

int api_kernel_put(struct api_call *c)
{
    const char *text = json_str(&c->in, c->req.params, "receipt", JSON_STRING_MAX);
    const char *machine = optional_line(c, "machine"), *document = NULL;
    char made[ULID_LEN + 1], id[ULID_LEN + 1], sha256[DIGEST_HEX];
    struct kernel_receipt *r = NULL;
    bool duplicate = false;

    if (c->in.rc < 0)
        return c->in.rc;
    int rc = kernel_receipt_decode(&c->arena, text, strlen(text), &r, &c->e);
    if (rc == 0)
        rc = canonical(c, text, &document, sha256);
    if (rc < 0)
        return rc;
    ulid_new(made);
    const struct store_kernel row = {.id = made,
                                     .sha256 = sha256,
                                     .wall_ms = sched_now_ms(c->api->config.sched),
                                     .peer_uid = api_uid(c),
                                     .machine =
                                         r->provenance.machine ? r->provenance.machine : machine,
                                     .schema = r->schema,
                                     .target = r->target,
                                     .profile = r->provenance.profile,
                                     .source = r->source,
                                     .entry = r->entry,
                                     .workers = r->workers,
                                     .iterations = r->iterations,
                                     .document = document};
    rc = store_kernel_put(c->api->config.store, &row, id, &duplicate, &c->e);
    if (rc == 0) {
        json_put_str(c->o, "id", id);
        json_put_bool(c->o, "duplicate", duplicate);
    }
    return rc;
}

static void put_row(struct json_out *o, const struct store_kernel *row)
{
    json_put_str(o, "id", row->id);
    json_put_str(o, "sha256", row->sha256);
    json_put_int(o, "wall_ms", row->wall_ms);
    json_put_int_or_null(o, "peer_uid", row->peer_uid);
    json_put_str(o, "machine", row->machine);
    json_put_str(o, "schema", row->schema);
    json_put_str(o, "target", kernel_target_name(row->target));
    json_put_str(o, "profile", kernel_profile_name(row->profile));
    json_put_str(o, "source", row->source);
    json_put_str(o, "entry", row->entry);
    json_put_int(o, "workers", row->workers);
    json_put_int(o, "iterations", row->iterations);
}

int api_kernel_list(struct api_call *c)
{
    const char *before = json_opt_str(&c->in, c->req.params, "before", ULID_LEN, NULL);
    const int limit = (int)json_opt_int(&c->in, c->req.params, "limit", 1, LIST_MAX, LIST_MAX);
    struct store_kernel *rows = NULL;
    size_t n = 0, put = 0;

    if (c->in.rc < 0)
        return c->in.rc;
    int rc = store_kernel_list(c->api->config.store, before, limit, &c->arena, &rows, &n, &c->e);
    if (rc < 0)
        return rc;
    json_begin_array(c->o, "receipts");
    for (; put < n && !api_page_is_full(c); put++) {
        json_begin(c->o, NULL);
        put_row(c->o, &rows[put]);
        json_end(c->o);
    }
    json_end_array(c->o);
    json_put_bool(c->o, "more", put < n || n == (size_t)limit);
    return 0;
}

int api_kernel_show(struct api_call *c)
{
    const char *text = json_str(&c->in, c->req.params, "id", 200);
    struct store_kernel row;

    if (c->in.rc < 0)
        return c->in.rc;
    int rc = store_kernel_find(c->api->config.store, text, &c->arena, &row, &c->e);
    if (rc != 0)
        return rc > 0 ? -EINVAL : rc;
    put_row(c->o, &row);
    json_put_raw(c->o, "receipt", row.document);
    return 0;
}
