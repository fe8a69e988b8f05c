#include "run/runner/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/runner/control.h"

static enum record_end ending_of(enum control_news news)
{
    return news == CONTROL_TIMEOUT ? RECORD_TIMEOUT : RECORD_CANCEL;
}

enum record_end record_read(struct record *r, int fd, int64_t request, int64_t *stamp_ns)
{
    for (;;) {
        ssize_t n = read(fd, r->data + r->len, sizeof r->data - r->len);
        *stamp_ns = clock_mono_ns();
        if (n > 0) {
            const char *newline = memchr(r->data + r->len, '\n', (size_t)n);
            r->len += (size_t)n;
            r->line = newline ? (size_t)(newline - r->data) : r->len;
            if (r->line >= WIRE_LINE_MAX)
                return RECORD_TOO_LONG;
            if (newline)
                return RECORD_LINE;
            continue;
        }
        if (n == 0 || errno != EINTR)
            return RECORD_EOF;
        enum control_news news = control_interrupted(request);
        if (news != CONTROL_NONE)
            return ending_of(news);
    }
}

bool record_is(const struct record *r, const char *expected)
{
    return r->line == strlen(expected) && memcmp(r->data, expected, r->line) == 0;
}

struct wire_bytes record_extra(const struct record *r)
{
    return (struct wire_bytes){r->data + r->line + 1, r->len - r->line - 1};
}

struct wire_bytes record_text(const struct record *r)
{
    return (struct wire_bytes){r->data, r->line};
}
