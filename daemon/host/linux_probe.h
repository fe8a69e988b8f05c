/* The Linux probe's parts share this: where its root is, and bounded reads below it.
 *
 * Paths are given as on a real system ("/sys/class/thermal"); the root is put before them. Values
 * of /sys are one short line each.
 */
#pragma once

#include "base/buf.h"
#include "host/probe.h"
#include "host/proc_known.h"
#include "host/proc_parse.h"

struct linux_probe {
    struct host_probe base; /* first: the probe is cast back */
    char *root;             /* "" for the real system */
    int proc_fd;            /* of root/proc */
    int64_t tick_ns;
    struct proc_known *known;
};

/* Appends the file; at most limit bytes, more is -EFBIG. */
int linux_read(const struct linux_probe *p, const char *path, size_t limit, struct buf *out);
/* The file's first line, cleaned, in a; NULL when it cannot be read or is empty. */
char *linux_line(const struct linux_probe *p, struct arena *a, const char *path);
/* The file's one number; -1 when it cannot be read or is none. */
int64_t linux_number(const struct linux_probe *p, const char *path);
bool linux_exists(const struct linux_probe *p, const char *path);
/* The link's target in a, cleaned; NULL when there is none. */
char *linux_link(const struct linux_probe *p, struct arena *a, const char *path);
/* Names in a folder that begin with prefix, sorted, in a. The count, or -errno. */
int linux_list(const struct linux_probe *p, struct arena *a, const char *path, const char *prefix,
               const char ***names);
/* /proc/stat. 0 or -errno. */
int linux_totals(const struct linux_probe *p, struct arena *a, struct proc_totals *out);
/* Is this the initial PID namespace: 1, 0, or -1 unknown. */
int linux_initial_pid_namespace(const struct linux_probe *p, struct arena *a);

/* Parts of the probe, one file each. */
int linux_snapshot(struct host_probe *p, struct arena *a, const struct snapshot_focus *focus,
                   struct proc_snapshot *out, struct err *e);
void linux_facts(struct host_probe *p, struct arena *a, struct host_facts *out);
/* Power, frequency and heat, from /sys; FACT_VIRTUAL must be filled already: what a guest does not
 * see proves nothing about the machine below it. */
void linux_sys_facts(const struct linux_probe *p, struct arena *a, struct host_facts *out);
/* "LENOVO ThinkPad T14", or "" when the machine does not say. */
const char *linux_model(const struct linux_probe *p, struct arena *a);
