#include "memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
    exit(1);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        fail("collections: there is no memory for %zu elements", count);
    return memory;
}

char *copy_text(const char *text, size_t length)
{
    char *copy = allocate(length + 1, 1);

    memcpy(copy, text, length);
    return copy;
}
