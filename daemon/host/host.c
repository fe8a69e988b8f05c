#include "host/host.h"

#include "base/clock.h"
#include "host/probe.h"

/* The span over which the lanes' CPUs are judged, in gaps: 2 s at the usual 250 ms. */
#define LONG_SPAN_GAPS 8
#define SNAPSHOTS_MAX (INVENTORY_SNAPSHOTS + 1)

void host_probe_free(struct host_probe *p)
{
    if (p)
        p->ops->free(p);
}

int host_probe_identity(struct host_probe *p, struct arena *a, struct host_identity *out,
                        struct err *e)
{
    return p->ops->identity(p, a, out, e);
}

int host_probe_boot(struct host_probe *p, struct arena *a, struct boot_identity *out, struct err *e)
{
    return p->ops->boot(p, a, out, e);
}

int64_t host_probe_wall_ms(struct host_probe *p)
{
    return p->ops->wall_ms ? p->ops->wall_ms(p) : clock_wall_ms();
}

int64_t host_probe_suspend_ms(struct host_probe *p)
{
    return p->ops->suspend_ms ? p->ops->suspend_ms(p) : clock_suspend_ns() / 1000000;
}

void host_probe_sources(struct host_probe *p, struct ledger_sources *out)
{
    if (p->ops->sources)
        (void)p->ops->sources(p, out);
}

void host_probe_observed(struct host_probe *p, struct raw_observation *o)
{
    if (p->ops->observed)
        p->ops->observed(p, o);
}

void host_probe_facts(struct host_probe *p, struct arena *a, struct host_facts *out)
{
    p->ops->facts(p, a, out);
    if (p->calibrated)
        out->facts[FACT_CALIBRATION] = fact_known(1, NULL, "the daemon's store");
}

void host_probe_set_calibrated(struct host_probe *p, bool calibrated)
{
    p->calibrated = calibrated;
}

int host_probe_snapshot(struct host_probe *p, struct arena *a, struct proc_snapshot *out,
                        struct err *e)
{
    return p->ops->snapshot(p, a, NULL, out, e);
}

/* A sleep by another clock can end a little early by the timing clock: hence the loop. */
static void wait_until(int64_t mono_ns)
{
    for (int64_t left; (left = mono_ns - clock_mono_ns()) > 0;)
        clock_sleep_ns(left);
}

/* When snapshot k is due, given those before it. */
static int64_t snapshot_due_ns(const struct proc_snapshot *snaps, size_t k, int64_t gap_ms,
                               const struct policy *policy)
{
    if (k == 0)
        return 0;
    if (k < INVENTORY_SNAPSHOTS)
        return snaps[k - 1].mono_ns + gap_ms * 1000000;
    return snaps[0].mono_ns + LONG_SPAN_GAPS * policy->snapshot_gap_ms * 1000000;
}

static int take_snapshots(struct host_probe *p, struct arena *a, struct snapshot_focus focus,
                          int64_t gap_ms, struct proc_snapshot *snaps, size_t n, struct err *e)
{
    for (size_t k = 0; k < n; k++) {
        wait_until(snapshot_due_ns(snaps, k, gap_ms, focus.policy));
        focus.previous = k > 0 ? &snaps[k - 1] : NULL;
        int rc = p->ops->snapshot(p, a, &focus, &snaps[k], e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int take_inventory(struct host_probe *p, struct arena *a, const struct policy *policy,
                          const struct inventory_scope *scope, enum phase phase, int64_t gap_ms,
                          struct inventory **out, struct err *e)
{
    struct proc_snapshot snaps[SNAPSHOTS_MAX] = {0};
    struct snapshot_focus focus = {.policy = policy, .scope = scope};
    bool judges_lanes = phase == PHASE_BEFORE_TIMING && scope->n_lane_cpus > 0;
    size_t n = judges_lanes ? SNAPSHOTS_MAX : INVENTORY_SNAPSHOTS;
    struct arena scratch = {0}; /* the table is large, and only what is named in it is kept */
    int rc = take_snapshots(p, &scratch, focus, gap_ms, snaps, n, e);
    if (rc == 0)
        *out = inventory_classify(a, snaps, n, policy, scope, phase);
    arena_deinit(&scratch);
    return rc;
}

int host_take_phase(struct host_probe *p, struct arena *a, const struct policy *policy,
                    const struct inventory_scope *scope, const struct qualify_job *job,
                    enum phase phase, const struct host_facts *first_facts, int64_t gap_ms,
                    struct phase_record *out, struct err *e)
{
    struct host_identity host = {0};
    struct host_facts start;
    int rc = host_probe_identity(p, a, &host, e);
    if (rc < 0)
        return rc;
    host_probe_facts(p, a, &start);
    rc = take_inventory(p, a, policy, scope, phase, gap_ms, &out->inventory, e);
    if (rc < 0)
        return rc;
    host_probe_facts(p, a, &out->facts);
    out->inventory->wall_ms = out->facts.wall_ms;
    qualify_conditions(a, policy, &host, first_facts ? first_facts : &start, &out->facts, job,
                       out->conditions);
    return 0;
}
