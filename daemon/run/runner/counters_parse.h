/* What the kernel's files of counters say, as nanoseconds. Each function returns false, or -1, for
 * text that is not what it should be or that was cut off: such a counter is then unknown. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/wire/runner_wire.h"

/* CPU time of the CPUs in a mask (data NULL: all of them), and of the others. */
struct cpu_times {
    int64_t near_ns, far_ns;
};

/* cgroup v1's cpuacct.usage_percpu: one number for each CPU, in ns. */
bool parse_percpu(const char *text, const struct wire_bytes *near, struct cpu_times *out);
/* /proc/schedstat: what ran on each CPU, in ns. */
bool parse_schedstat(const char *text, const struct wire_bytes *near, struct cpu_times *out);
/* /proc/stat read at at_ns: the time since some beginning that each CPU was neither idle nor
 * stolen. Idle time is exact in the kernel and cut off to ticks here; busy time is a sample at each
 * tick. */
bool parse_stat(const char *text, const struct wire_bytes *near, int64_t at_ns, int64_t tick_ns,
                struct cpu_times *out);
/* /proc/stat: stolen from all CPUs. */
int64_t parse_stat_steal(const char *text, int64_t tick_ns);
/* /proc/pressure/cpu: time in which some task waited, in us. */
int64_t parse_pressure(const char *text);
/* /proc/vmstat: pages swapped in and out. */
int64_t parse_swapped(const char *text);
/* cpu.stat of a cgroup, version 2: in ns. */
int64_t parse_group(const char *text);
/* schedstat of a thread: it ran, it waited for a CPU, so many times. */
bool parse_thread(const char *text, int64_t *ran_ns, int64_t *delay_ns, int64_t *slices);
/* A file with one number. */
int64_t parse_number(const char *text);
