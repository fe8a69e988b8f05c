/* Runs the user's git for client/git/git.h: one call, in an environment in which nothing but git
 * itself runs and nothing is written. Internal to client/git/git*.c.
 *
 * The user's environment without GIT_*: git then finds the user's own rule about safe folders, and
 * nothing points it elsewhere. Settings that name programs are overridden, transports are off (a
 * partial clone cannot fetch), replacement objects and grafts are off, and the index is not
 * refreshed. A call borrows everything that it points to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct git_names {
    char **items; /* malloc'd */
    size_t count, cap;
};

void git_names_add(struct git_names *n, char *taken);
void git_names_deinit(struct git_names *n);

struct git_call {
    const char *repo;
    const char *git_dir, *object_dir; /* set instead of repo: the temporary one of a bundle */
    const struct git_names *mute;     /* further settings to make empty */
    const void *input;                /* to stdin; NULL: none */
    size_t input_len;
    int out_fd; /* -1: into out */
    int64_t timeout_ms;
};

#define GIT_CALL_IN(path)                                                                          \
    {                                                                                              \
        .repo = (path), .out_fd = -1, .timeout_ms = INT64_C(600000)                                \
    }
#define GIT_ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs git with the arguments; *status is its exit status. */
int git_call(const struct git_call *c, const char *const *args, int *status, struct buf *out,
             struct buf *errout, struct err *e);
/* The same where a nonzero exit status is an error: code, and git's complaint in the sentence. */
int git_call_must(const struct git_call *c, const char *const *args, struct buf *out,
                  const char *code, struct err *e);
/* True when git exits with 0. */
bool git_call_asks(const struct git_call *c, const char *const *args);

/* Git's own complaint, as the end of a sentence; cuts errout after its first line. */
const char *git_complaint(struct buf *errout);
/* The first line without its newline, "" when there is none; cuts out there. */
char *git_first_line(struct buf *out);
/* Adds a file's name to a list for a sentence, quoted if it is not plain. */
void git_list_name(struct buf *list, const char *name);
