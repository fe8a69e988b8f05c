/* The READY, GO and DONE records between a workload and whoever times it. */
#ifndef RECORD_H
#define RECORD_H

#if defined(__GNUC__)
#define RECORD_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define RECORD_PRINTF
#endif

/* Writes the ready line, then returns once exactly the go line has been read.
 * Any other line, or the end of the input, ends the program with status 3. */
void record_start(const char *ready, const char *go);

/* Writes the done line, then reads the input to its end. */
void record_finish(const char *format, ...) RECORD_PRINTF;

/* Says why on stderr and ends the program with status 1. Any thread may call it. */
_Noreturn void fail(const char *format, ...) RECORD_PRINTF;

#endif
