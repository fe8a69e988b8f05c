/* Steps that several functions of the store take inside a transaction of their caller. Internal to
 * daemon/store.
 */
#pragma once

#include "store/sql.h"
#include "store/store.h"

/* 0, or -ENOENT "attempt.not_found"; job NULL: of any job. */
int rows_check_attempt(struct store *s, const char *attempt, const char *job, struct err *e);
int rows_end_attempt(struct store *s, const char *attempt, const char *outcome, int64_t wall_ms,
                     struct err *e);
int rows_add_attempt(struct store *s, const struct store_new_attempt *attempt, const char *job,
                     int64_t wall_ms, struct err *e);
int rows_add_refusal(struct store *s, const struct raw_refusal *refusal, struct err *e);
/* What a report adds to the series of its figures. */
struct history;
int rows_add_figures(struct store *s, const struct history *h, struct err *e);
int rows_add_report(struct store *s, const struct store_report *report, struct err *e);

/* One transition and its history row, and what follows for jobs that come after it. */
int rows_apply_event(struct store *s, const char *job, enum job_event event,
                     const struct store_event *with, struct job_step *step, struct err *e);
int rows_read_state(struct store *s, const char *job, enum job_state *state, struct err *e);

/* ---- jobs that come after others */

/* Writes the list of a job that has none, and looks for circles when it is not a new job. */
int rows_put_after(struct store *s, const char *job, const struct job_after *after, size_t n,
                   bool is_new, struct err *e);
/* Removes the list. */
int rows_drop_after(struct store *s, const char *job, struct err *e);
/* Asks again which of them are over: for another run. */
int rows_reopen_after(struct store *s, const char *job, struct err *e);
/* It has ended: it waits for none any more, and those that wait for it are to be told. */
int rows_job_ended(struct store *s, const char *job, struct err *e);
/* It goes on after all: who has not been told waits on. */
int rows_job_goes_on(struct store *s, const char *job, struct err *e);

/* ---- programs that are told of ends */

/* Of this one, as the transaction leaves the job; with->report is yet to be added. */
int rows_owe_hooks(struct store *s, const char *job, enum job_state state,
                   const struct store_event *with, struct err *e);
/* It was none after all: nobody has been told of it. */
int rows_withdraw_hooks(struct store *s, const char *job, struct err *e);

/* Where a sealed folder lies: beside the database, wherever the state folder is now, when it is
 * there; else where it was sealed. path may be NULL. */
const char *rows_evidence(struct store *s, const char *path, struct arena *a);

/* *known: it was there already. */
int rows_submit_job(struct store *s, const struct store_new_job *job, bool *known, struct err *e);
/* 0, or "session.not_found", "session.closed", "session.full". */
int rows_check_session(struct store *s, const char *id, struct err *e);

/* What an index can look up of a part of an id: the text and its reverse, each with an upper bound.
 */
struct id_needle {
    char start[ULID_LEN + 2], start_end[ULID_LEN + 2];
    char tail[ULID_LEN + 2], tail_end[ULID_LEN + 2];
};
/* False when the text cannot be part of an id. */
bool rows_id_needle(const char *text, struct id_needle *out);

int rows_job_not_found(const char *id, struct err *e);
/* Where a page of a list begins: the number of the row that sql ("SELECT number ... WHERE id =
 * :id") finds; without one what not_found says of the id. */
int rows_number_of(struct store *s, const char *sql, const char *id,
                   int (*not_found)(const char *id, struct err *e), int64_t *number, struct err *e);

/* ---- lists of one attempt, append-only and in the order they were put ---- */

struct list_table {
    const char *insert; /* binds :attempt and the fields */
    const char *select; /* binds :attempt; its columns are the fields */
    const struct field *fields;
    size_t n_fields;
    size_t item_bytes;
};

/* Within the caller's transaction. */
int rows_add_list(struct store *s, const struct list_table *table, const char *attempt,
                  const void *items, size_t n, struct err *e);
/* One transaction for all n items. */
int rows_put_list(struct store *s, const struct list_table *table, const char *attempt,
                  const void *items, size_t n, struct err *e);
/* All of them as an array in a (NULL when there are none); an error is left in *rc. */
void *rows_load_list(struct store *s, const struct list_table *table, const char *attempt,
                     struct arena *a, size_t *n, int *rc, struct err *e);

/* ---- what some observations of an attempt have several of, in a table of its own ---- */

/* A row is an item: the observation's seq, the place in its list, and what stands there. */
struct row_part {
    struct list_table table;
    size_t value_at, value_bytes; /* of the item */
    size_t list_at, count_at;     /* of struct raw_observation */
};
struct row_place {
    int seq, number;
};
#define ROW_PART(item, value, list)                                                                \
    .value_at = offsetof(item, value), .value_bytes = sizeof(((item *)NULL)->value),               \
    .list_at = offsetof(struct raw_observation, list),                                             \
    .count_at = offsetof(struct raw_observation, n_##list)
/* Of an item that begins with its place. */
#define ROW_PLACE(item) F_AS(item, at.seq, "seq"), F_AS(item, at.number, "number")

/* Within the caller's transaction: what the observation has in its list. */
int rows_add_part(struct store *s, const struct row_part *part, const char *attempt,
                  const struct raw_observation *o, struct err *e);
/* Gives each of raw->observations, which are loaded, those that are its own; items ascend by seq
 * and number. */
void rows_attach_part(const struct row_part *part, struct arena *a, const void *items, size_t n,
                      struct raw *raw);

/* ---- samples of an attempt's observations: a table of their own, as most have none ---- */

/* Within the caller's transaction. */
int rows_add_samples(struct store *s, const char *attempt, const struct raw_observation *o,
                     struct err *e);
/* Attaches them to raw->observations, which are loaded. */
int rows_load_samples(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e);

/* ---- corrections of an attempt's sources: a table of their own, as most sources have none ---- */

int rows_add_corrections(struct store *s, const char *attempt, const struct raw_source *sources,
                         size_t n, struct err *e);
/* Attaches them to raw->sources, which are loaded. */
int rows_load_corrections(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                          struct err *e);

/* ---- build variants of an attempt's sources, in the same way ---- */

int rows_add_variants(struct store *s, const char *attempt, const struct raw_source *sources,
                      size_t n, struct err *e);
int rows_load_variants(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                       struct err *e);
