#include "run/runner/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size is a multiple of the largest page that may back the file: a write that crosses the end
 * fails as a whole within the page it starts in, so with smaller steps it could leave no trace. */
#define STEP_BYTES (2 << 20)
#define CHUNK_BYTES 4096

void tail_add(struct tail *t, const void *data, size_t len)
{
    const char *from = data;

    if (len >= TAIL_BYTES) {
        memcpy(t->data, from + len - TAIL_BYTES, TAIL_BYTES);
        t->len = TAIL_BYTES;
        return;
    }
    size_t keep = t->len + len > TAIL_BYTES ? TAIL_BYTES - len : t->len;
    memmove(t->data, t->data + t->len - keep, keep);
    memcpy(t->data + keep, from, len);
    t->len = keep + len;
}

static int64_t size_for(int64_t limit_bytes)
{
    return (limit_bytes / STEP_BYTES + 1) * STEP_BYTES;
}

int capture_open(struct capture *c, int64_t limit_bytes)
{
    c->limit_bytes = limit_bytes;
    c->fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (c->fd < 0)
        return -errno;
    if (ftruncate(c->fd, size_for(limit_bytes)) == 0 &&
        fcntl(c->fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return 0;
    int rc = -errno;
    capture_close(c);
    return rc;
}

void capture_close(struct capture *c)
{
    if (c->fd >= 0)
        (void)close(c->fd);
    c->fd = -1;
}

/* End of the last part of the file that holds data. */
static int64_t data_end(int fd)
{
    off_t end = 0;

    for (off_t data; (data = lseek(fd, end, SEEK_DATA)) >= 0;) {
        off_t hole = lseek(fd, data, SEEK_HOLE);
        if (hole <= data)
            return end;
        end = hole;
    }
    return errno == ENXIO ? end : -errno;
}

/* Behind the last byte before end that is not NUL, but at least `least`. */
static int64_t last_byte(int fd, int64_t least, int64_t end)
{
    char chunk[CHUNK_BYTES];

    while (end > least) {
        int64_t from = end - least > CHUNK_BYTES ? end - CHUNK_BYTES : least;
        ssize_t n = pread(fd, chunk, (size_t)(end - from), from);
        while (n > 0 && chunk[n - 1] == '\0')
            n--;
        if (n != 0)
            return n < 0 ? -errno : from + n;
        end = from;
    }
    return least;
}

int64_t capture_bytes(const struct capture *c)
{
    /* Where the shared offset stands, or further: a child may open the file anew and write on from
     * an offset of its own. NUL bytes at its end can only be seen by the shared one. */
    off_t written = lseek(c->fd, 0, SEEK_CUR);
    int64_t end = data_end(c->fd);

    (void)lseek(c->fd, written, SEEK_SET);
    if (written < 0)
        return -errno;
    if (end < 0)
        return end;
    return last_byte(c->fd, written, end);
}

bool capture_over(const struct capture *c, bool only_full)
{
    int64_t most = only_full ? size_for(c->limit_bytes) - 1 : c->limit_bytes;

    return capture_bytes(c) > most;
}

bool capture_equals(const struct capture *c, const void *expected, size_t len)
{
    char chunk[CHUNK_BYTES];

    for (size_t at = 0; at < len;) {
        size_t want = len - at < sizeof chunk ? len - at : sizeof chunk;
        ssize_t n = pread(c->fd, chunk, want, (off_t)at);
        if (n <= 0 || memcmp(chunk, (const char *)expected + at, (size_t)n) != 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

size_t capture_from_difference(const struct capture *c, const struct wire_bytes *expected,
                               int64_t bytes, char *out, size_t cap)
{
    const char *want = expected->data;
    int64_t at = 0;
    char have;

    while (at < bytes && (size_t)at < expected->len && pread(c->fd, &have, 1, at) == 1 &&
           have == want[at])
        at++;
    size_t left = (size_t)(bytes - at);
    ssize_t n = pread(c->fd, out, left < cap ? left : cap, at);
    return n > 0 ? (size_t)n : 0;
}

void capture_tail(const struct capture *c, int64_t bytes, struct tail *t)
{
    int64_t from = bytes > TAIL_BYTES ? bytes - TAIL_BYTES : 0;
    ssize_t n = pread(c->fd, t->data, (size_t)(bytes - from), from);

    t->len = n > 0 ? (size_t)n : 0;
}
