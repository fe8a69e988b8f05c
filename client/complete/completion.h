/* What a shell may offer where, read off the tables of commands and options, and the scripts that
 * tell the shells.
 *
 * A value or a usage is understood by its own words: "text|markdown" are two words to choose from,
 * STATE is a state of a job, what names a FILE, DIR or PATH or ends in .json is a file. Everything
 * else is only known to be there. Nothing that a script does asks a daemon: a host that measures is
 * not to be disturbed by a tabulator key.
 */
#pragma once

#include "client/cli.h"

struct completion {
    bool takes_value; /* false: a flag */
    bool files;
    bool files_behind; /* of a command: a word behind the first may be a file */
    struct buf words;  /* to choose from, separated by spaces */
};

void completion_deinit(struct completion *c);
void completion_of_option(const struct opt *o, struct completion *out);
/* Of the first word behind the command. */
void completion_of_command(const struct command *const *commands, const struct command *command,
                           struct completion *out);

/* Appends the script for that shell. */
void completion_bash(const struct command *const *commands, struct buf *out);
void completion_zsh(const struct command *const *commands, struct buf *out);
void completion_fish(const struct command *const *commands, struct buf *out);
