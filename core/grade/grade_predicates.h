/* Inside of the grade: one small function for each predicate, over the facts of the raw report.
 *
 * A predicate that looks at several things (sides, phases, files) folds them: the worst one is the
 * result and gives its fact. Facts live in the arena of the inputs; nothing is kept.
 */
#pragma once

#include "core/grade/grade.h"
#include "core/stats/drift.h"

struct grade_input {
    struct arena *arena;
    const struct raw *raw;
    const struct control_drift *drifts;
    size_t n_drifts;
};

typedef struct predicate_result (*predicate_fn)(const struct grade_input *in);

/* A result whose fact is formatted into the arena of in. */
#define RESULT(in, status, ...)                                                                    \
    ((struct predicate_result){(status), arena_printf((in)->arena, __VA_ARGS__)})

/* Replaces *worst by r where r is worse: FAIL over UNKNOWN over PASS over NOT_APPLICABLE. Of equals
 * the first stands. */
void predicate_fold(struct predicate_result *worst, struct predicate_result r);

/* Sources, inputs and builds (grade_sources.c). */
struct predicate_result predicate_sources_clean_detached(const struct grade_input *in);
struct predicate_result predicate_commits_pinned(const struct grade_input *in);
struct predicate_result predicate_corrections_proven(const struct grade_input *in);
struct predicate_result predicate_sources_frozen(const struct grade_input *in);
struct predicate_result predicate_inputs_unchanged(const struct grade_input *in);
struct predicate_result predicate_binaries_unchanged(const struct grade_input *in);
struct predicate_result predicate_fresh_build(const struct grade_input *in);

/* What ran (grade_run.c). */
struct predicate_result predicate_protocol_exact(const struct grade_input *in);
struct predicate_result predicate_warmups_excluded(const struct grade_input *in);
struct predicate_result predicate_no_override(const struct grade_input *in);
struct predicate_result predicate_no_lane_excluded(const struct grade_input *in);
struct predicate_result predicate_controls_within_drift(const struct grade_input *in);
struct predicate_result predicate_cleanup_verified(const struct grade_input *in);
struct predicate_result predicate_observer_silent(const struct grade_input *in);
struct predicate_result predicate_repetitions_enough(const struct grade_input *in);
struct predicate_result predicate_no_profile(const struct grade_input *in);

/* The host (grade_host.c). */
struct predicate_result predicate_inventory_before_build(const struct grade_input *in);
struct predicate_result predicate_inventory_before_timing(const struct grade_input *in);
struct predicate_result predicate_inventory_after_timing(const struct grade_input *in);
struct predicate_result predicate_inventories_complete(const struct grade_input *in);
struct predicate_result predicate_conditions_met(const struct grade_input *in);
struct predicate_result predicate_host_contract(const struct grade_input *in);
struct predicate_result predicate_boot_unchanged(const struct grade_input *in);
struct predicate_result predicate_no_suspend(const struct grade_input *in);
