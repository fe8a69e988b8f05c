/* Pieces of the sentences about lanes and build steps. */
#pragma once

#include "base/buf.h"

#define CLIP 120

/* A piece of foreign text short enough that the next step still fits behind it. */
struct clip {
    char text[CLIP + 4];
};

struct clip clip(const char *text); /* NULL: empty */
/* The same with its line breaks and other controls shown as '?'. */
struct clip one_line(const char *s);
/* The last line with something in it. */
struct clip last_line(const char *text);

/* Why a program could not be started, and the next step. step NULL: not known. */
void say_start(struct buf *b, const char *program, int errnum, const char *step);
