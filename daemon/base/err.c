#include "base/err.h"

#include <stdio.h>
#include <string.h>

/* What a stranger wrote is quoted in sentences, which go to logs and terminals. */
static void clean(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

int err_setv(struct err *e, int rc, const char *code, const char *field, const char *fmt,
             va_list ap)
{
    if (!e || err_is_set(e))
        return rc;
    (void)snprintf(e->code, sizeof e->code, "%s", code);
    (void)snprintf(e->field, sizeof e->field, "%s", field ? field : "");
    (void)vsnprintf(e->text, sizeof e->text, fmt, ap);
    clean(e->field);
    clean(e->text);
    return rc;
}

int err_set(struct err *e, int rc, const char *code, const char *field, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    err_setv(e, rc, code, field, fmt, ap);
    va_end(ap);
    return rc;
}

int err_sys(struct err *e, int rc, const char *op, const char *what)
{
    char code[sizeof e->code];

    (void)snprintf(code, sizeof code, "system.%s", op);
    for (char *p = code; *p; p++)
        if (*p == ' ')
            *p = '_'; /* "read folder" is a phrase, a code is one word */
    return err_set(e, rc, code, what, "could not %s %s: %s", op, what, strerror(rc < 0 ? -rc : rc));
}

bool err_is_set(const struct err *e)
{
    return e->code[0] != '\0';
}

void err_clear(struct err *e)
{
    e->code[0] = e->field[0] = e->text[0] = '\0';
}
