#include "frame.h"

#include <stdio.h>
#include <stdlib.h>

static struct frame *current;
static const struct frame_descriptor *validated;

/* Text of a traceback must be printable. */
__attribute__((noinline)) static void frame_validate(const struct frame_descriptor *descriptor)
{
    const char *texts[] = {descriptor->function, descriptor->path};

    for (int i = 0; i < 2; i++)
        for (const char *p = texts[i]; *p; p++)
            if (*p < ' ' || *p > '~') {
                (void)fputs("calls: a frame's text is not printable\n", stderr);
                exit(1);
            }
    validated = descriptor;
}

__attribute__((noinline)) void frame_push(struct frame *frame,
                                          const struct frame_descriptor *descriptor)
{
    if (descriptor != validated)
        frame_validate(descriptor);
    frame->descriptor = descriptor;
    frame->caller = current;
    current = frame;
}

__attribute__((noinline)) void frame_pop(const struct frame *frame)
{
    current = frame->caller;
}
