/* The lines between a workload and whoever measures it. */
#ifndef RECORD_H
#define RECORD_H

#if defined(__GNUC__)
#define RECORD_PRINTF __attribute__((format(printf, 1, 2)))
#else
#define RECORD_PRINTF
#endif

/* Writes one line at once; its newline is added. */
void record_say(const char *format, ...) RECORD_PRINTF;

/* Reads one line, which must be this one; any other, or the end of the input, ends the program with
 * status 3. */
void record_expect(const char *line);

/* Reads the input to its end. */
void record_rest(void);

/* Says why on stderr and ends the program with status 1. */
_Noreturn void fail(const char *format, ...) RECORD_PRINTF;

#endif
