/* What a lane of measure "kernel" brought: the receipt, or the error, that `aurabench kernel`
 * printed, which spoke with the driver. */
#pragma once

#include "run/run.h"

/* Fills values and outputs of o->raw, or sets the outcome and o->got. Called for an observation
 * that is good, or whose program exited with another status than 0. Strings live in a. */
void run_kernel_take(struct arena *a, struct run_observation *o);
