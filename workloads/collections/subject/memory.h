/* Memory that is there, and errors that end the program. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#if defined(__GNUC__)
#define MEMORY_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define MEMORY_PRINTF
#endif

/* Says why on stderr and ends the program with status 1. */
_Noreturn void fail(const char *format, ...) MEMORY_PRINTF;

/* Zeroed; never NULL. */
void *allocate(size_t count, size_t size);

/* A copy of the bytes with a zero behind them. */
char *copy_text(const char *text, size_t length);

#endif
