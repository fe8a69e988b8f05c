/* The order of everything, computed before the first observation and stored.
 *
 * Rules: interleaved, round r visits the workloads rotated by r, inside a workload the lanes
 * rotated by r; a lane's sides are adjacent, the first side first in even repetitions and last in
 * odd ones. Warmup rounds come before, by the same rule (kind warmup, repetitions -warmups .. -1).
 * Sequential: all of one side, then all of the other. Replacements of disturbed repetitions come
 * after all that, in rounds of their own.
 *
 * The steps of a build (adjacent workloads of one steps_of) are visited as one workload: where
 * another has one observation, it has one for each step, in their order, all of one position. */
#pragma once

#include "base/arena.h"
#include "core/suite.h"
#include "core/types.h"

struct plan_step {
    int seq;        /* 0.. in execution order */
    int workload;   /* index into the suite */
    int lane;       /* index into the workload's lanes */
    int side;       /* index into the sides */
    int repetition; /* timed: 0..n-1; warmup: 0..warmups-1 */
    int position;   /* 0.. within (kind, repetition, workload) */
    enum obs_kind kind;
    int replaces; /* the disturbed repetition whose place it takes; -1: none */
};

struct plan {
    struct plan_step *steps;
    size_t n, cap;
};

/* How often a lane of this measure is observed when so many repetitions or warmups are asked for:
 * what is not run is looked at once. */
int plan_repetitions(enum measure m, int asked);
int plan_warmups(enum measure m, int asked);

/* present[w][lane * n_sides + side] says whether that lane of workload w runs on that side (false:
 * excluded, absent on this host, or a workload that is absent on the side); NULL: all do. */
struct plan *plan_make(struct arena *a, const struct suite *suite, size_t n_sides, int repetitions,
                       int warmups, enum order order, const bool *const *present);

/* Are both steps of one build? Each argument is a steps_of, NULL where it is no step. */
bool plan_is_one_build(const char *a, const char *b);
/* Behind the workloads that are visited together with this one, which is the first of them. */
size_t plan_end_of_steps(const struct suite *suite, size_t first);

/* Appends one round in which workload w runs once more for the repetition replaces[w] (-1: it does
 * not run), as repetition number `repetition` and in the order of the round of that number, all
 * sides adjacent. The other arguments as for plan_make. All steps of a build have the same entry in
 * replaces. */
void plan_replace(struct arena *a, struct plan *plan, const struct suite *suite, size_t n_sides,
                  int repetition, const int *replaces, const bool *const *present);
