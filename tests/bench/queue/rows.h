/* Jobs and attempts for a store that a benchmark fills or works on. A job's document and policy are
 * texts that a daemon stored; only the id differs from job to job.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "core/summary/history.h"
#include "store/store.h"

#define ROWS_BOOT "b0000000-0000-4000-8000-000000000000"
#define ROWS_WORKLOADS 11
#define ROWS_SIDES 2
#define ROWS_RUN (ROWS_WORKLOADS * ROWS_SIDES) /* observations of one repetition */
#define ROWS_REPETITIONS 48
#define ROWS_ATTEMPT (ROWS_RUN * ROWS_REPETITIONS)
#define ROWS_LANE "subject"

struct rows_texts {
    struct buf document, policy;
    char *id; /* inside document, to be overwritten */
};

void rows_texts_read(struct rows_texts *t, const char *document_path, const char *policy_path);
void rows_texts_deinit(struct rows_texts *t);
/* A job of these texts with a fresh id; lives until the next call. */
struct store_new_job rows_job(struct rows_texts *t);

struct store *rows_open(const char *path);
/* For filling only: nothing is synced, much is cached. */
void rows_hurry(struct store *s);
/* An attempt of a fresh job, without a plan. */
void rows_claim(struct store *s, char id[ULID_LEN + 1]);
/* The figures of a report of that attempt, ROWS_RUN of them, begun at this moment; they live until
 * the next call. */
const struct history *rows_history(const char *attempt, int64_t started_ms);
/* The same with a plan of ROWS_ATTEMPT steps. */
void rows_attempt(struct store *s, char id[ULID_LEN + 1]);
/* The observations of steps seq .. seq + n - 1 of that plan. */
void rows_observe(struct raw_observation *out, int seq, size_t n);
