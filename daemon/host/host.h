/* The probe: who this host is, which boot it is in, how it is right now, and who runs on it.
 *
 * One interface, several kinds: the system's own (its /proc, /sys and /etc may lie below another
 * root, for tests) and a scripted fake that re-reads its folder on every call. Nothing is judged
 * here: core/quiet/inventory and core/quiet/qualify do that. A probe holds no state that a call
 * changes but what it was told of calibrations and what it knows of processes (proc_known.h, under
 * a lock), so calls from several worker threads are fine; each call blocks for as long as the
 * system does. Results live in the arena that the call was given; the probe itself is freed by its
 * holder.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "core/host.h"
#include "core/quiet/inventory.h"
#include "core/quiet/qualify.h"
#include "core/raw.h"

struct host_probe;

/* The system's own. root is put before /proc, /sys and /etc: "" for the real ones. -errno with e
 * filled when root has no proc folder; -ENOTSUP where this system is not supported. */
int host_probe_new_system(const char *root, struct host_probe **out, struct err *e);

/* The scripted one; host_fake.h says what its folder holds. -errno when there is no such folder. */
int host_probe_new_fake(const char *dir, struct host_probe **out, struct err *e);

void host_probe_free(struct host_probe *p); /* NULL is fine */

/* -errno with e filled when the host cannot be told from others (no boot identity, no CPUs). */
int host_probe_identity(struct host_probe *p, struct arena *a, struct host_identity *out,
                        struct err *e);
int host_probe_boot(struct host_probe *p, struct arena *a, struct boot_identity *out,
                    struct err *e);

/* Unix time in ms as this host has it; a scripted host may be ahead of the machine. */
int64_t host_probe_wall_ms(struct host_probe *p);

/* How long it was suspended since it was booted, in ms; a scripted host may have slept longer. */
int64_t host_probe_suspend_ms(struct host_probe *p);

/* Whether there is a calibration of the boot that the host is in: a fact that the store knows, and
 * that stands among the others from then on. */
void host_probe_set_calibrated(struct host_probe *p, bool calibrated);

/* Never fails: what could not be read is unknown, with the reason as its text. */
void host_probe_facts(struct host_probe *p, struct arena *a, struct host_facts *out);

/* Where the counters around observations come from: a scripted host's own, else out stays as it is.
 */
void host_probe_sources(struct host_probe *p, struct ledger_sources *out);
/* The same for the counters of one observation, whose place in the plan is filled. */
void host_probe_observed(struct host_probe *p, struct raw_observation *o);

/* The whole process table with arguments, folders and owners of all. A process that cannot be read
 * makes the snapshot incomplete; one that ends meanwhile is left out. -errno with e filled when the
 * table itself cannot be read. */
int host_probe_snapshot(struct host_probe *p, struct arena *a, struct proc_snapshot *out,
                        struct err *e);

/* One phase of an attempt: facts, three snapshots gap_ms apart (before timing, where scope names
 * the lanes' CPUs, a fourth one when eight gaps have passed since the first), facts again;
 * inventory and conditions follow from them. first_facts are those of the attempt's first phase, or
 * NULL in that phase itself: then this phase's own first reading. Blocks for the time the gaps
 * take. out lives in a. -errno with e filled when the host cannot be read. */
int host_take_phase(struct host_probe *p, struct arena *a, const struct policy *policy,
                    const struct inventory_scope *scope, const struct qualify_job *job,
                    enum phase phase, const struct host_facts *first_facts, int64_t gap_ms,
                    struct phase_record *out, struct err *e);

/* The executable regular file that a program name means: a name with a slash is taken as it is,
 * others are looked up in path_env ("/usr/bin:/bin"; relative entries are skipped). 0 with *path in
 * a, or -ENOENT. */
int host_tool_find(struct arena *a, const char *name, const char *path_env, const char **path);

/* A program's real path, SHA-256 and the first line it prints for --version (NULL when it prints
 * none within 5 s). -errno with e filled when it is not found or cannot be read. */
int host_tool_identity(struct arena *a, const char *name, const char *path_env,
                       struct raw_tool *out, struct err *e);
