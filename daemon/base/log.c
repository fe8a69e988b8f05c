#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static struct {
    enum log_level max;
    bool journal;
} the_log = {.max = LOG_INFO};

static const struct {
    const char *word, *priority;
} LEVELS[] = {
    [LOG_ERROR] = {"error", "<3>"},
    [LOG_WARN] = {"warning", "<4>"},
    [LOG_INFO] = {"info", "<6>"},
    [LOG_DEBUG] = {"debug", "<7>"},
};

void log_init(enum log_level max)
{
    the_log.max = max;
    the_log.journal = getenv("JOURNAL_STREAM") != NULL;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
    char line[1400];
    va_list ap;

    if (level > the_log.max)
        return;
    int n = snprintf(line, sizeof line, "%s%s: ", the_log.journal ? LEVELS[level].priority : "",
                     LEVELS[level].word);
    va_start(ap, fmt);
    (void)vsnprintf(line + n, sizeof line - (size_t)n - 1, fmt, ap);
    va_end(ap);
    for (char *p = line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    size_t len = strlen(line);
    line[len++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, len);
    (void)ignored;
}

void log_err(const char *doing, int rc, const struct err *e)
{
    if (err_is_set(e))
        log_msg(LOG_ERROR, "%s: %s (%s%s%s)", doing, e->text, e->code, e->field[0] ? ", " : "",
                e->field);
    else
        log_msg(LOG_ERROR, "%s: %s", doing, strerror(rc < 0 ? -rc : rc));
}
