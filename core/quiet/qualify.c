#include "core/quiet/qualify.h"

#include <string.h>

#include "base/buf.h"

/* What one condition is judged from. Judges set status and seen, and needed where the policy's
 * limit or text shapes it. */
struct qualify {
    struct arena *a;
    const struct policy *policy;
    const struct host_identity *host;
    const struct host_facts *first, *now;
    const struct qualify_job *job;
};

static const struct fact *fact_now(const struct qualify *q, enum fact_id id)
{
    return &q->now->facts[id];
}

static const struct fact *fact_first(const struct qualify *q, enum fact_id id)
{
    return &q->first->facts[id];
}

static const struct rule *rule_of(const struct qualify *q, const struct condition_result *r)
{
    return &q->policy->rules[r->condition];
}

static void result_set(struct condition_result *r, enum tri status, const char *seen)
{
    r->status = status;
    r->seen = seen;
}

/* Settles r when the fact has no value: proved absent, or unknown. */
static bool result_without_value(struct arena *a, struct condition_result *r, const struct fact *f)
{
    if (f->state == FACT_KNOWN)
        return false;
    bool absent = f->state == FACT_ABSENT;
    const char *why = f->text ? f->text : "no reason was given";
    result_set(r, absent ? TRI_NOT_APPLICABLE : TRI_UNKNOWN,
               arena_printf(a, "%s: %s", absent ? "none" : "unknown", why));
    return true;
}

/* A fact that is 0 or 1: good is the value that passes. */
static void judge_flag(const struct qualify *q, struct condition_result *r, enum fact_id id,
                       int64_t good, const char *when_0, const char *when_1)
{
    const struct fact *f = fact_now(q, id);
    if (!result_without_value(q->a, r, f))
        result_set(r, f->value == good ? TRI_PASS : TRI_FAIL, f->value ? when_1 : when_0);
}

static void judge_mains(const struct qualify *q, struct condition_result *r)
{
    r->needed = "on mains power";
    judge_flag(q, r, FACT_MAINS, 1, "on battery", "on mains power");
}

static void judge_low_power(const struct qualify *q, struct condition_result *r)
{
    r->needed = "off";
    judge_flag(q, r, FACT_LOW_POWER, 0, "off", "on");
}

static void judge_pid_namespace(const struct qualify *q, struct condition_result *r)
{
    r->needed = "the initial one";
    judge_flag(q, r, FACT_PID_NAMESPACE, 1, "not the initial one (a container)", "the initial one");
}

static void judge_bare_metal(const struct qualify *q, struct condition_result *r)
{
    const struct fact *f = fact_now(q, FACT_VIRTUAL);
    r->needed = "no virtual machine";
    judge_flag(q, r, FACT_VIRTUAL, 0, "bare metal",
               arena_printf(q->a, "a virtual machine (%s)", f->text ? f->text : "kind unknown"));
}

static void judge_calibration(const struct qualify *q, struct condition_result *r)
{
    r->needed = "a calibration of this boot";
    judge_flag(q, r, FACT_CALIBRATION, 1, "not calibrated in this boot", "calibrated in this boot");
}

static void judge_control(const struct qualify *q, struct condition_result *r)
{
    r->needed = "a control in every comparison";
    if (!q->job->is_comparison)
        result_set(r, TRI_NOT_APPLICABLE, "nothing is compared between sides");
    else if (q->job->control_everywhere)
        result_set(r, TRI_PASS, "every comparison has a control");
    else
        result_set(r, TRI_FAIL, "a compared workload has no control");
}

static const char *boost_word(int64_t value)
{
    return value ? "on" : "off";
}

static const char *fact_words(const struct fact *f, bool is_flag)
{
    if (f->state != FACT_KNOWN)
        return fact_state_name(f->state);
    if (is_flag)
        return boost_word(f->value);
    return f->text ? f->text : "?";
}

/* A setting that must be as it was at first and, where the rule has a text, as the text says. */
static void judge_setting(const struct qualify *q, struct condition_result *r, enum fact_id id,
                          bool is_flag)
{
    const struct fact *first = fact_first(q, id), *now = fact_now(q, id);
    const char *must = rule_of(q, r)->text;
    const char *word = fact_words(now, is_flag), *was = fact_words(first, is_flag);
    r->needed = must ? arena_printf(q->a, "%s, unchanged between phases", must)
                     : "unchanged between phases";
    if (now->state == FACT_UNKNOWN || first->state == FACT_UNKNOWN)
        (void)result_without_value(q->a, r, now->state == FACT_UNKNOWN ? now : first);
    else if (now->state != first->state || strcmp(word, was) != 0)
        result_set(r, TRI_FAIL, arena_printf(q->a, "changed from %s to %s", was, word));
    else if (!result_without_value(q->a, r, now))
        result_set(r, must && strcmp(word, must) != 0 ? TRI_FAIL : TRI_PASS, word);
}

static void judge_governor(const struct qualify *q, struct condition_result *r)
{
    judge_setting(q, r, FACT_GOVERNOR, false);
}

static void judge_boost(const struct qualify *q, struct condition_result *r)
{
    judge_setting(q, r, FACT_BOOST, true);
}

static void judge_energy(const struct qualify *q, struct condition_result *r)
{
    judge_setting(q, r, FACT_ENERGY, false);
}

/* The growth of a counter since the first facts. False: it has none, and r is settled. */
static bool counter_growth(const struct qualify *q, struct condition_result *r, enum fact_id id,
                           int64_t *growth)
{
    const struct fact *first = fact_first(q, id), *now = fact_now(q, id);
    if (result_without_value(q->a, r, now))
        return false;
    if (first->state != FACT_KNOWN) {
        result_set(r, TRI_UNKNOWN,
                   arena_printf(q->a, "unknown: there is a value now (%lld) and was none at first",
                                (long long)now->value));
        return false;
    }
    if (__builtin_sub_overflow(now->value, first->value, growth) || *growth < 0) {
        result_set(r, TRI_UNKNOWN,
                   arena_printf(q->a, "unknown: the counter went back from %lld to %lld",
                                (long long)first->value, (long long)now->value));
        return false;
    }
    return true;
}

static void judge_throttles(const struct qualify *q, struct condition_result *r)
{
    int64_t growth;
    if (!counter_growth(q, r, FACT_THROTTLES, &growth))
        return;
    if (growth == 0)
        result_set(r, TRI_PASS, "not throttled");
    else
        result_set(
            r, TRI_FAIL,
            arena_printf(q->a, "throttled %lld times since the attempt began", (long long)growth));
}

static void judge_thermal(const struct qualify *q, struct condition_result *r)
{
    struct condition_result state = {.condition = r->condition};
    const struct fact *f = fact_now(q, FACT_THERMAL_STATE);
    judge_flag(q, &state, FACT_THERMAL_STATE, 0, "thermal state nominal",
               arena_printf(q->a, "thermal state not nominal (%s)", f->text ? f->text : "hot"));
    judge_throttles(q, r);
    r->seen = arena_printf(q->a, "%s; %s", r->seen, state.seen);
    r->status = tri_and(r->status, state.status);
    r->needed = "throttle counters unchanged, thermal state nominal";
}

/* One tick is what the counters can resolve: a single stolen tick says no more than "not none", so
 * it fails only where the interval is long enough for one tick to stay below the limit. */
static void judge_steal_interval(const struct qualify *q, struct condition_result *r, int64_t steal,
                                 int64_t all)
{
    double pct = (double)steal * 100 / (double)all;
    bool over = pct > rule_of(q, r)->limit && steal > 1;
    result_set(r, over ? TRI_FAIL : TRI_PASS,
               arena_printf(q->a, "%.2f %% stolen (%lld of %lld ticks)", pct, (long long)steal,
                            (long long)all));
}

static void judge_steal(const struct qualify *q, struct condition_result *r)
{
    const struct fact *machine = fact_now(q, FACT_VIRTUAL);
    int64_t steal, all;
    r->needed = arena_printf(q->a, "at most %g %% of the CPU time", rule_of(q, r)->limit);
    if (machine->state == FACT_KNOWN && machine->value == 0) {
        result_set(r, TRI_NOT_APPLICABLE, "none: bare metal");
        return;
    }
    if (!counter_growth(q, r, FACT_STEAL_TICKS, &steal) ||
        !counter_growth(q, r, FACT_CPU_TICKS, &all))
        return;
    if (all == 0)
        result_set(r, TRI_UNKNOWN, "unknown: no CPU time passed between the two readings");
    else
        judge_steal_interval(q, r, steal, all);
}

static void judge_swap(const struct qualify *q, struct condition_result *r)
{
    int64_t pages;
    r->needed = "nothing swapped in between phases";
    if (!counter_growth(q, r, FACT_SWAP_IN, &pages))
        return;
    result_set(r, pages ? TRI_FAIL : TRI_PASS,
               pages ? arena_printf(q->a, "%lld pages swapped in", (long long)pages)
                     : "nothing swapped in");
}

static void judge_memory(const struct qualify *q, struct condition_result *r)
{
    const struct fact *available = fact_now(q, FACT_MEMORY_AVAILABLE);
    const struct fact *total = fact_now(q, FACT_MEMORY_TOTAL);
    double limit = rule_of(q, r)->limit;
    r->needed = arena_printf(q->a, "at least %g %% available", limit);
    if (result_without_value(q->a, r, available) || result_without_value(q->a, r, total))
        return;
    if (total->value <= 0 || available->value < 0) {
        result_set(r, TRI_UNKNOWN, "unknown: the system reports no memory");
        return;
    }
    double pct = (double)available->value * 100 / (double)total->value;
    result_set(r, pct >= limit ? TRI_PASS : TRI_FAIL, arena_printf(q->a, "%.1f %% available", pct));
}

static void judge_uptime(const struct qualify *q, struct condition_result *r)
{
    const struct fact *f = fact_now(q, FACT_UPTIME);
    double limit = rule_of(q, r)->limit;
    r->needed = arena_printf(q->a, "at least %g s since boot", limit);
    if (result_without_value(q->a, r, f))
        return;
    double seconds = (double)f->value / 1000;
    result_set(r, seconds >= limit ? TRI_PASS : TRI_FAIL,
               arena_printf(q->a, "%.0f s since boot", seconds));
}

static void judge_suspend(const struct qualify *q, struct condition_result *r)
{
    const struct fact *first = fact_first(q, FACT_SUSPEND), *now = fact_now(q, FACT_SUSPEND);
    r->needed = "none since the attempt began";
    if (result_without_value(q->a, r, now) || result_without_value(q->a, r, first))
        return;
    int64_t ms = now->value - first->value;
    if (ms < -SUSPEND_TOLERANCE_MS)
        result_set(r, TRI_UNKNOWN, "unknown: the time spent suspended went back");
    else if (ms <= SUSPEND_TOLERANCE_MS)
        result_set(r, TRI_PASS, "none");
    else
        result_set(
            r, TRI_FAIL,
            arena_printf(q->a, "suspended for %lld ms since the attempt began", (long long)ms));
}

/* One named property of the host; "" or NULL seen is unknown. */
static enum tri contract_text(struct buf *seen, const char *what, const char *must, const char *is)
{
    if (!must)
        return TRI_NOT_APPLICABLE;
    bool known = is && is[0];
    buf_printf(seen, "%s%s %s", seen->len ? ", " : "", what, known ? is : "unknown");
    if (!known)
        return TRI_UNKNOWN;
    return strcmp(must, is) == 0 ? TRI_PASS : TRI_FAIL;
}

static enum tri contract_cores(struct buf *seen, int must, int is)
{
    if (must <= 0)
        return TRI_NOT_APPLICABLE;
    if (is <= 0) {
        buf_printf(seen, "%scores unknown", seen->len ? ", " : "");
        return TRI_UNKNOWN;
    }
    buf_printf(seen, "%s%d cores", seen->len ? ", " : "", is);
    return must == is ? TRI_PASS : TRI_FAIL;
}

static const char *contract_needed(struct arena *a, const struct host_contract *c)
{
    struct buf b = {0};
    if (c->model)
        buf_printf(&b, "model %s", c->model);
    if (c->os)
        buf_printf(&b, "%sOS %s", b.len ? ", " : "", c->os);
    if (c->cores > 0)
        buf_printf(&b, "%s%d cores", b.len ? ", " : "", c->cores);
    const char *text = b.len ? arena_strdup(a, buf_str(&b)) : "the host that the policy names";
    buf_deinit(&b);
    return text;
}

static void judge_host_contract(const struct qualify *q, struct condition_result *r)
{
    const struct host_contract *c = &q->policy->contract;
    struct buf seen = {0};
    enum tri status = contract_text(&seen, "model", c->model, q->host->model);
    status = tri_and(status, contract_text(&seen, "OS", c->os, q->host->os));
    status = tri_and(status, contract_cores(&seen, c->cores, q->host->cores));
    r->needed = contract_needed(q->a, c);
    if (seen.len)
        result_set(r, status, arena_strdup(q->a, buf_str(&seen)));
    else
        result_set(r, TRI_NOT_APPLICABLE, "the policy names no host");
    buf_deinit(&seen);
}

typedef void (*judge_fn)(const struct qualify *q, struct condition_result *r);

static const judge_fn judges[COND_COUNT] = {
    [COND_MAINS] = judge_mains,
    [COND_LOW_POWER] = judge_low_power,
    [COND_GOVERNOR] = judge_governor,
    [COND_BOOST] = judge_boost,
    [COND_ENERGY] = judge_energy,
    [COND_THERMAL] = judge_thermal,
    [COND_STEAL] = judge_steal,
    [COND_SWAP] = judge_swap,
    [COND_MEMORY] = judge_memory,
    [COND_UPTIME] = judge_uptime,
    [COND_SUSPEND] = judge_suspend,
    [COND_PID_NAMESPACE] = judge_pid_namespace,
    [COND_HOST_CONTRACT] = judge_host_contract,
    [COND_BARE_METAL] = judge_bare_metal,
    [COND_CALIBRATION] = judge_calibration,
    [COND_CONTROL] = judge_control,
};

void qualify_conditions(struct arena *a, const struct policy *policy,
                        const struct host_identity *host, const struct host_facts *first,
                        const struct host_facts *now, const struct qualify_job *job,
                        struct condition_result out[COND_COUNT])
{
    struct qualify q = {
        .a = a, .policy = policy, .host = host, .first = first, .now = now, .job = job};
    for (int c = 0; c < COND_COUNT; c++) {
        out[c] = (struct condition_result){
            .condition = (enum condition)c,
            .status = TRI_UNKNOWN,
            .mode = policy->rules[c].mode,
        };
        judges[c](&q, &out[c]);
        if (out[c].mode != RULE_REQUIRE)
            out[c].needed = NULL;
    }
}

enum tri qualify_conditions_met(const struct condition_result *results)
{
    enum tri met = TRI_PASS;
    for (int c = 0; c < COND_COUNT; c++)
        if (results[c].mode == RULE_REQUIRE)
            met = tri_and(met, results[c].status);
    return met;
}
