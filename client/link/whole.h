/* Answers that do not fit into one message, put together. */
#pragma once

#include "client/cli.h"

/* A list that comes in pages. */
struct whole {
    const char *method, *list; /* the list's member in the result */
    const char *cursor;        /* parameter: id of the last item of the page before */
};

extern const struct whole whole_session;  /* session.show */
extern const struct whole whole_sessions; /* session.list */

/* Asks (for what id names; NULL: the method has no id) until there is no more: the first answer,
 * with the items of all pages in its list. */
int whole_list(struct cli *cli, const struct whole *w, const char *id, struct answer *out,
               struct err *e);
/* The same over a connection. */
int whole_list_over(struct connection *c, const struct whole *w, const char *id, struct answer *out,
                    struct err *e);

/* job.show, with the document in place however long it is. */
int whole_job(struct cli *cli, const char *id, struct answer *out, struct err *e);
