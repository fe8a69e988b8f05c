#include "client/link/whole.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/link/chunks.h"

#define DOCUMENT_BYTES_MAX ((size_t)4 << 20)

const struct whole whole_session = {"session.show", "jobs", "after"};
const struct whole whole_sessions = {"session.list", "sessions", "before"};

/* ---- pages */

static int ask_page(struct connection *c, const struct whole *w, const char *id, const char *last,
                    struct answer *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};
    struct json_out o;

    json_out_init(&o, &params);
    json_begin(&o, NULL);
    if (id)
        json_put_str(&o, "id", id);
    if (last)
        json_put_str(&o, w->cursor, last);
    json_end(&o);
    return connection_call(c, w->method, buf_str(&params), out, e);
}

/* The list of a page and, when there are more, the id of its last item; NULL: there are none. */
static int read_page(struct answer *page, const struct whole *w, cJSON **list, const char **last,
                     struct err *e)
{
    struct json_in in;
    size_t n = 0;

    json_in_init(&in, &page->a, e);
    const cJSON *items = json_arr(&in, page->msg.result, w->list, SIZE_MAX, &n);
    bool more = json_opt_bool(&in, page->msg.result, "more", false) && n > 0;
    *last = more ? json_str(&in, cJSON_GetArrayItem(items, (int)n - 1), "id", 64) : NULL;
    *list = cJSON_GetObjectItemCaseSensitive(page->msg.result, w->list);
    return connection_check(&in, e);
}

static void move_items(cJSON *from, cJSON *to)
{
    while (from->child)
        (void)cJSON_AddItemToArray(to, cJSON_DetachItemViaPointer(from, from->child));
}

static int add_page(struct connection *c, const struct whole *w, const char *id, cJSON *list,
                    const char **last, struct answer *whole, struct err *e)
{
    CLEANUP(answer_deinit) struct answer page = {0};
    const char *next = NULL;
    cJSON *more = NULL;
    int rc = ask_page(c, w, id, *last, &page, e);

    if (rc == 0)
        rc = read_page(&page, w, &more, &next, e);
    if (rc < 0)
        return rc;
    *last = next ? arena_strdup(&whole->a, next) : NULL;
    move_items(more, list);
    return 0;
}

int whole_list_over(struct connection *c, const struct whole *w, const char *id, struct answer *out,
                    struct err *e)
{
    const char *last = NULL;
    cJSON *list = NULL;
    int rc = ask_page(c, w, id, NULL, out, e);

    if (rc == 0)
        rc = read_page(out, w, &list, &last, e);
    while (rc == 0 && last)
        rc = add_page(c, w, id, list, &last, out, e);
    cJSON *more = cJSON_GetObjectItemCaseSensitive(out->msg.result, "more");
    if (rc == 0 && more)
        more->type = cJSON_False;
    return rc;
}

int whole_list(struct cli *cli, const struct whole *w, const char *id, struct answer *out,
               struct err *e)
{
    struct connection *c = NULL;
    int rc = cli_connect(cli, &c, e);

    *out = (struct answer){0};
    if (rc == 0)
        rc = whole_list_over(c, w, id, out, e);
    connection_close(c);
    return rc;
}

/* ---- a job with its document */

static void put_document_params(void *ctx, int64_t offset, struct json_out *o)
{
    json_put_str(o, "id", ctx);
    json_put_int(o, "offset", offset);
}

static int add_document(struct connection *c, char *id, cJSON *result, struct err *e)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    const struct fetch f = {.method = "job.document",
                            .what = "the job's document",
                            .max_bytes = DOCUMENT_BYTES_MAX,
                            .ctx = id,
                            .put = put_document_params};
    cJSON *document = NULL;
    int rc = fetch_whole(c, &f, &text, e);

    if (rc == 0)
        rc = json_parse_max(text.data, text.len, DOCUMENT_BYTES_MAX, &document, e);
    if (rc == 0)
        (void)cJSON_ReplaceItemInObjectCaseSensitive(result, "document", document);
    return rc;
}

int whole_job(struct cli *cli, const char *id, struct answer *out, struct err *e)
{
    CLEANUP(buf_deinit) struct buf params = {0};
    struct connection *c = NULL;
    int rc = cli_connect(cli, &c, e);

    *out = (struct answer){0};
    cli_id_params(&params, id);
    if (rc == 0)
        rc = connection_call(c, "job.show", buf_str(&params), out, e);
    if (rc == 0 && cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(out->msg.result, "document")))
        rc = add_document(c, arena_strdup(&out->a, id), (cJSON *)out->msg.result, e);
    connection_close(c);
    return rc;
}
