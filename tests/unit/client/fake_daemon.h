/* A daemon that does what a script says, in a process of its own: it greets, answers each request
 * with the next step, and writes down what it was asked. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

struct fake_step {
    const char *method; /* that must be asked for now; another one is answered with an error */
    const char *result; /* JSON text of the result */
    const char *error;  /* instead: a code; the sentence is "refused by the script" */
    const char *after;  /* raw lines sent behind the answer; NULL: none */
    const char *raw;    /* instead of an answer: raw bytes */
    bool hang_up;       /* ends the connection: without an answer, or behind `after` or `raw` */
    bool silent;        /* no answer at all, and the connection stays */
};

struct fake_script {
    const char *hello;             /* NULL: a good one; "": none */
    const struct fake_step *steps; /* ends with a method of NULL */
    int hang_up_first;             /* so many connections are closed before the hello */
};

struct fake {
    char *folder; /* a fresh one, removed at the end */
    char *socket, *log;
    pid_t pid;
};

#define FAKE_HELLO "{\"aurabench\":1,\"version\":\"9.9\",\"host\":\"box\",\"boot\":\"b-1\"}\n"

void fake_start(struct fake *f, const struct fake_script *script);
/* Ends it; the test fails when it did not run until now. */
void fake_stop(struct fake *f);
/* What was asked so far: one line "METHOD PARAMS" per request; "(closed)" where a client left. */
void fake_asked(const struct fake *f, struct buf *out);

/* Runs the client program ($AURABENCH) with --socket of the fake (f NULL: without) and the words
 * (NULL-terminated), stdout and stderr apart. Its exit status. */
int client_run(const struct fake *f, const char *const *words, struct buf *out, struct buf *err);

/* One run of the client against a daemon of its own. */
struct outcome {
    int status;
    struct buf out, err, asked;
};
void outcome_deinit(struct outcome *o);
void outcome_run(struct outcome *o, const struct fake_step *steps, const char *const *words);
void assert_says(const struct buf *b, const char *part);

#define STEPS(...) ((const struct fake_step[]){__VA_ARGS__, {0}})
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
