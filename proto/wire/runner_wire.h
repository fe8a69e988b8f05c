/* The messages between the daemon and its runner, as bytes: pure encoding and decoding.
 *
 * A frame is a u32 length of what follows it, a u16 type, and fields of u16 tag, u32 length and
 * that many bytes; all integers little-endian. A field's tag is its place in the message's table,
 * so both programs must be built from the same version; the hello says which. A list is the same
 * tag many times. Strings travel with their closing NUL: a decoded message borrows every pointer
 * from the frame and nothing is copied or allocated, because the runner must stay small. Whatever
 * does not fit the table exactly (unknown, missing or repeated field, wrong length, stray NUL) is
 * -EBADMSG.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 6
#define WIRE_FRAME_MAX (1 << 20) /* with its length field */
#define WIRE_HEADER 4
#define WIRE_LIST_MAX 1024
#define WIRE_CPU_BYTES 128 /* a mask of 1024 CPUs, bit n % 8 of byte n / 8 */
#define WIRE_LINE_MAX 512  /* a record with its newline */

enum wire_type {
    WIRE_HELLO = 1,
    WIRE_EXEC,
    WIRE_OBSERVE,
    WIRE_CANCEL,
    WIRE_EXEC_RESULT,
    WIRE_OBSERVE_RESULT,
    WIRE_SOURCES
};

struct wire_list {
    const char *v[WIRE_LIST_MAX + 1]; /* NULL-terminated */
    size_t n;
};

struct wire_bytes {
    const void *data; /* NULL: not in the message */
    size_t len;
};

/* The same in all versions, so that another one can be told. */
struct wire_hello {
    int64_t version, pid;
};

/* Follows the hello: where the runner's counters come from, as core/ledger/ledger.h names it; NULL:
 * nowhere. */
struct wire_sources {
    const char *busy, *lane, *delay, *steal, *pressure, *throttle, *swap, *memory;
    int64_t busy_resolution_ns, steal_resolution_ns;
    int64_t counts_instructions; /* the CPU can: 1 */
    int64_t reads_rollups;       /* resident bytes are exact: 1 */
};

/* The program that a request starts. */
struct wire_program {
    struct wire_list argv, env;
    const char *cwd;
};

struct wire_exec {
    struct wire_program program;
    const char *stdin_path; /* NULL: it has nothing to read */
    const char *log_path;
    int64_t log_limit_bytes, timeout_ms;
};

/* WIRE_OUTPUT: a process whose stdout is handed over. WIRE_INSTRUCTIONS: one whose
 * instructions the CPU counts. */
enum wire_measure { WIRE_PROTOCOL = 1, WIRE_PROCESS, WIRE_OUTPUT, WIRE_INSTRUCTIONS };
#define WIRE_OUTPUT_MAX 32768
#define WIRE_SAMPLES_MAX (1 << 18) /* bytes of what a protocol lane may print after its ack */

struct wire_observe {
    struct wire_program program;
    int64_t measure;               /* enum wire_measure */
    const char *ready, *go, *done; /* NULL for process */
    const char *baseline, *load;   /* protocol: before READY, and the answer to it; NULL: none */
    const char *ack;               /* protocol: written after DONE was stamped; NULL: nothing */
    int64_t samples_max_bytes;     /* protocol: of what may be printed after that; 0: nothing may */
    int64_t memory;                /* protocol: 1: resident bytes are read */
    int64_t window_ms;             /* protocol: watched so long before GO; 0: not at all */
    struct wire_bytes expected;    /* process: stdout; data NULL: not checked */
    int64_t stderr_allowed;
    int64_t stdout_limit_bytes, stderr_limit_bytes;
    int64_t ready_timeout_ms, done_timeout_ms;
    struct wire_bytes cpus; /* a mask; data NULL: unchanged */
    int64_t pin_cpu;        /* -1: not pinned */
    struct wire_bytes near; /* a mask of the lane's CPUs and their siblings; data NULL: all */
};

/* How the program could not be started, what it left, how it ended. */
struct wire_end {
    const char *outcome;
    int64_t exit_status, exit_signal;
    int64_t exec_errno;
    const char *exec_step; /* NULL: it was started */
    int64_t leftovers;
    const char *leftover_names; /* NULL: none */
    const char *unremoved;      /* NULL: all gone */
    int64_t start_ns, exit_ns;
};

struct wire_exec_result {
    struct wire_end end;
    int64_t output_bytes, log_bytes, truncated, log_errno;
    struct wire_bytes tail;
};

struct wire_observe_result {
    struct wire_end end;
    int64_t go_ns, done_ns;
    int64_t interval_cpu_ns, runner_cpu_ns, runner_delay_ns, runner_switches;
    int64_t daemon_cpu_ns, daemon_switches;
    /* The ledger, as in core/ledger/ledger.h. */
    int64_t span_ns, lane_cpu_ns, observer_cpu_ns, near_foreign_ns, far_foreign_ns, steal_ns;
    int64_t lane_delay_ns, lane_preemptions, pressure_us, throttles, swapped_pages;
    int64_t user_us, system_us, max_rss_bytes;
    int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    int64_t stdout_bytes, stderr_bytes;
    int64_t cpu, fifo, threads;
    int64_t instructions;                      /* WIRE_INSTRUCTIONS; -1: not known */
    int64_t baseline_rss, ready_rss, peak_rss; /* bytes of the lane's tree; -1: not known */
    int64_t window_from_ns, window_to_ns;      /* -1: there was none */
    int64_t window_cpu_ns;                     /* of the tree in it; -1: not known */
    struct wire_bytes ready, done;             /* as received, without newline */
    struct wire_bytes got;                     /* what stood in place of the record, or after it */
    struct wire_bytes stdout_tail, stderr_tail;
    struct wire_bytes output; /* WIRE_OUTPUT: all of stdout; protocol: what came after the ack */
};

struct wire_msg {
    enum wire_type type;
    int64_t id; /* of the request; results and cancels name the one they belong to */
    union {
        struct wire_hello hello;
        struct wire_sources sources;
        struct wire_exec exec;
        struct wire_observe observe;
        struct wire_exec_result exec_result;
        struct wire_observe_result observe_result;
    };
};

/* Writes the frame of msg into out (cap bytes). Its length, -E2BIG when it does not fit into cap or
 * WIRE_FRAME_MAX or a list is too long, -EINVAL for an unknown type or a required field that is
 * NULL. */
int wire_encode(const struct wire_msg *msg, uint8_t *out, size_t cap);

/* What follows the header, in bytes; -EBADMSG when no frame can be that long or that short. */
int wire_frame_rest(const uint8_t header[WIRE_HEADER]);

/* Reads one whole frame (header included). 0 or -EBADMSG. */
int wire_decode(const uint8_t *frame, size_t len, struct wire_msg *msg);
