/* Receipts for people. */
#pragma once

#include "client/view/term.h"
#include "core/kernel/kernel.h"

void kernel_view_receipt(const struct kernel_receipt *r, const struct term *term, struct buf *out);
/* Figures of two that may be compared. */
void kernel_view_diff(const struct kernel_receipt *x, const struct kernel_receipt *y,
                      const struct term *term, struct buf *out);
