/* What a kind of probe implements. The struct is embedded first in the kind's own; free releases
 * the whole. */
#pragma once

#include "host/host.h"

/* Which processes a snapshot looks at closely (arguments, folder, owner): those that the previous
 * snapshot does not know or that used CPU time since, and those whose short name is forbidden. The
 * others cost one read each. */
struct snapshot_focus {
    const struct proc_snapshot *previous; /* NULL: the first of its phase */
    const struct policy *policy;
    const struct inventory_scope *scope;
};

struct host_probe_ops {
    int (*identity)(struct host_probe *p, struct arena *a, struct host_identity *out,
                    struct err *e);
    int (*boot)(struct host_probe *p, struct arena *a, struct boot_identity *out, struct err *e);
    int64_t (*wall_ms)(struct host_probe *p);    /* NULL: the machine's own */
    int64_t (*suspend_ms)(struct host_probe *p); /* likewise */
    void (*facts)(struct host_probe *p, struct arena *a, struct host_facts *out);
    /* focus NULL: look at all of them closely. */
    int (*snapshot)(struct host_probe *p, struct arena *a, const struct snapshot_focus *focus,
                    struct proc_snapshot *out, struct err *e);
    bool (*sources)(struct host_probe *p,
                    struct ledger_sources *out); /* NULL: as the runner says */
    void (*observed)(struct host_probe *p,
                     struct raw_observation *o); /* NULL: as the runner says */
    void (*free)(struct host_probe *p);
};

struct host_probe {
    const struct host_probe_ops *ops;
    _Atomic bool calibrated; /* see host_probe_set_calibrated */
};

/* Facts in their three states; text and source outlive the fact (literals or the arena's). */
static inline struct fact fact_known(int64_t value, const char *text, const char *source)
{
    return (struct fact){FACT_KNOWN, value, text, source};
}

static inline struct fact fact_unknown(const char *why, const char *source)
{
    return (struct fact){FACT_UNKNOWN, 0, why, source};
}

static inline struct fact fact_absent(const char *proof, const char *source)
{
    return (struct fact){FACT_ABSENT, 0, proof, source};
}
