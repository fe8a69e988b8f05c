/* The job's log: one line a statement, and the output of builds. Bounded: when the limit is reached
 * a last line says so and the rest is dropped. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/disk.h"
#include "base/files.h"
#include "base/log.h"
#include "base/mem.h"
#include "report/text.h"
#include "sched/sched_internal.h"

const char *attempt_log_path(struct attempt *a)
{
    return arena_printf(&a->arena, "%s/%s.log", a->sched->log_root, a->job_id);
}

int attempt_log_open(struct attempt *a)
{
    const char *path = attempt_log_path(a);

    if (a->log_fd >= 0)
        return 0;
    int fd = disk_create(path, O_APPEND, 0600);
    if (fd < 0)
        return disk_err(&a->e, fd, "create", path);
    a->log_fd = fd;
    a->log_bytes = lseek(a->log_fd, 0, SEEK_END);
    return 0;
}

void attempt_log_close(struct attempt *a)
{
    if (a->log_fd >= 0)
        (void)close(a->log_fd);
    a->log_fd = -1;
}

/* A full disk leaves a gap, which is said when there is space again; nothing fails for it. */
static int write_behind_gap(struct attempt *a, const char *data, size_t len)
{
    static const char gap[] = "\n[lines are missing here: the log could not be written]\n";
    int rc = a->log_gap ? disk_write(a->log_fd, gap, sizeof gap - 1) : 0;

    if (rc == 0) {
        a->log_gap = false;
        rc = disk_write(a->log_fd, data, len);
    }
    if (rc < 0 && !a->log_gap)
        log_warn("the log of job %s could not be written: %s", a->job_id, strerror(-rc));
    a->log_gap = rc < 0;
    return rc;
}

static void log_write(struct attempt *a, const char *data, size_t len)
{
    static const char mark[] = "[the log is cut here: it reached its limit]\n";

    if (a->log_fd < 0 || a->log_bytes >= ATTEMPT_LOG_LIMIT_BYTES)
        return;
    a->log_bytes += (int64_t)len;
    int rc = write_behind_gap(a, data, len);
    if (rc == 0 && a->log_bytes >= ATTEMPT_LOG_LIMIT_BYTES)
        (void)write_behind_gap(a, mark, sizeof mark - 1);
}

void attempt_say(struct attempt *a, const char *fmt, ...)
{
    struct buf said = {0}, line = {0};
    char stamp[32];
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&said, fmt, ap);
    va_end(ap);
    buf_printf(&line, "%s  ", clock_iso(clock_wall_ms(), stamp));
    size_t start = line.len;
    text_clean(&line, buf_str(&said), 0); /* names of programs and processes are in it */
    buf_deinit(&said);
    buf_putc(&line, '\n');
    log_write(a, line.data, line.len);
    line.data[line.len - 1] = '\0';
    attempt_progress(a, line.data + start); /* tells also how long the log is now */
    buf_deinit(&line);
}

static void log_block(struct attempt *a, const char *title, const char *data, size_t len)
{
    struct buf block = {0};

    buf_puts(&block, "---- ");
    text_clean(&block, title, 0);
    buf_putc(&block, '\n');
    buf_add(&block, data, len);
    if (len > 0 && data[len - 1] != '\n')
        buf_putc(&block, '\n');
    buf_puts(&block, "----\n");
    log_write(a, block.data, block.len);
    buf_deinit(&block);
}

void attempt_log_text(struct attempt *a, const char *title, const char *text)
{
    log_block(a, title, text, strlen(text));
}

void attempt_log_file(struct attempt *a, const char *title, const char *path)
{
    struct buf text = {0};

    if (file_read(path, ATTEMPT_LOG_LIMIT_BYTES, &text, NULL) < 0)
        buf_puts(&text, "(its output could not be read)");
    log_block(a, title, buf_str(&text), text.len);
    buf_deinit(&text);
}
