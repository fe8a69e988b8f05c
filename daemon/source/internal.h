/* What the files of daemon/source share: the store's places, and git in an environment of our own.
 * Nothing outside of this folder includes it.
 */
#pragma once

#include "base/buf.h"
#include "source/source.h"

struct source_store {
    char *git_dir; /* repos/store.git; does not exist before the first import */
    char *suites;
    char *uploads;
};

/* ---- git */

struct source_git {
    const char *git_dir;
    const char *work_tree;  /* NULL: none; also the working directory */
    const char *object_dir; /* NULL: git_dir's */
    const char *place;      /* where it writes, for sentences; NULL: object_dir or git_dir */
    const void *input;      /* to stdin; NULL: none */
    size_t input_len;
    int out_fd; /* -1: into out */
};

#define SOURCE_GIT(dir)                                                                            \
    {                                                                                              \
        .git_dir = (dir), .out_fd = -1                                                             \
    }
#define SOURCE_ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs git with nothing of the user's or the system's settings; *status is its exit status. */
int source_git(const struct source_git *g, const char *const *args, int *status, struct buf *out,
               struct buf *errout, struct err *e);
/* The same where a nonzero exit status is an error -EINVAL: code, and git's complaint. */
int source_git_must(const struct source_git *g, const char *const *args, struct buf *out,
                    const char *code, struct err *e);
/* What git says when the disk is the cause: -ENOSPC or -EIO with e filled, as base/disk.h calls it;
 * else 0. */
int source_git_disk(const struct source_git *g, const struct buf *errout, struct err *e);
/* True when git exits with 0. */
bool source_git_asks(const struct source_git *g, const char *const *args);

/* Makes store.git unless it is there. */
int source_store_ready(struct source_store *s, struct err *e);
int source_check_id(const char *id, struct err *e);
/* Makes the commits permanent: a reference for each. They must be complete. */
int source_pin(struct source_store *s, const char *const *commits, size_t n, struct err *e);

/* ---- trees */

/* The files that a commit tracks, in the order of their path's bytes. */
struct source_tree {
    struct buf paths; /* each with a NUL */
    size_t files;
};

/* -EINVAL with source.submodule when one of the entries is no file. */
int source_tree_list(struct source_store *s, const char *commit, struct source_tree *tree,
                     struct err *e);
void source_tree_deinit(struct source_tree *tree);
/* SHA-256 of the manifest: "aurabench-tree 1\n", then per file `mode SP sha256 SP path NUL`. A
 * link's content is its target. A file that is not there, or is neither file nor link, has the mode
 * 000000 and "-"; *missing (may be NULL) counts these. */
int source_tree_hash(const struct source_tree *tree, const char *dir, char hex[DIGEST_HEX],
                     size_t *missing, struct err *e);

/* Opens a file below the folder without following a link on the way: fd or -errno. */
int source_open_beneath(int root, const char *path);
/* Adds a name to a sentence: as it is, or with \xNN for what cannot be shown. */
void source_show_path(struct buf *out, const char *path);
