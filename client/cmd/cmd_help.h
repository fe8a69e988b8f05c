/* The help texts, made of the tables of commands and options. */
#pragma once

#include "client/cli.h"

void help_overview(struct cli *cli);
void help_command(const struct command *command);
/* The command of that name; NULL with e filled ("usage") when there is none. */
const struct command *help_find(struct cli *cli, const char *name, struct err *e);
