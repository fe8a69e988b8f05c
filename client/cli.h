/* One run of the command line: the shared options, the terminal, the way out.
 *
 * A command is a row of a table in main.c: its options, how many words it takes, its function. The
 * function returns the exit status (proto/errors.h); cli_fail makes one of an error and says it.
 * Everything that lives as long as the run lives in cli->a.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "client/link/connection.h"
#include "client/options.h"
#include "client/view/term.h"
#include "proto/errors.h"

struct cli;

struct command {
    const char *name;
    const char *usage;   /* what follows the name: "ID [--follow]" */
    const char *summary; /* one line, for the list of commands */
    const char *more;    /* further lines of its help; NULL: none */
    const struct opt *opts;
    size_t n_opts;
    size_t values_bytes;  /* of the struct its options are stored in */
    const void *defaults; /* such a struct; NULL: all zero */
    size_t words_min, words_max;
    bool takes_command; /* words behind "--" */
    int (*run)(struct cli *cli, const void *values, const struct opt_words *words);
};

struct cli {
    struct arena a;
    const struct command *command;
    const struct command *const *commands; /* all, NULL-terminated: for help */
    struct {
        bool json, help, version;
        const char *host, *socket;
        int64_t timeout_ms; /* -1: none */
    } shared;
    int64_t deadline_ns; /* of clock_mono_ns; -1: none */
    struct term out, err;
};

extern const struct opt cli_shared_opts[];
extern const size_t cli_n_shared_opts;

/* Says the error on stderr as one sentence (with --json also as a document on stdout) and returns
 * the exit status that belongs to its code. */
int cli_fail(struct cli *cli, const struct err *e);
/* The sentence alone: where one of several things failed and the rest goes on. */
int cli_say(const struct err *e);

/* What is wrong in a document, with the document's file in front of the sentence: a command may
 * read several. Returns rc. */
int cli_fail_in_file(const char *path, int rc, const struct err *why, struct err *e);

/* Opens the connection that the shared options name. */
int cli_connect(struct cli *cli, struct connection **out, struct err *e);
/* Connects, asks one thing, hangs up. */
int cli_ask(struct cli *cli, const char *method, const char *params, struct answer *answer,
            struct err *e);

/* Writes to stdout. A reader that has gone ends the program quietly, with status 0. */
void cli_write(const void *data, size_t len);
/* Writes b and empties it. */
void cli_put(struct buf *b);

/* Begins a document {"aurabench":1,"command":NAME, ...; the caller adds members. */
void cli_json_begin(const struct cli *cli, struct json_out *o, struct buf *b);
/* Ends it and writes it as one line. */
void cli_json_end(struct json_out *o);
/* The whole document: the members of result, an object. */
void cli_json(const struct cli *cli, const cJSON *result);
/* Adds member "error". */
void cli_json_error(struct json_out *o, const struct err *e);
/* Adds a node of an answer, and all members of an object. */
void cli_json_node(struct json_out *o, const char *key, const cJSON *node);
void cli_json_members(struct json_out *o, const cJSON *obj);

/* {"id": ...} for a request. */
void cli_id_params(struct buf *out, const char *id);

/* "2026-11-30 17:35:52", local time, into out (at least 32 bytes). */
char *cli_time(int64_t wall_ms, char *out);
/* The last characters of an id, which the daemon takes for the id. */
const char *cli_short_id(const char *id);
