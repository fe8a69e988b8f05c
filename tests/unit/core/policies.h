/* The shipped policies as C values, for tests below the documents: they must not depend on the JSON
 * decoder to say what a rule does. */
#pragma once

#include "core/policy.h"

static inline void policy_rule(struct policy *p, enum condition c, enum rule_mode mode,
                               double limit, const char *text)
{
    p->rules[c] = (struct rule){.mode = mode, .limit = limit, .text = text};
}

static inline struct policy policy_standard(void)
{
    static const char *forbidden[] = {"gcc", "clang", "cc1", "make", "x86_64-linux-gnu-gcc", NULL};
    struct policy p = {
        .name = "standard",
        .snapshot_gap_ms = 250,
        .sustained_pct = 50,
        .aggregate_pct = 25,
        .aggregate_all_pct = 1,
        .lane_cpu_pct = 2,
        .forks_per_second = 20,
        .forbidden = {forbidden, 5},
    };
    for (int c = 0; c < COND_COUNT; c++)
        policy_rule(&p, (enum condition)c, RULE_REQUIRE, 0, NULL);
    p.rules[COND_STEAL].limit = 0.5;
    p.rules[COND_MEMORY].limit = 10;
    p.rules[COND_UPTIME].limit = 120;
    policy_rule(&p, COND_BARE_METAL, RULE_RECORD, 0, NULL);
    policy_rule(&p, COND_CALIBRATION, RULE_RECORD, 0, NULL);
    policy_rule(&p, COND_CONTROL, RULE_RECORD, 0, NULL);
    return p;
}

static inline struct policy policy_virtual(void)
{
    static const enum condition waived[] = {COND_MAINS, COND_LOW_POWER, COND_GOVERNOR,
                                            COND_BOOST, COND_ENERGY,    COND_THERMAL};
    struct policy p = policy_standard();
    p.name = "virtual";
    for (size_t i = 0; i < sizeof waived / sizeof waived[0]; i++)
        p.rules[waived[i]] = (struct rule){
            .mode = RULE_WAIVE, .reason = "a guest cannot know it", .by = "the operator"};
    policy_rule(&p, COND_CALIBRATION, RULE_REQUIRE, 0, NULL);
    policy_rule(&p, COND_CONTROL, RULE_REQUIRE, 0, NULL);
    return p;
}

static inline struct policy policy_strict(void)
{
    struct policy p = policy_standard();
    p.name = "strict";
    policy_rule(&p, COND_GOVERNOR, RULE_REQUIRE, 0, "performance");
    policy_rule(&p, COND_BOOST, RULE_REQUIRE, 0, "off");
    policy_rule(&p, COND_BARE_METAL, RULE_REQUIRE, 0, NULL);
    return p;
}
