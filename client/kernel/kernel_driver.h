/* A kernel driver: a program that is started and spoken with in lines (docs/kernels.md). It runs in
 * a process group of its own, with the environment of the user; stderr is kept for the sentence
 * that says how it went down. Errors are negative errnos with e filled: "kernel.driver",
 * "kernel.driver_died", "kernel.silent", "client.timeout".
 */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/types.h"
#include "proto/wire/frame.h"

struct kernel_driver {
    pid_t pid;   /* 0: none */
    pid_t group; /* that it began */
    int to, from, errors;
    struct frame_reader lines;
    struct buf last_words; /* the end of stderr */
    int64_t silence_ms;    /* so long it may say nothing */
    int64_t deadline_ns;   /* of clock_mono_ns, for all; -1: none */
};

/* command: at least one word; found by PATH. */
int kernel_driver_start(struct kernel_driver *d, const struct args *command, int64_t silence_ms,
                        int64_t deadline_ns, struct err *e);
int kernel_driver_send(struct kernel_driver *d, struct buf *line, struct err *e);
/* The next line, borrowed until the next call. */
int kernel_driver_line(struct kernel_driver *d, const char **line, size_t *len, struct err *e);
/* After the end request: it must say nothing more and exit with 0. */
int kernel_driver_end(struct kernel_driver *d, struct err *e);
/* Ends what is left of it. A zeroed one is fine. */
void kernel_driver_deinit(struct kernel_driver *d);
