/* Submits that came together are stored together: one commit, and one wait for the disk, for all
 * whole lines that a connection has brought. Each answer waits for that commit, as it would for its
 * own. A group never outlives the callback in which it began, and everything but a submit ends it
 * first.
 */
#include "api/internal.h"
#include "base/log.h"
#include "base/mem.h"
#include "proto/wire/rpc.h"

/* Bounds the transaction, and how long the first answer waits for the last. */
#define GROUP_MAX 512

struct held {
    char *id; /* of the request; NULL: its answer does not depend on the commit */
    size_t at;
};

struct api_group {
    bool open; /* in the store, too */
    struct buf out;
    struct held *held;
    size_t n, cap;
};

int api_group_join(struct api_call *c)
{
    struct api_session *s = c->session;

    if (!s->group)
        s->group = mem_alloc(sizeof *s->group);
    if (s->group->n == GROUP_MAX)
        api_session_settle(s);
    if (s->group->open)
        return 0;
    int rc = store_group_begin(s->api->config.store, &c->e);
    s->group->open = rc == 0;
    return rc;
}

void api_group_answer(struct api_session *s, const struct buf *line, const char *id)
{
    struct api_group *g = s->group;

    if (!g || !g->open) {
        s->peer.send(s->peer.conn, line->data, line->len);
        return;
    }
    MEM_GROW(g->held, g->n, g->cap);
    g->held[g->n++] = (struct held){.id = mem_strdup(id), .at = g->out.len};
    buf_add(&g->out, line->data, line->len);
}

/* Nothing of the group was stored: whoever would have been told so is told why not. */
static void replace_answers(struct api_group *g, const struct err *e)
{
    struct buf out = {0};

    for (size_t i = 0; i < g->n; i++) {
        size_t end = i + 1 < g->n ? g->held[i + 1].at : g->out.len;
        if (g->held[i].id)
            rpc_put_error(&out, g->held[i].id, e);
        else
            buf_add(&out, g->out.data + g->held[i].at, end - g->held[i].at);
    }
    buf_deinit(&g->out);
    g->out = out;
}

static void forget(struct api_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        free(g->held[i].id);
    g->n = 0;
    buf_clear(&g->out);
}

void api_session_settle(struct api_session *s)
{
    struct api_group *g = s->group;
    struct err e = {0};

    if (!g || !g->open)
        return;
    g->open = false;
    int rc = store_group_end(s->api->config.store, &e);
    if (rc < 0) {
        log_err("storing jobs", rc, &e);
        replace_answers(g, &e);
    }
    if (g->out.len)
        s->peer.send(s->peer.conn, g->out.data, g->out.len);
    forget(g);
}

void api_group_free(struct api_group *g)
{
    if (!g)
        return;
    forget(g);
    buf_deinit(&g->out);
    free(g->held);
    free(g);
}
