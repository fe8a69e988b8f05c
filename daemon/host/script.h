/* One file of the scripted host's folder, line by line, word by word. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct script {
    const char *file;
    char *text; /* empty: there is no such file, or nothing in it */
    char *rest;
    int line;
};

/* 0, also when there is no such file; -errno with e filled. */
int script_open(const char *dir, struct arena *a, const char *file, struct script *s,
                struct err *e);
/* The next line that says something; comments begin with '#'. NULL: there is no other. */
char *script_line(struct script *s);
/* The next word of the line; NULL: there is no other. */
char *script_word(char **line);
/* Fills e for the line that was read last; -EINVAL. */
int script_error(const struct script *s, struct err *e);
bool script_pct(const char *s, double *out);
/* Not negative. */
bool script_int(const char *s, int64_t *out);
