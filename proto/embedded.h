/* Files that are part of the program: their bytes, compiled in by embed.py. Constant, never freed,
 * not NUL-terminated. */
#pragma once

#include <stddef.h>

struct embedded_file {
    const char *name; /* the file's name without its suffix */
    const char *data;
    size_t len;
};

/* proto/policy/, with "standard" first. */
extern const struct embedded_file policy_files[];
extern const size_t policy_files_count;
