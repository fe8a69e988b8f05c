/* One error for a person: a stable code, the field that is wrong, and a sentence.
 *
 * Functions return 0, a negative errno, or a positive code of their module; what a person must see
 * is filled into one struct err by whoever knows the cause best, and travels up untouched. The
 * first filling wins: a caller that adds context must say so by clearing it first. Control
 * characters in field and text become '?': both are one line, wherever they are shown.
 * The struct owns its bytes; there is nothing to free.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

struct err {
    char code[48];   /* "source.dirty"; empty: no error was filled in */
    char field[128]; /* "workloads[2].lanes.c.command"; may be empty */
    char text[640];  /* one sentence: the cause and the next step */
};

/* Fills e (which may be NULL) unless it is already filled; returns rc, so that it ends a function:
 * `return err_set(e, -EINVAL, "suite.bad", path, "...", ...);` */
int err_set(struct err *e, int rc, const char *code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int err_setv(struct err *e, int rc, const char *code, const char *field, const char *fmt,
             va_list ap);

/* For a failed system call: code "system.<op>" with blanks as underscores; the sentence ends with
 * strerror(-rc). */
int err_sys(struct err *e, int rc, const char *op, const char *what);

bool err_is_set(const struct err *e);
void err_clear(struct err *e);
