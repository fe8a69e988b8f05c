/* Conditions: facts + policy -> PASS, FAIL, UNKNOWN, NOT_APPLICABLE, each with what was seen; and
 * the decision whether timing may begin. Pure. */
#pragma once

#include "base/arena.h"
#include "core/host.h"
#include "core/policy.h"
#include "core/quiet/inventory.h"

struct condition_result {
    enum condition condition;
    enum tri status; /* of the fact itself, waived or not */
    enum rule_mode mode;
    const char *seen;   /* what was seen, a short phrase with its figures */
    const char *needed; /* what the policy asks, a short phrase; NULL: nothing */
};

/* What the job itself contributes to conditions. */
struct qualify_job {
    bool is_comparison;
    bool control_everywhere; /* each compared workload has a control lane */
};

/* first: the facts when the attempt began (the same as now in the first phase). out has COND_COUNT
 * entries in the order of enum condition; strings live in a. */
void qualify_conditions(struct arena *a, const struct policy *policy,
                        const struct host_identity *host, const struct host_facts *first,
                        const struct host_facts *now, const struct qualify_job *job,
                        struct condition_result out[COND_COUNT]);

/* The predicate over the required ones: FAIL over UNKNOWN over PASS. */
enum tri qualify_conditions_met(const struct condition_result *results);

/* One phase as it is stored. */
struct phase_record {
    struct inventory *inventory; /* NULL: not taken */
    struct host_facts facts;
    struct condition_result conditions[COND_COUNT];
};

/* May the attempt go on? False refuses: an inventory that is not quiet, or a required condition
 * that FAILs. One that is UNKNOWN does not refuse; it costs the grade. allow_competing is the
 * override by name: it always goes on, and its report can never be contractual. *reason (in a) is
 * one sentence that names the causes. */
bool qualify_decide(struct arena *a, const struct phase_record *phase, bool allow_competing,
                    const char **reason);
