/* One benchmark of a portable kernel: the driver is started and asked for one phase after the
 * other; what it says is judged by core/kernel/kernel_run, and the statistics are computed here,
 * not by it. */
#pragma once

#include "client/cli.h"
#include "core/kernel/kernel_run.h"

struct kernel_ask {
    const char *program, *entry, *input, *input_path;
    enum kernel_entry kind;
    struct kernel_plan plan;
    struct args driver; /* its command; none: the one that ships */
    int64_t silence_ms;
};

/* Refuses flags and variables that ask for another boundary ("kernel.profiler"): 0 or -EINVAL. */
int kernel_check_environment(struct err *e);
/* The receipt lives in cli->a. Errors: those of kernel_run_take and kernel_driver, "kernel.input",
 * "kernel.program". */
int kernel_measure(struct cli *cli, const struct kernel_ask *ask, struct kernel_receipt *out,
                   struct err *e);
