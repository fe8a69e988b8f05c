/* Pure parsers of the text that a Linux kernel puts under /proc. They read bytes that other users'
 * processes shape (names, arguments): nothing is trusted, nothing overflows, and what does not
 * parse is said to be unknown. The text need not end in a NUL; results own no memory but the
 * arena's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

#define PROC_COMMAND_MAX 64
#define PROC_CPUS_MAX 8192

struct proc_stat {
    int pid, ppid;
    char command[PROC_COMMAND_MAX + 1]; /* cleaned as by proc_clean */
    int64_t cpu_ticks;                  /* user + system */
    int64_t start_ticks;
    bool kernel_thread;
    bool zombie; /* ended, and not yet seen by its parent */
};

/* /proc/PID/stat. 0, or -EINVAL. */
int proc_parse_stat(const char *data, size_t len, struct proc_stat *out);

struct proc_totals {
    int64_t busy_ticks;  /* all CPUs, everything but idle and iowait; guest time is inside user */
    int64_t all_ticks;   /* all states */
    int64_t steal_ticks; /* -1: this kernel does not say */
    int64_t *cpu_busy_ticks; /* by CPU number; -1: not listed (offline) */
    size_t n_cpus;           /* highest number + 1 */
    int online;
    int64_t forks;  /* -1 unknown */
    int64_t boot_s; /* Unix time of the boot; -1 unknown */
};

/* /proc/stat. 0, or -EINVAL when it has no line of totals; single lines that do not parse leave
 * their field unknown. */
int proc_parse_totals(struct arena *a, const char *data, size_t len, struct proc_totals *out);

/* /proc/PID/status: the real user id and the effective capabilities; -1 unknown. */
int64_t proc_parse_uid(const char *data, size_t len);
int64_t proc_parse_capabilities(const char *data, size_t len);

/* /proc/meminfo: "MemAvailable" in bytes; -1 unknown. */
int64_t proc_parse_memory_bytes(const char *data, size_t len, const char *key);
/* /proc/vmstat: "pswpin"; -1 unknown. */
int64_t proc_parse_vmstat(const char *data, size_t len, const char *key);
/* /proc/uptime in ms; -1 unknown. */
int64_t proc_parse_uptime_ms(const char *data, size_t len);
/* /proc/mounts: the last proc mounted on /proc hides other users' processes. */
bool proc_parse_hides(const char *data, size_t len);
/* The value of the first "key : value" line (/proc/cpuinfo), cleaned; NULL: there is none. */
char *proc_parse_value(struct arena *a, const char *data, size_t len, const char *key);
/* The value of a KEY=value or KEY="value" line (/etc/os-release), cleaned; NULL: none. */
char *proc_parse_assignment(struct arena *a, const char *data, size_t len, const char *key);
/* Is word one of the blank-separated words? */
bool proc_has_word(const char *words, const char *word);

/* A whole decimal number; -1 for anything else and for what does not fit. */
int64_t proc_parse_number(const char *s, size_t len);

/* Text that may be shown and stored: NULs and line ends become blanks, trailing blanks go, other
 * control characters and bytes that are not UTF-8 become '?'. NULL when nothing is left. */
char *proc_clean(struct arena *a, const char *data, size_t len);
