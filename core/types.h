/* The words of the measurement contract as enums, each with its one spelling.
 *
 * The spelling is what stands in documents, in the store and on the wire; it is never renamed. The
 * numeric values are not stored anywhere. X_name() returns the spelling, X_parse() the value or -1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A fact or predicate. NOT_APPLICABLE means proved absent and counts as PASS; UNKNOWN never does.
 */
enum tri { TRI_PASS, TRI_FAIL, TRI_UNKNOWN, TRI_NOT_APPLICABLE };
const char *tri_name(enum tri t); /* "PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE" */
int tri_parse(const char *s);
/* The conjunction: FAIL over UNKNOWN over PASS; NOT_APPLICABLE is neutral. */
enum tri tri_and(enum tri a, enum tri b);

enum measure {
    MEASURE_PROTOCOL,
    MEASURE_PROCESS,
    MEASURE_OPERATION,
    MEASURE_COUNTERS,
    MEASURE_SIZE,
    MEASURE_INSTRUCTIONS,
    MEASURE_MEMORY,
    MEASURE_CPU,
    MEASURE_BUILD,
    MEASURE_ATTRIBUTION,
    MEASURE_KERNEL
};
const char *
measure_name(enum measure m); /* "protocol", "process", "operation", "counters", "size", ... */
int measure_parse(const char *s);
/* Whether its lanes say READY and DONE; those without values are timed from GO to DONE. */
bool measure_has_records(enum measure m);
/* The measure whose floor and noise hold for it: what is timed in the same way. */
enum measure measure_floor(enum measure m);
/* Its figures are named values, and not one time by the runner's clock. */
bool measure_has_values(enum measure m);
/* Its figures are times, be they the runner's or the program's own: a host can disturb them. */
bool measure_has_times(enum measure m);
bool measure_runs(enum measure m); /* a program is run for it */
const char *measure_unit(
    enum measure m); /* of its figures: "ns", "count", "bytes", "instructions", "ppm", "samples" */

enum phase { PHASE_BEFORE_BUILD, PHASE_BEFORE_TIMING, PHASE_AFTER_TIMING, PHASE_COUNT };
const char *phase_name(enum phase p);  /* "before_build", "before_timing", "after_timing" */
const char *phase_title(enum phase p); /* "before build", ... for people */
int phase_parse(const char *s);

enum obs_kind { OBS_WARMUP, OBS_TIMED };
const char *obs_kind_name(enum obs_kind k); /* "warmup", "timed" */
int obs_kind_parse(const char *s);

enum order { ORDER_INTERLEAVED, ORDER_SEQUENTIAL };
const char *order_name(enum order o); /* "interleaved", "sequential" */
int order_parse(const char *s);

enum verdict { VERDICT_FASTER, VERDICT_SLOWER, VERDICT_SAME, VERDICT_UNRESOLVED };
const char *verdict_name(enum verdict v); /* "FASTER", ... */
int verdict_parse(const char *s);

enum grade { GRADE_CONTRACTUAL, GRADE_DIAGNOSTIC, GRADE_VOID };
const char *grade_name(enum grade g); /* "contractual", "diagnostic", "void" */
int grade_parse(const char *s);

/* What a sample of a series is a number of. */
enum sample_unit { SAMPLE_NS, SAMPLE_COUNT, SAMPLE_BYTES };
const char *sample_unit_name(enum sample_unit u); /* "ns", "count", "bytes" */
int sample_unit_parse(const char *s);

/* An argument list; v is NULL-terminated as well as counted. */
struct args {
    const char **v;
    size_t n;
};

bool args_equal(const struct args *a, const struct args *b);

bool text_equal(const char *a, const char *b);  /* NULL is the same as NULL */
bool text_agrees(const char *a, const char *b); /* NULL, not known, agrees with nothing */

/* One environment variable. */
struct env_var {
    const char *name;
    const char *value;
};
