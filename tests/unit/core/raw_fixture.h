/* A raw report in which everything is as it should be: what a test bends one fact of.
 *
 * Two sides; fib30 (protocol: c, cpython as control), fanout (the same with a declared wait) and
 * int32 (process: c with its startup lane, cpython as control); 11 repetitions, one warmup. Each
 * predicate passes but observer_silent, which this version cannot know: so the report is diagnostic
 * and must be until the observer is audited. Everything lives in the arena and may be written to.
 */
#pragma once

#include "base/arena.h"
#include "core/grade/grade.h"
#include "core/raw.h"

#define FIXTURE_COMMIT_BEFORE "1111111111111111111111111111111111111111"
#define FIXTURE_COMMIT_AFTER "2222222222222222222222222222222222222222"
#define FIXTURE_WAIT_NS 100000

struct raw *raw_fixture(struct arena *a);

/* `run`: one workload "run" of two commands a and b, b takes twice as long; no sources. */
struct raw *raw_fixture_run(struct arena *a);

/* One workload more, "heap", whose figures are values: lanes c and cpython, a control. To be
 * planned anew when the test has said what such a workload needs. */
void raw_add_values(struct arena *a, struct raw *raw, enum measure measure);

/* Plans and observes anew, after the test has changed sides, lanes or order. */
void raw_replan(struct arena *a, struct raw *raw);

/* Runs what is disturbed again, round after round, as the replacement rule says; the new ones are
 * as disturbed as this says. raw_replace: not at all. */
void raw_replace_as(struct arena *a, struct raw *raw, int disturbed);
void raw_replace(struct arena *a, struct raw *raw);
/* One round of it, not disturbed; false: none is due. */
bool raw_replace_round(struct arena *a, struct raw *raw);

/* The observation of a timed repetition; the test fails when there is none. */
struct raw_observation *raw_find(struct raw *raw, const char *workload, const char *lane,
                                 const char *side, int repetition);

/* Grades the report, with the drifts that follow from it, and fails the test unless the predicate
 * has this status and a fact with these words. */
void raw_expect(struct arena *a, const struct raw *raw, enum predicate p, enum tri status,
                const char *words);
