/* The call frames of a small runtime: what a traceback would show. */
#pragma once

#include <stdint.h>

/* What is the same for every call of a function. */
struct frame_descriptor {
    const char *function, *path;
    int line;
};

struct frame {
    const struct frame_descriptor *descriptor;
    struct frame *caller;
};

void frame_push(struct frame *frame, const struct frame_descriptor *descriptor);
void frame_pop(const struct frame *frame);
