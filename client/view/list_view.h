/* A list that comes in pages, as a table. */
#pragma once

#include "client/link/whole.h"
#include "client/view/table.h"

struct list_view {
    const struct whole *whole;
    const struct table_column *columns;
    size_t n_columns;
    void (*put)(struct json_in *in, const cJSON *item, struct table *t); /* one row */
    const char *empty; /* what is said instead of a table of none, with what to do */
};

/* Asks for all of it and prints it, for people or as JSON. The exit status. */
int list_view(struct cli *cli, const struct list_view *v);
