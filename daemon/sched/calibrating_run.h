/* What a calibration observes: slices of it, each short enough that clients do not wait for long.
 *
 * A round is one group of pairs by protocol, one by process, and some starts of the program that
 * does nothing by either. Values grow in the arena given. Internal to sched/.
 */
#pragma once

#include "core/summary/calibration.h"
#include "run/run.h"

struct calibrating_run {
    struct run *run;
    struct arena *arena;
    const char *program, *folder; /* aurabench-floor; where it runs */
    const char *const *env;
    const int *cpus;
    size_t n_cpus;
    size_t rounds, slice; /* slice: the next one */
    struct calibration result;
};

/* Prepares rounds of them; the members above are set. */
void calibrating_run_init(struct calibrating_run *c, enum calibration_form form);
size_t calibrating_run_slices(const struct calibrating_run *c);
/* Blocks for about 0.2 s. 0, or -errno with e filled: the runner is lost, or the program did not do
 * what it does ("calibration.failed"). left: what could not be ended (NULL: nothing). */
int calibrating_run_slice(struct calibrating_run *c, const char **left, struct err *e);
