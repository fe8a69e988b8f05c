/* Jobs that come after others, for the tests: submits and what becomes of them. */
#pragma once

#include "tests/unit/store/unit.h"

#include <errno.h>

static inline const char *unit_submit_after(struct unit *u, int number,
                                            const struct job_after *after, size_t n)
{
    struct store_new_job job = unit_new_job(u, number);
    job.after = after;
    job.n_after = n;
    ok(u, store_job_submit(u->s, &job, NULL, &u->e));
    return job.id;
}

/* Of the given jobs, in one word. */
static inline const char *unit_after_one(struct unit *u, int number, const char *other,
                                         enum job_need need)
{
    const struct job_after after = {other, need};
    return unit_submit_after(u, number, &after, 1);
}

/* Settles until nothing is left; how many were cancelled. */
static inline size_t unit_settle(struct unit *u)
{
    struct store_settled *settled;
    size_t n = 0, all = 0;
    int freed, rc = STORE_AGAIN;
    while (rc == STORE_AGAIN) {
        rc = store_settle(u->s, 60, &u->arena, &settled, &n, &freed, &u->e);
        all += n;
    }
    if (rc != 0)
        fail_msg("settle: %s", u->e.text);
    return all;
}

static inline struct store_job *unit_job(struct unit *u, const char *job)
{
    struct store_job *row;
    ok(u, store_job_get(u->s, job, &u->arena, &row, &u->e));
    return row;
}

/* Whether a claim finds the job; takes it when it does. */
static inline bool unit_claims(struct unit *u, int number, const char *want)
{
    const struct store_new_attempt attempt = {
        .id = unit_id(u, number), .boot = UNIT_BOOT, .version = "0.1.0"};
    char job[ULID_LEN + 1];
    int rc = store_job_claim(u->s, 1000, &attempt, job, &u->e);
    if (rc == STORE_NONE)
        return false;
    assert_int_equal(rc, 0);
    assert_string_equal(job, want);
    return true;
}

/* Takes the job that is next through to its end. */
static inline void unit_run(struct unit *u, int number, const char *want, enum job_event end)
{
    assert_true(unit_claims(u, number, want));
    const struct store_event with = {
        .wall_ms = 50, .next_try_ms = -1, .attempt = unit_id(u, number), .outcome = "x"};
    if (end == JOB_FINISH) {
        unit_event(u, want, JOB_TIMING_BEGINS);
        unit_event(u, want, JOB_TIMING_ENDS);
    }
    ok(u, store_job_event(u->s, want, end, &with, NULL, &u->e));
}
