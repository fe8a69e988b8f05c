/* The grade: predicates over the raw report, each PASS, FAIL, UNKNOWN or NOT_APPLICABLE with the
 * fact it rests on. Pure; recomputed offline from raw.json alone. */
#pragma once

#include "base/arena.h"
#include "core/raw.h"

enum predicate {
    PRED_SOURCES_CLEAN_DETACHED,
    PRED_COMMITS_PINNED,
    PRED_CORRECTIONS_PROVEN,
    PRED_SOURCES_FROZEN,
    PRED_INPUTS_UNCHANGED,
    PRED_BINARIES_UNCHANGED,
    PRED_FRESH_BUILD,
    PRED_PROTOCOL_EXACT,
    PRED_WARMUPS_EXCLUDED,
    PRED_INVENTORY_BEFORE_BUILD,
    PRED_INVENTORY_BEFORE_TIMING,
    PRED_INVENTORY_AFTER_TIMING,
    PRED_INVENTORIES_COMPLETE,
    PRED_CONDITIONS_MET,
    PRED_HOST_CONTRACT,
    PRED_BOOT_UNCHANGED,
    PRED_NO_SUSPEND,
    PRED_NO_OVERRIDE,
    PRED_NO_LANE_EXCLUDED,
    PRED_CONTROLS_WITHIN_DRIFT,
    PRED_CLEANUP_VERIFIED,
    PRED_OBSERVER_SILENT,
    PRED_REPETITIONS_ENOUGH,
    PRED_NO_PROFILE,
    PRED_COUNT
};
const char *predicate_name(enum predicate p); /* "sources_clean_detached", ... */
int predicate_parse(const char *s);

struct predicate_result {
    enum tri status;
    const char *fact; /* one short phrase with the figures it rests on */
};

enum row_predicate {
    ROW_PAIRS_COMPLETE,
    ROW_DISTURBANCE_REPLACED,
    ROW_ABOVE_RESOLUTION, /* of times only */
    ROW_VALUES_EXACT,     /* of values that must not change */
    ROW_GROWTH_WITHIN,    /* of sizes */
    ROW_SAMPLES_WITHIN,   /* of workloads with samples */
    ROW_SCALING_WITHIN,   /* of lanes of several tasks */
    ROW_COUNT
};
const char *row_predicate_name(enum row_predicate p);
int row_predicate_parse(const char *s);

struct row_grade {
    enum grade value;                              /* contractual or diagnostic */
    struct predicate_result predicates[ROW_COUNT]; /* without a fact: not of this kind of row */
};

struct grade_result {
    enum grade value;
    struct predicate_result predicates[PRED_COUNT];
    const char *line; /* "contractual, policy virtual, waived: mains, ..." */
};

struct control_drift;
struct observation_index;

/* Every predicate; drifts are those of the controls (see summarise.h). */
void grade_report(struct arena *a, const struct raw *raw, const struct control_drift *drifts,
                  size_t n_drifts, struct grade_result *out);
/* One lane on one side; index is that of raw (observations.h), calibration what follows from the
 * one in force, by measure (NULL: there is none). */
void grade_row(struct arena *a, const struct raw *raw, const struct observation_index *index,
               const struct calibration_figures *calibration, const char *workload,
               const char *lane, const char *side, struct row_grade *out);
struct row;
/* Adds to the grade of a row what its samples say; and of a lane of several tasks, how it scales.
 */
void grade_samples(struct arena *a, const struct row *row, struct row_grade *out);
struct scaling_row;
void grade_scaling(struct arena *a, const struct scaling_row *row, struct row_grade *out);
struct value_row;
/* The same for a row of values, whose figures are there. */
void grade_value_row(struct arena *a, const struct raw *raw, const struct observation_index *index,
                     const struct raw_workload *w, struct value_row *row);
