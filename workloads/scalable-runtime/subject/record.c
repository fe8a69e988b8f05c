#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_LIMIT = 512, EXIT_WRONG_LINE = 3 };

void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(EXIT_FAILURE);
}

void record_say(const char *format, ...)
{
    char line[LINE_LIMIT];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= LINE_LIMIT - 1)
        fail("record: the line does not fit in %d bytes", LINE_LIMIT);
    line[length++] = '\n';
    for (const char *from = line; length > 0;) {
        ssize_t written = write(STDOUT_FILENO, from, (size_t)length);

        if (written < 0 && errno != EINTR)
            fail("record: cannot write to stdout: %s", strerror(errno));
        from += written > 0 ? written : 0;
        length -= written > 0 ? (int)written : 0;
    }
}

/* One byte at a time: nothing behind the newline is taken. */
static int read_byte(char *byte)
{
    ssize_t count;

    do
        count = read(STDIN_FILENO, byte, 1);
    while (count < 0 && errno == EINTR);
    return count == 1;
}

void record_expect(const char *line)
{
    size_t length = strlen(line);
    char byte = 0;

    for (size_t i = 0; i <= length; i++)
        if (!read_byte(&byte) || byte != (i < length ? line[i] : '\n')) {
            (void)fprintf(stderr, "record: the line on stdin is not \"%s\"\n", line);
            exit(EXIT_WRONG_LINE);
        }
}

void record_rest(void)
{
    char byte;

    while (read_byte(&byte))
        ;
}
