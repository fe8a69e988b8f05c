/* daemon.backup and daemon.chunk: a copy of the database for a client. The copy lies among the
 * uploads, without a name, for as long as the connection that asked for it: a client names no path,
 * so it cannot make the daemon write anywhere. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/form/base64.h"
#include "store/upkeep.h"

struct backing_up {
    char *to; /* while it has a name */
    struct api_backup made;
};

void api_backup_drop(struct api_session *s)
{
    if (s->backup.fd >= 0)
        (void)close(s->backup.fd);
    if (s->backup.held)
        s->api->backup_held = false;
    s->backup = API_BACKUP_NONE;
}

/* ---- on the worker */

static int take(struct api_call *c, struct backing_up *b)
{
    b->made.fd = open(b->to, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (b->made.fd < 0)
        return err_sys(&c->e, -errno, "open", b->to);
    int rc = digest_fd(b->made.fd, b->made.sha256, &b->made.bytes);
    return rc < 0 ? err_sys(&c->e, rc, "read", b->to) : 0;
}

static int make(struct api_call *c)
{
    struct backing_up *b = c->data;
    const char *db = arena_printf(&c->arena, "%s/aurabench.db", c->api->config.state_dir);
    int rc = store_backup(db, b->to, &c->e);

    if (rc == 0)
        rc = take(c, b);
    (void)unlink(b->to);
    return rc;
}

/* ---- on the loop */

static int answer(struct api_call *c)
{
    struct backing_up *b = c->data;

    json_put_int(c->o, "bytes", b->made.bytes);
    json_put_str(c->o, "sha256", b->made.sha256);
    if (!c->session)
        return 0;
    api_backup_drop(c->session);
    c->session->backup = b->made;
    c->session->backup.held = true;
    b->made = API_BACKUP_NONE;
    c->api->backup_held = true;
    return 0;
}

static void at_end(struct api_call *c)
{
    const struct backing_up *b = c->data;

    if (b->made.fd >= 0)
        (void)close(b->made.fd);
    c->api->backup_made = false;
}

int api_daemon_backup(struct api_call *c)
{
    struct api *api = c->api;
    struct sched_event event;
    char name[ULID_LEN + 1];

    if (sched_is_timing(api->config.sched)) {
        (void)sched_active(api->config.sched, &event);
        return err_set(&c->e, -EBUSY, "host.measuring", NULL,
                       "the host is measuring job %s, and copying the database would disturb it; "
                       "ask again when it is done (aurabench wait %s)",
                       event.job, event.job);
    }
    api_backup_drop(c->session);
    if (api->backup_made || api->backup_held)
        return err_set(&c->e, -EBUSY, "daemon.backup_busy", NULL,
                       "another backup is under way; try again when it is done");
    struct backing_up *b = arena_alloc(&c->arena, sizeof *b);
    b->made = API_BACKUP_NONE;
    ulid_new(name);
    b->to = arena_printf(&c->arena, "%s/%s", api->config.uploads_dir, name);
    c->data = b;
    c->at_end = at_end;
    api->backup_made = true;
    return api_defer(c, true, make, answer);
}

/* ---- daemon.chunk */

static int read_at(int fd, int64_t offset, struct buf *out, struct err *e)
{
    buf_reserve(out, API_CHUNK_BYTES);
    while (out->len < API_CHUNK_BYTES) {
        ssize_t n =
            pread(fd, out->data + out->len, API_CHUNK_BYTES - out->len, offset + (int64_t)out->len);
        if (n < 0 && errno != EINTR)
            return err_sys(e, -errno, "read", "the backup");
        if (n == 0)
            break;
        out->len += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int api_daemon_chunk(struct api_call *c)
{
    const struct api_backup *b = &c->session->backup;
    int64_t offset = json_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX / 2);
    CLEANUP(buf_deinit) struct buf piece = {0}, text = {0};
    int rc = c->in.rc;

    if (rc == 0 && b->fd < 0)
        rc = err_set(&c->e, -EINVAL, "daemon.no_backup", NULL,
                     "no backup was made on this connection; ask for one with daemon.backup");
    if (rc == 0)
        rc = read_at(b->fd, offset, &piece, &c->e);
    if (rc < 0)
        return rc;
    base64_encode(&text, piece.data, piece.len);
    json_put_str(c->o, "data", buf_str(&text));
    json_put_int(c->o, "next", offset + (int64_t)piece.len);
    json_put_int(c->o, "total", b->bytes);
    return 0;
}
