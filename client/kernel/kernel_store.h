/* Receipts in the daemon's store, and files beside them: taken in, listed, shown, compared. Each
 * returns the exit status of the command. */
#pragma once

#include "client/cli.h"
#include "core/kernel/kernel.h"

/* Sends a receipt, as canonical text or as a file. machine: who made it, where it does not say so
 * itself; NULL: nobody says. */
int kernel_store_put(struct cli *cli, const struct kernel_receipt *r, char id[64], struct err *e);
int kernel_store_import(struct cli *cli, const char *path, const char *machine);
int kernel_store_list(struct cli *cli);
int kernel_store_show(struct cli *cli, const char *id);
/* Each is a file that exists, or an id. machine stands in for what files do not say. */
int kernel_store_diff(struct cli *cli, const char *x, const char *y, const char *machine);
