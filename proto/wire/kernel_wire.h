/* Lines between aurabench and a kernel driver (docs/kernels.md): requests are written here, what
 * the driver says is read into the message that core/kernel/kernel_run judges. */
#pragma once

#include "core/kernel/kernel_run.h"
#include "proto/json/json.h"

/* One line without its newline. 0, or -EINVAL with e filled: "kernel.driver" for all that is no
 * message of the protocol. The result lives in a. */
int kernel_message_decode(struct arena *a, const char *line, size_t len, struct kernel_message *out,
                          struct err *e);

/* A request, with its newline. */
void kernel_put_compile(struct buf *out, const char *program, int64_t iterations);
void kernel_put_decode(struct buf *out, int64_t iterations);
/* input: JSON text. */
void kernel_put_dispatch(struct buf *out, const char *entry, enum kernel_entry kind,
                         const char *input, int64_t iterations, int64_t workers);
void kernel_put_end(struct buf *out);
