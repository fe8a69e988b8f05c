#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void *checked(void *p)
{
    if (!p) {
        static const char text[] = "out of memory\n";
        ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
        (void)ignored;
        abort();
    }
    return p;
}

void *mem_alloc(size_t bytes)
{
    return checked(calloc(1, bytes ? bytes : 1));
}

void *mem_realloc_array(void *p, size_t count, size_t size)
{
    return checked(reallocarray(p, count ? count : 1, size ? size : 1));
}

char *mem_strdup(const char *s)
{
    return s ? checked(strdup(s)) : NULL;
}

char *mem_printf(const char *fmt, ...)
{
    char *out = NULL;
    va_list ap;

    va_start(ap, fmt);
    int n = vasprintf(&out, fmt, ap);
    va_end(ap);
    return checked(n < 0 ? NULL : out);
}
