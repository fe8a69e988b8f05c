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

#define WIRE_VERSION 1
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
    WIRE_OBSERVE_RESULT
};

struct wire_list {
    const char *v[WIRE_LIST_MAX + 1]; /* NULL-terminated */
    size_t n;
};

struct wire_bytes {
    const void *data; /* NULL: not in the message */
    size_t len;
};

struct wire_hello {
    int64_t version, pid;
};

/* The program that a request starts. */
struct wire_program {
    struct wire_list argv, env;
    const char *cwd;
};

struct wire_exec {
    struct wire_program program;
    const char *log_path;
    int64_t log_limit_bytes, timeout_ms;
};

enum wire_measure { WIRE_PROTOCOL = 1, WIRE_PROCESS };

struct wire_observe {
    struct wire_program program;
    int64_t measure;               /* enum wire_measure */
    const char *ready, *go, *done; /* NULL for process */
    struct wire_bytes expected;    /* process: stdout; data NULL: not checked */
    int64_t stderr_allowed;
    int64_t stdout_limit_bytes, stderr_limit_bytes;
    int64_t ready_timeout_ms, done_timeout_ms;
    struct wire_bytes cpus; /* a mask; data NULL: unchanged */
    int64_t pin_cpu;        /* -1: not pinned */
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
    int64_t interval_cpu_ns, runner_cpu_ns, runner_delay_ns;
    int64_t user_us, system_us, max_rss_bytes;
    int64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    int64_t stdout_bytes, stderr_bytes;
    int64_t cpu, fifo, threads;
    struct wire_bytes ready, done; /* as received, without newline */
    struct wire_bytes got;         /* what stood in place of the record, or after it */
    struct wire_bytes stdout_tail, stderr_tail;
};

struct wire_msg {
    enum wire_type type;
    int64_t id; /* of the request; results and cancels name the one they belong to */
    union {
        struct wire_hello hello;
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
