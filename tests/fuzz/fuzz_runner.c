/* What the runner reads: a lane's records (READY, DONE) and the daemon's frames, in whatever pieces
 * they come, with signals in between. record.c and control.c are compiled with their system calls
 * replaced by those below, which deliver the input's script.
 *
 * Input: one byte of which stream; then pieces: a length (0: the stream ends, 255: a signal came,
 * and the next byte says what it brought) and so many bytes. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "run/runner/control.h"
#include "run/runner/record.h"
#include "run/runner/watch.h"

ssize_t fuzz_read(int fd, void *to, size_t room);
ssize_t fuzz_write(int fd, const void *data, size_t len);
int fuzz_poll(struct pollfd *p, nfds_t n, int timeout_ms);

#define LANE 9
#define SIGNAL 255

enum { NEWS = 1, DUE = 2, STOPPING = 4 };

static struct {
    struct fuzz_in in;
    size_t piece;     /* bytes left of the piece that is being read */
    unsigned signals; /* that came and were not looked at */
    struct buf got;   /* all that was delivered */
} script;

/* ---- the world around the runner */

ssize_t fuzz_read(int fd, void *to, size_t room)
{
    (void)fd;
    MUST(room > 0);
    if (script.piece == 0) {
        uint8_t op = fuzz_byte(&script.in);
        if (op == SIGNAL) {
            script.signals |= fuzz_byte(&script.in) & (NEWS | DUE | STOPPING);
            errno = EINTR;
            return -1;
        }
        script.piece = op < script.in.left ? op : script.in.left;
    }
    size_t n = script.piece < room ? script.piece : room;
    memcpy(to, script.in.at, n);
    buf_add(&script.got, script.in.at, n);
    script.in.at += n;
    script.in.left -= n;
    script.piece -= n;
    return (ssize_t)n;
}

ssize_t fuzz_write(int fd, const void *data, size_t len)
{
    (void)fd, (void)data;
    return (ssize_t)len;
}

/* The control pipe has something to read only when the script says so. */
int fuzz_poll(struct pollfd *p, nfds_t n, int timeout_ms)
{
    (void)p, (void)n, (void)timeout_ms;
    return script.piece > 0 || (script.in.left > 0 && (fuzz_byte(&script.in) & 1));
}

bool watch_stopping(void)
{
    return script.signals & STOPPING;
}

bool watch_take_news(void)
{
    bool news = script.signals & NEWS;
    script.signals &= ~(unsigned)NEWS;
    return news;
}

bool watch_due(void)
{
    return script.signals & DUE;
}

/* ---- records */

static void check_record(const struct record *r, enum record_end end)
{
    struct wire_bytes text = record_text(r);

    MUST(r->len <= sizeof r->data && text.len <= r->len);
    MUST(r->len <= script.got.len);
    if (end == RECORD_TOO_LONG)
        MUST(r->line >= WIRE_LINE_MAX);
    if (end != RECORD_LINE)
        return;
    struct wire_bytes extra = record_extra(r);
    MUST(r->line < WIRE_LINE_MAX && r->data[r->line] == '\n');
    MUST(!memchr(r->data, '\n', r->line), "the first line was not taken");
    MUST(text.len + 1 + extra.len == r->len);
    CLEANUP(mem_freep) char *same = mem_alloc(r->line + 2);
    memcpy(same, r->data, r->line);
    if (strlen(same) == r->line) {
        MUST(record_is(r, same));
        same[r->line] = 'x';
        MUST(!record_is(r, same));
    }
    fuzz_count_good();
}

/* READY, then on with the same stream for DONE; after a timeout the same record goes on. */
static void try_records(void)
{
    for (int i = 0; i < 2; i++) {
        struct record r = {0};
        int64_t stamp_ns;
        enum record_end end = record_read(&r, LANE, 7, &stamp_ns);
        check_record(&r, end);
        if (end == RECORD_TIMEOUT) {
            script.signals = 0;
            end = record_read(&r, LANE, 7, &stamp_ns);
            check_record(&r, end);
        }
        if (end != RECORD_LINE)
            return;
    }
}

/* ---- frames */

/* Frames end where their lengths say, however the bytes came. */
static void try_frames(void)
{
    static struct wire_msg msg, other;
    size_t begins = 0;
    int rc;

    while ((rc = control_next(&msg)) == 0) {
        const uint8_t *frame = (const uint8_t *)script.got.data + begins;
        size_t len = script.got.len - begins;
        MUST(wire_decode(frame, len, &other) == 0 && other.type == msg.type && other.id == msg.id);
        begins = script.got.len;
        fuzz_count_good();
        script.signals |= NEWS;
        enum control_news news = control_interrupted(msg.id);
        MUST(news != CONTROL_CANCEL || script.got.len > begins, "nobody cancelled");
        begins = script.got.len;
        if (news == CONTROL_GONE)
            return;
    }
    MUST(rc == -EPIPE || rc == -EBADMSG, "%d", rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    script.in = (struct fuzz_in){data, size};
    script.piece = script.signals = 0;
    buf_clear(&script.got);
    if (fuzz_byte(&script.in) & 1)
        try_frames();
    else
        try_records();
    buf_deinit(&script.got);
    return 0;
}
