#include "core/types.h"

#include "core/host.h"
#include "core/names.h"
#include "core/notify.h"
#include "core/policy.h"
#include "core/raw.h"

static const char *const tri_names[] = {
    [TRI_PASS] = "PASS",
    [TRI_FAIL] = "FAIL",
    [TRI_UNKNOWN] = "UNKNOWN",
    [TRI_NOT_APPLICABLE] = "NOT_APPLICABLE",
};
NAMES(tri, tri);

static const char *const measure_names[] = {
    [MEASURE_PROTOCOL] = "protocol",   [MEASURE_PROCESS] = "process",
    [MEASURE_OPERATION] = "operation", [MEASURE_COUNTERS] = "counters",
    [MEASURE_SIZE] = "size",           [MEASURE_INSTRUCTIONS] = "instructions",
    [MEASURE_MEMORY] = "memory",       [MEASURE_CPU] = "cpu",
    [MEASURE_BUILD] = "build",         [MEASURE_ATTRIBUTION] = "attribution",
    [MEASURE_KERNEL] = "kernel",
};
NAMES(measure, measure);

static const char *const sample_unit_names[] = {
    [SAMPLE_NS] = "ns",
    [SAMPLE_COUNT] = "count",
    [SAMPLE_BYTES] = "bytes",
};
NAMES(sample_unit, sample_unit);

bool measure_has_records(enum measure m)
{
    return m == MEASURE_PROTOCOL || m == MEASURE_OPERATION || m == MEASURE_MEMORY ||
           m == MEASURE_CPU;
}

enum measure measure_floor(enum measure m)
{
    return m == MEASURE_OPERATION ? MEASURE_PROTOCOL : m == MEASURE_BUILD ? MEASURE_PROCESS : m;
}

/* NULL: a time. */
static const char *const value_units[] = {
    [MEASURE_COUNTERS] = "count", [MEASURE_SIZE] = "bytes", [MEASURE_INSTRUCTIONS] = "instructions",
    [MEASURE_MEMORY] = "bytes",   [MEASURE_CPU] = "ppm",    [MEASURE_ATTRIBUTION] = "samples",
    [MEASURE_KERNEL] = "ns",
};

bool measure_has_values(enum measure m)
{
    return (size_t)m < NAMES_LEN(value_units) && value_units[m];
}

bool measure_has_times(enum measure m)
{
    return !measure_has_values(m) || m == MEASURE_KERNEL;
}

bool measure_runs(enum measure m)
{
    return m != MEASURE_SIZE;
}

const char *measure_unit(enum measure m)
{
    return measure_has_values(m) ? value_units[m] : "ns";
}

static const char *const notify_event_names[] = {
    [NOTIFY_JOB_ENDED] = "job_ended",
    [NOTIFY_QUEUE_EMPTY] = "queue_empty",
};
NAMES(notify_event, notify_event);

static const char *const phase_names[] = {
    [PHASE_BEFORE_BUILD] = "before_build",
    [PHASE_BEFORE_TIMING] = "before_timing",
    [PHASE_AFTER_TIMING] = "after_timing",
};
NAMES(phase, phase);

static const char *const obs_kind_names[] = {
    [OBS_WARMUP] = "warmup",
    [OBS_TIMED] = "timed",
};
NAMES(obs_kind, obs_kind);

static const char *const order_names[] = {
    [ORDER_INTERLEAVED] = "interleaved",
    [ORDER_SEQUENTIAL] = "sequential",
};
NAMES(order, order);

static const char *const job_need_names[] = {
    [NEED_OK] = "ok",
    [NEED_ANY] = "any",
};
NAMES(job_need, job_need);

static const char *const verdict_names[] = {
    [VERDICT_FASTER] = "FASTER",
    [VERDICT_SLOWER] = "SLOWER",
    [VERDICT_SAME] = "SAME",
    [VERDICT_UNRESOLVED] = "UNRESOLVED",
};
NAMES(verdict, verdict);

static const char *const disturbance_names[] = {
    [DISTURBED_NEAR] = "near_foreign",   [DISTURBED_FAR] = "far_foreign",
    [DISTURBED_DELAY] = "run_delay",     [DISTURBED_STEAL] = "steal",
    [DISTURBED_THROTTLE] = "throttling", [DISTURBED_SWAP] = "swap",
    [DISTURBED_OBSERVER] = "observer",
};
NAMES(disturbance, disturbance);

static const char *const grade_names[] = {
    [GRADE_CONTRACTUAL] = "contractual",
    [GRADE_DIAGNOSTIC] = "diagnostic",
    [GRADE_VOID] = "void",
};
NAMES(grade, grade);

static const char *const condition_names[] = {
    [COND_MAINS] = "mains",
    [COND_LOW_POWER] = "low_power",
    [COND_GOVERNOR] = "governor",
    [COND_BOOST] = "boost",
    [COND_ENERGY] = "energy",
    [COND_THERMAL] = "thermal",
    [COND_STEAL] = "steal",
    [COND_SWAP] = "swap",
    [COND_MEMORY] = "memory",
    [COND_UPTIME] = "uptime",
    [COND_SUSPEND] = "suspend",
    [COND_PID_NAMESPACE] = "pid_namespace",
    [COND_HOST_CONTRACT] = "host_contract",
    [COND_BARE_METAL] = "bare_metal",
    [COND_CALIBRATION] = "calibration",
    [COND_CONTROL] = "control",
};
NAMES(condition, condition);

static const char *const rule_mode_names[] = {
    [RULE_REQUIRE] = "require",
    [RULE_WAIVE] = "waive",
    [RULE_RECORD] = "record",
};
NAMES(rule_mode, rule_mode);

static const char *const fact_state_names[] = {
    [FACT_UNKNOWN] = "unknown",
    [FACT_KNOWN] = "known",
    [FACT_ABSENT] = "absent",
};
NAMES(fact_state, fact_state);

static const char *const fact_names[] = {
    [FACT_MAINS] = "mains",
    [FACT_LOW_POWER] = "low_power",
    [FACT_GOVERNOR] = "governor",
    [FACT_BOOST] = "boost",
    [FACT_ENERGY] = "energy",
    [FACT_THROTTLES] = "throttles",
    [FACT_THERMAL_STATE] = "thermal_state",
    [FACT_STEAL_TICKS] = "steal_ticks",
    [FACT_CPU_TICKS] = "cpu_ticks",
    [FACT_SWAP_IN] = "swap_in",
    [FACT_MEMORY_AVAILABLE] = "memory_available",
    [FACT_MEMORY_TOTAL] = "memory_total",
    [FACT_UPTIME] = "uptime",
    [FACT_SUSPEND] = "suspend",
    [FACT_PID_NAMESPACE] = "pid_namespace",
    [FACT_VIRTUAL] = "virtual",
    [FACT_CALIBRATION] = "calibration",
};
NAMES(fact, fact_id);

static const char *const recheck_kind_names[] = {
    [RECHECK_SOURCE] = "source",
    [RECHECK_SUITE] = "suite",
    [RECHECK_ARTIFACT] = "artifact",
    [RECHECK_TOOL] = "tool",
};
NAMES(recheck_kind, recheck_kind);

enum tri tri_and(enum tri a, enum tri b)
{
    if (a == TRI_FAIL || b == TRI_FAIL)
        return TRI_FAIL;
    if (a == TRI_UNKNOWN || b == TRI_UNKNOWN)
        return TRI_UNKNOWN;
    return a == TRI_NOT_APPLICABLE ? b : a;
}

bool args_equal(const struct args *a, const struct args *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!text_equal(a->v[i], b->v[i]))
            return false;
    return true;
}

bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool text_agrees(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

const char *phase_title(enum phase p)
{
    static const char *const titles[] = {
        [PHASE_BEFORE_BUILD] = "before build",
        [PHASE_BEFORE_TIMING] = "before timing",
        [PHASE_AFTER_TIMING] = "after timing",
    };
    return names_get(titles, NAMES_LEN(titles), (size_t)p);
}

const char *condition_title(enum condition c)
{
    static const char *const titles[] = {
        [COND_MAINS] = "mains power",
        [COND_LOW_POWER] = "low-power mode",
        [COND_GOVERNOR] = "CPU governor",
        [COND_BOOST] = "CPU boost",
        [COND_ENERGY] = "energy preference",
        [COND_THERMAL] = "thermal state",
        [COND_STEAL] = "stolen CPU time",
        [COND_SWAP] = "swapping",
        [COND_MEMORY] = "memory available",
        [COND_UPTIME] = "time since boot",
        [COND_SUSPEND] = "suspend",
        [COND_PID_NAMESPACE] = "PID namespace",
        [COND_HOST_CONTRACT] = "host contract",
        [COND_BARE_METAL] = "bare metal",
        [COND_CALIBRATION] = "calibration",
        [COND_CONTROL] = "control lanes",
    };
    return names_get(titles, NAMES_LEN(titles), (size_t)c);
}
