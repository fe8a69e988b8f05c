/* job.log: a piece of a job's log, read from where it is asked for. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/mem.h"
#include "proto/form/base64.h"

/* Whatever lies there must not keep the loop waiting: a pipe in the file's place would. */
static int open_log(const char *path, int *fd, int64_t *total, struct err *e)
{
    CLEANUP(mem_closep) int opened = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    *fd = -1;
    *total = 0;
    if (opened < 0)
        return errno == ENOENT ? 0 : err_sys(e, -errno, "open", path);
    if (fstat(opened, &st) < 0)
        return err_sys(e, -errno, "look at", path);
    if (!S_ISREG(st.st_mode))
        return err_sys(e, -EINVAL, "read", path);
    *total = st.st_size;
    *fd = MEM_STEAL_FD(opened);
    return 0;
}

static int read_piece(const char *path, int64_t offset, size_t limit, struct buf *out,
                      int64_t *total, struct err *e)
{
    CLEANUP(mem_closep) int fd = -1;
    int rc = open_log(path, &fd, total, e);

    buf_reserve(out, limit + 1);
    while (rc == 0 && fd >= 0 && out->len < limit) {
        ssize_t n = pread(fd, out->data + out->len, limit - out->len, offset + (int64_t)out->len);
        if (n < 0 && errno != EINTR)
            rc = err_sys(e, -errno, "read", path);
        if (n == 0)
            break;
        out->len += n > 0 ? (size_t)n : 0;
    }
    /* It may have grown since it was looked at. */
    if (*total < offset + (int64_t)out->len && out->len > 0)
        *total = offset + (int64_t)out->len;
    return rc;
}

int api_job_log(struct api_call *c)
{
    int64_t offset = json_opt_int(&c->in, c->req.params, "offset", 0, JSON_INT_MAX / 2, 0);
    int64_t limit =
        json_opt_int(&c->in, c->req.params, "limit", 1, API_CHUNK_BYTES, API_CHUNK_BYTES);
    CLEANUP(buf_deinit) struct buf piece = {0}, text = {0};
    struct store_job *job;
    char id[ULID_LEN + 1];
    int64_t total = 0;

    int rc = c->in.rc < 0 ? c->in.rc : api_find_job(c, id);
    if (rc == 0)
        rc = store_job_get(c->api->config.store, id, &c->arena, &job, &c->e);
    if (rc == 0)
        rc = read_piece(arena_printf(&c->arena, "%s/logs/%s.log", c->api->config.state_dir, id),
                        offset, (size_t)limit, &piece, &total, &c->e);
    if (rc < 0)
        return rc;
    base64_encode(&text, piece.data, piece.len);
    json_put_str(c->o, "data", buf_str(&text));
    json_put_int(c->o, "next", offset + (int64_t)piece.len);
    json_put_int(c->o, "total", total);
    json_put_bool(c->o, "ended", api_job_is_over(c, job));
    return 0;
}
