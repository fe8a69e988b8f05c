/* The daemon's side of running programs: one runner process, one request at a time.
 *
 * The runner (daemon/run/runner/) is the parent of every build step and every lane. A request is
 * begun, waited for and finished in three calls, so that a libuv loop can poll run_fd() for builds
 * and the daemon can block in run_wait() while a lane is timed. When the runner is lost, every call
 * returns -EPIPE with the code "runner.lost" (it ended), "runner.garbled" (its answer cannot be
 * one) or "runner.hung" (it did not answer within the request's timeouts and what ending takes);
 * the struct can then only be freed. Invariant: after a finished request every process that it
 * started is gone, or `unremoved` names what is not, and then the runner refuses further requests
 * until it is ("runner.unclean"). Ownership: requests are borrowed until the begin call returns;
 * results own their bytes, or live in the given arena. Call run_new() on a thread that outlives the
 * run: the kernel ends the runner when the thread that started it ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/raw.h"
#include "core/suite.h"
#include "core/types.h"

#define RUN_TAIL_BYTES 4096 /* of the last output that is kept */

struct run;

/* Starts the runner at runner_path and takes its hello. 0, or -errno with e filled ("runner.start",
 * or "runner.version" when the program there speaks another version of the wire). */
int run_new(const char *runner_path, struct run **out, struct err *e);

/* Closes the control pipe, which makes the runner end everything it started and exit; waits at most
 * 20 s for that, then kills it. NULL is fine. */
void run_free(struct run *run);

pid_t run_pid(const struct run *run);

/* Where its counters come from; lives as long as run. */
const struct ledger_sources *run_sources(const struct run *run);

/* Are the resident bytes of a lane exact here? */
bool run_reads_rollups(const struct run *run);

/* Can the CPU count the instructions of a lane here? */
bool run_counts_instructions(const struct run *run);

/* Gives the runner, and so everything that it will start, the mark by which it can be found when it
 * and the daemon are gone (mark.h). Call it before the first request. 0 or -errno. */
int run_mark(struct run *run, uint64_t mark);

/* ---- a build step or another program that is not timed as a lane */

struct run_exec {
    const char *const
        *argv; /* NULL-terminated; a name without a slash is looked up in PATH of env */
    const char *const *env;  /* NULL-terminated, exactly what the child gets (see run_env.h) */
    const char *cwd;         /* absolute */
    const char *stdin_path;  /* a file for stdin; NULL: there is nothing to read */
    const char *log_path;    /* created or truncated; stdout and stderr in the order written */
    int64_t log_limit_bytes; /* then a line marks the cut and the rest is read and dropped */
    int64_t timeout_ms;
};

struct run_exec_result {
    /* "ok" (ran and exited 0), "exec.failed", "exec.exit_status", "exec.signal", "exec.timeout",
     * "exec.cancelled", "runner.unclean" */
    char outcome[32];
    int exit_status; /* -1: killed by exit_signal, or never ran */
    int exit_signal; /* 0: none */
    int64_t start_ns,
        wall_ns;          /* timing clock; from just before the spawn to the exit; -1: never ran */
    int64_t output_bytes; /* all that it printed */
    int64_t log_bytes;    /* what the log holds */
    bool truncated;
    int log_errno;            /* first error that writing the log met; 0: none */
    int exec_errno;           /* why it could not be started; 0: it was */
    char exec_step[16];       /* "log", "lookup", "spawn", "setsid", "affinity", "stdio", "chdir",
                                 "execve" */
    int leftovers;            /* processes it left behind that had to be ended */
    char leftover_names[256]; /* "4711 (sleep), 4712 (cat)" */
    char unremoved[256];      /* "": all gone, proved; else what could not be ended */
    char tail[RUN_TAIL_BYTES + 1]; /* the last output; bytes that are no UTF-8, and NUL, are '?' */
};

/* Sends the request. 0, -EINVAL / -E2BIG with e filled ("run.env_forbidden", "run.too_large"),
 * -EBUSY while another request is running, -EPIPE. */
int run_exec_begin(struct run *run, const struct run_exec *req, struct err *e);

/* Takes the reply; call it when run_wait() returned 0. 0 whatever the program did: see outcome. */
int run_exec_finish(struct run *run, struct run_exec_result *out, struct err *e);

/* ---- one observation of one lane */

struct run_observe {
    enum measure measure;
    const char *const *argv, *const *env;
    const char *cwd;
    const char *ready, *go, *done; /* protocol: lines without newline, at most 512 bytes with it */
    const char *baseline, *load;   /* memory: a record before READY and the answer; NULL: none */
    const char *ack;               /* written after DONE was stamped; NULL: none */
    const struct sample_series *samples; /* protocol: printed after ack was read */
    size_t n_samples;
    int64_t window_ms;         /* cpu: how long it is watched between READY and GO */
    const char *stdout_text;   /* process: exact expected stdout; NULL: not checked */
    struct args counters;      /* counters: the names that it prints */
    const char *callgrind_dir; /* instructions: where callgrind, which argv starts, leaves its
                                  files; NULL: the CPU counts */
    const struct attribution
        *profile;               /* attribution: what is made of the profiles that it leaves */
    const char *profile_dir;    /* attribution: where it leaves them */
    bool stderr_allowed;        /* false: any byte on stderr makes the observation invalid */
    int64_t stdout_limit_bytes; /* process, when stdout is not checked; 0: 1 MiB */
    int64_t stderr_limit_bytes; /* 0: 64 KiB */
    int64_t ready_timeout_ms;   /* protocol */
    int64_t done_timeout_ms;    /* GO to DONE, and again DONE to exit; process: spawn to exit */
    const int *cpus;            /* the policy's CPU set; n_cpus 0: as the runner's own */
    size_t n_cpus;
    int pin_cpu;          /* >= 0: lane and waiting runner share this core; -1: not pinned */
    const int *near_cpus; /* the lane's CPUs and their siblings; n_near 0: all there are */
    size_t n_near;
};

/* Times in raw are absolute readings of the timing clock (base/clock.h), -1 where there is none.
 * Its members seq, workload, lane, side, repetition, position and kind are left zero for the
 * caller.
 *
 * raw.outcome is "ok" or one of the causes lane.exec_failed, lane.ready_wrong, lane.ready_timeout,
 * lane.ready_unflushed, lane.eof_before_ready, lane.go_failed, lane.done_early, lane.done_wrong,
 * lane.done_timeout, lane.done_unflushed, lane.eof_before_done, lane.line_too_long,
 * lane.output_extra, lane.stdout_wrong, lane.stdout_limit, lane.stderr_written, lane.stderr_limit,
 * lane.exit_timeout, lane.exit_status, lane.signal, lane.leftover, lane.cancelled, run.refused and
 * runner.unclean; with run_values.h also lane.counter_*, lane.sample_* and lane.profile_*. A lane
 * that ends before a record it owed is named by its signal or nonzero status if it has one. A
 * process that the lane leaves behind and that ends by itself within 100 ms is no leftover.
 *
 * raw.interval_cpu_ns is of the lane's own process, all threads; nothing of its child processes is
 * in it. raw.runner_cpu_ns of a process lane counts from when the lane was started. */
struct run_observation {
    struct raw_observation raw;
    int exec_errno;             /* lane.exec_failed */
    const char *exec_step;      /* see run_exec_result; NULL: it was started */
    const char *got;            /* what stood in place of the record or after it; NULL: nothing.
                                   At most 512 bytes; here and in raw.ready and raw.done controls and
                                   what is no UTF-8 are shown as \xNN */
    const char *leftover_names; /* NULL: none */
    const char *unremoved;      /* NULL: all gone, proved */
    const char *stdout_tail;    /* last output, kept when the observation is not ok; never NULL; */
    const char *stderr_tail;    /*  bytes that are no UTF-8, and NUL, are '?' */
    const char *output;         /* counters: all of stdout; samples: what came after the ack; as it
                                   is; never NULL */
    size_t output_bytes;
    int64_t instructions;                      /* where the CPU counts; -1: not known */
    int64_t baseline_rss, ready_rss, peak_rss; /* memory: bytes of the tree; -1: not known */
    int64_t window_from_ns, window_to_ns;      /* cpu: -1 where there was none */
    int64_t window_cpu_ns;                     /* of the tree in it; -1: not known */
    struct buf tally; /* attribution: what was counted, filled by run_values.h; the taker's */
};

int run_observe_begin(struct run *run, const struct run_observe *req, struct err *e);
int run_observe_finish(struct run *run, struct arena *a, struct run_observation *out,
                       struct err *e);

/* ---- waiting */

/* Readable when (part of) the reply is there. Fixed for the life of the run. */
int run_fd(const struct run *run);

/* 0: the reply is complete, call the finish function. -EAGAIN: not within timeout_ms (0: only look;
 * negative: wait for ever). -EPIPE: the runner is lost. Blocks in one poll: this is the daemon's
 * side of the silent interval. */
int run_wait(struct run *run, int64_t timeout_ms);

/* What the runner has beyond the timeouts of the requests that are begun from now on. */
void run_set_spare(struct run *run, int64_t ms);

/* Asks the runner to end the running request, which then finishes as cancelled (or as it did, if it
 * was faster). 0, -EPIPE; 0 when nothing runs. */
int run_cancel(struct run *run);
