/* The calibration that holds for a host's boot, as the daemon answers host.calibration. Strings
 * live in the answer.
 */
#pragma once

#include "client/cli.h"
#include "core/summary/calibration.h"

#define CALIBRATION_RESOLVABLE_MAX 8

struct calibration_resolvable_view {
    int64_t repetitions;
    double change; /* a fraction; NaN: none */
};

struct calibration_measure_view {
    double noise_floor, cpu_noise_floor, floor_median_ns, floor_mad_ns, resolution_ns;
    struct calibration_resolvable_view resolvable[CALIBRATION_RESOLVABLE_MAX];
    size_t n_resolvable;
};

/* How calibrating stands. */
struct calibration_state_view {
    bool running, asked;
    int64_t done, total, refused_ms, next_try_ms;
    const char *form, *latest, *refused; /* NULL: none */
};

struct calibration_view {
    struct calibration_state_view state;
    bool found;
    const char *form, *clock;
    int64_t wall_ms, clock_step_ns, cpu;
    bool fifo;
    double margin;
    struct calibration_measure_view measures[CALIBRATION_MEASURES];
};

/* Errors stick to in. */
void calibration_state_view_read(struct json_in *in, const cJSON *obj,
                                 struct calibration_state_view *out);
int calibration_view_read(struct answer *answer, struct calibration_view *out, struct err *e);

/* All of it, for people. */
void calibration_view_put(const struct calibration_view *v, const struct term *term,
                          struct buf *out);
/* One line: when, the noise floors, what can be found. */
void calibration_view_line(const struct calibration_view *v, struct buf *out);
