/* Policies: what is accepted is written and read again to the same bytes, and is within the bounds
 * that the scheduler multiplies with. */
#include <math.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/doc/documents.h"
#include "proto/form/duration.h"

static char *encoded(const struct policy *p)
{
    struct buf json = {0};
    struct json_out o;

    json_out_init(&o, &json);
    policy_encode(&o, NULL, p);
    char *text = fuzz_canonical(&json);
    buf_deinit(&json);
    return text;
}

static void must_read_back(const struct policy *p)
{
    CLEANUP(mem_freep) char *first = encoded(p);
    struct arena a = {0};
    struct policy *again = NULL;
    struct err e = {0};

    MUST(policy_decode(&a, first, strlen(first), &again, &e) == 0, "%s %s: %s", e.field, e.text,
         first);
    CLEANUP(mem_freep) char *second = encoded(again);
    MUST(strcmp(first, second) == 0, "%s%s", first, second);
    arena_deinit(&a);
}

static void check_policy(const struct policy *p)
{
    const int64_t times[] = {p->settle_ms,        p->snapshot_gap_ms, p->retry_every_ms,
                             p->ready_timeout_ms, p->done_timeout_ms, p->build_timeout_ms};
    const double figures[] = {p->margin,          p->drift_limit_pct,   p->sustained_pct,
                              p->aggregate_pct,   p->aggregate_all_pct, p->lane_cpu_pct,
                              p->forks_per_second};

    MUST(p->name && p->path && p->repetitions_min >= 1 && p->retry_limit >= 0);
    for (size_t i = 0; i < ARRAY_LEN(times); i++)
        MUST(times[i] >= 0 && times[i] <= DURATION_MAX_MS, "time %zu", i);
    for (size_t i = 0; i < ARRAY_LEN(figures); i++)
        MUST(isfinite(figures[i]) && figures[i] >= 0, "figure %zu", i);
    for (int c = 0; c < COND_COUNT; c++) {
        const struct rule *r = &p->rules[c];
        MUST(isfinite(r->limit), "%s", condition_name((enum condition)c));
        MUST(r->mode != RULE_WAIVE || (r->reason && r->by), "%s",
             condition_name((enum condition)c));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct policy *p = NULL;
    struct err e = {0};

    if (fuzz_accepted(policy_decode(&a, (const char *)data, size, &p, &e), &e)) {
        check_policy(p);
        must_read_back(p);
    }
    arena_deinit(&a);
    return 0;
}
