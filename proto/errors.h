/* Every stable error code: what it means, and the exit status with which the client ends on it.
 *
 * The one table is errors.def; protocol.md shows it to people, and a test compares the two. A code
 * is never renamed and never reused; a code that is not in the table ends with EXIT_JOB.
 */
#pragma once

#include <stddef.h>

enum exit_status {
    EXIT_GOOD = 0,
    EXIT_JOB = 1,         /* the job or check failed */
    EXIT_USAGE = 2,       /* what was asked for is malformed */
    EXIT_UNREACHABLE = 3, /* no daemon answers */
    EXIT_NOT_FOUND = 4,   /* no such thing */
    EXIT_CANCELLED = 5,
    EXIT_NOT_QUIET = 6, /* the host is not quiet or not qualified */
    EXIT_LOST = 7,
    EXIT_TIMEOUT = 124 /* the client's own time limit */
};

struct error_info {
    const char *code;
    enum exit_status exit;
    const char *meaning; /* one line */
};

/* All of them, sorted by code; *n is their number. */
const struct error_info *error_table(size_t *n);

/* NULL for a code that is not in the table. */
const struct error_info *error_find(const char *code);

enum exit_status error_exit_status(const char *code);
