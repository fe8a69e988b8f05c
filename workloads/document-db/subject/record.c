#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_LIMIT = 512, EXIT_ERROR = 1, EXIT_WRONG_GO = 3 };

void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    /* Other threads may be running, so no exit handlers and no destructors. */
    _exit(EXIT_ERROR);
}

/* One write for the whole line, so that the reader wakes once. No stdio: nothing can stay
 * behind in a buffer. */
static void write_line(const char *line)
{
    char bytes[LINE_LIMIT];
    int written = snprintf(bytes, sizeof bytes, "%s\n", line);
    size_t length;
    size_t done = 0;

    if (written < 0 || (size_t)written >= sizeof bytes)
        fail("record: the line does not fit in %d bytes", LINE_LIMIT);
    length = (size_t)written;
    while (done < length) {
        ssize_t count = write(STDOUT_FILENO, bytes + done, length - done);

        if (count < 0) {
            if (errno == EINTR)
                continue;
            fail("record: cannot write to stdout: %s", strerror(errno));
        }
        done += (size_t)count;
    }
}

static ssize_t read_input(char *bytes, size_t size)
{
    for (;;) {
        ssize_t count = read(STDIN_FILENO, bytes, size);

        if (count >= 0)
            return count;
        if (errno != EINTR)
            fail("record: cannot read stdin: %s", strerror(errno));
    }
}

static _Noreturn void wrong_go(const char *why)
{
    (void)fprintf(stderr, "record: %s\n", why);
    _exit(EXIT_WRONG_GO);
}

void record_start(const char *ready, const char *go)
{
    char bytes[LINE_LIMIT];
    size_t expected = strlen(go);
    size_t length = 0;
    const char *end = NULL;

    write_line(ready);
    while (end == NULL) {
        ssize_t count;

        if (length == sizeof bytes)
            wrong_go("the line on stdin is too long to be the GO line");
        count = read_input(bytes + length, sizeof bytes - length);
        if (count == 0)
            wrong_go("stdin ended before the GO line");
        end = memchr(bytes + length, '\n', (size_t)count);
        length += (size_t)count;
    }
    if ((size_t)(end - bytes) != expected || memcmp(bytes, go, expected) != 0)
        wrong_go("the line on stdin is not the GO line");
}

void record_finish(const char *format, ...)
{
    char bytes[LINE_LIMIT];
    va_list arguments;
    int written;

    va_start(arguments, format);
    written = vsnprintf(bytes, sizeof bytes, format, arguments);
    va_end(arguments);
    if (written < 0 || (size_t)written >= sizeof bytes)
        fail("record: the DONE line does not fit in %d bytes", LINE_LIMIT);
    write_line(bytes);

    /* To stay until stdin ends keeps the exit of this process out of the timed interval. */
    while (read_input(bytes, sizeof bytes) > 0)
        ;
}
