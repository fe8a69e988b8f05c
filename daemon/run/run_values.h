/* The figures of a lane that it prints or that are no times, taken from what its observation
 * brought. */
#pragma once

#include "run/run.h"

/* Fills o->raw.values of a good observation of a measure that has values, and takes its elapsed_ns
 * away; fills o->raw.samples of one that declares samples; or sets the outcome and o->got where
 * they cannot be had. Of any other observation it leaves everything as it is. Strings live in a or
 * belong to req. */
void run_values_take(struct arena *a, const struct run_observe *req, struct run_observation *o);
