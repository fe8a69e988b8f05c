#include "core/kernel/kernel_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *kernel_phase_name(enum kernel_phase p)
{
    static const char *const names[] = {"hello", "compile", "decode", "dispatch", "over"};
    return names[p];
}

void kernel_run_init(struct kernel_run *r, struct arena *a, const struct kernel_plan *plan)
{
    *r = (struct kernel_run){
        .a = a, .plan = *plan, .initialization_ns = -1, .first_dispatch_ns = -1};
    r->compile = arena_array(a, (size_t)plan->compiles + 1, sizeof *r->compile);
    r->decode = arena_array(a, (size_t)plan->compiles, sizeof *r->decode);
    r->dispatch = arena_array(a, (size_t)plan->dispatches, sizeof *r->dispatch);
    r->workers = arena_array(a, (size_t)plan->workers, sizeof *r->workers);
}

static int against(const struct kernel_run *r, struct err *e, const char *what)
{
    return err_set(e, -EPROTO, "kernel.driver", kernel_phase_name(r->phase),
                   "the driver does not keep to the protocol: %s", what);
}

/* ---- plausible? */

/* Clocks differ a little: one part in a thousand and a millisecond. */
static bool more_than(int64_t ns, int64_t room_ns)
{
    return ns - room_ns > room_ns / 1000 + 1000000;
}

static int check_outside(const struct kernel_run *r, int64_t sum_ns, int64_t elapsed_ns,
                         struct err *e)
{
    if (!more_than(sum_ns, elapsed_ns))
        return 0;
    return err_set(e, -EPROTO, "kernel.implausible", kernel_phase_name(r->phase),
                   "the driver reports %.3f ms for %s, but only %.3f ms passed outside it; its "
                   "clock or its samples are wrong",
                   (double)sum_ns / 1e6, kernel_phase_name(r->phase), (double)elapsed_ns / 1e6);
}

static int64_t sum(const int64_t *ns, int64_t n)
{
    int64_t total = 0;
    for (int64_t i = 0; i < n && total < KERNEL_SAMPLE_MAX; i++)
        total += ns[i];
    return total;
}

/* ---- samples */

static int append(const struct kernel_run *r, int64_t *to, int64_t *n, int64_t room,
                  const struct kernel_message *m, struct err *e)
{
    if ((int64_t)m->n > room - *n)
        return against(r, e, "it sends more samples than were asked for");
    if (m->n)
        memcpy(to + *n, m->ns, m->n * sizeof *to);
    *n += (int64_t)m->n;
    return 0;
}

static int take_compile(struct kernel_run *r, const struct kernel_message *m, struct err *e)
{
    const int64_t before = r->n_compile;
    if (!m->digest || m->worker >= 0)
        return against(r, e, "samples of compile have a digest and no worker");
    int rc = append(r, r->compile, &r->n_compile, r->plan.compiles + 1, m, e);
    if (rc < 0 || m->n == 0)
        return rc;
    if (!r->artifact[0])
        (void)snprintf(r->artifact, sizeof r->artifact, "%s", m->digest);
    if (strcmp(r->artifact, m->digest) == 0)
        return 0;
    return err_set(e, -EPROTO, "kernel.artifact_differs", "compile",
                   "compile %lld of %lld made other artifact bytes than the first: %.12s, not "
                   "%.12s; one source must always give the same",
                   (long long)before + 1, (long long)r->plan.compiles + 1, m->digest, r->artifact);
}

static int take_decode(struct kernel_run *r, const struct kernel_message *m, struct err *e)
{
    if (m->digest || m->worker >= 0)
        return against(r, e, "samples of decode have no digest and no worker");
    return append(r, r->decode, &r->n_decode, r->plan.compiles, m, e);
}

static int take_first(struct kernel_run *r, const struct kernel_message *m, struct err *e)
{
    if (r->first_dispatch_ns >= 0 || m->n != 1 || m->worker >= 0 || !m->digest)
        return against(r, e, "there is one first dispatch, with a digest and without a worker");
    r->first_dispatch_ns = m->ns[0];
    (void)snprintf(r->terminal, sizeof r->terminal, "%s", m->digest);
    return 0;
}

static int take_dispatch(struct kernel_run *r, const struct kernel_message *m, struct err *e)
{
    if (m->first)
        return take_first(r, m, e);
    if (!r->terminal[0])
        return against(r, e, "the first dispatch comes in front of the others");
    if (!m->digest || m->worker < 0 || m->worker >= r->plan.workers)
        return against(r, e, "samples of dispatch have a digest and one of the workers");
    struct kernel_worker *w = &r->workers[m->worker];
    const int64_t before = w->n;
    int rc = append(r, r->dispatch, &r->n_dispatch, r->plan.dispatches, m, e);
    if (rc < 0 || m->n == 0)
        return rc;
    w->n += (int64_t)m->n;
    w->ns += sum(m->ns, (int64_t)m->n);
    if (strcmp(r->terminal, m->digest) == 0)
        return 0;
    return err_set(e, -EPROTO, "kernel.terminal_differs", "dispatch",
                   "worker %lld gave another terminal value than the first dispatch, in its "
                   "dispatch %lld: %.12s, not %.12s; every dispatch must give the same",
                   (long long)m->worker, (long long)before + 1, m->digest, r->terminal);
}

static int take_samples(struct kernel_run *r, const struct kernel_message *m, struct err *e)
{
    if (r->phase == KERNEL_COMPILE)
        return take_compile(r, m, e);
    if (r->phase == KERNEL_DECODE)
        return take_decode(r, m, e);
    return take_dispatch(r, m, e);
}

/* ---- ends of phases */

static int end_compile(struct kernel_run *r, const struct kernel_message *m, int64_t elapsed_ns,
                       struct err *e)
{
    if (r->n_compile != r->plan.compiles + 1)
        return against(r, e, "it sends fewer samples than were asked for");
    if (m->artifact_bytes < 1)
        return against(r, e, "an artifact has at least one byte");
    r->artifact_bytes = m->artifact_bytes;
    return check_outside(r, sum(r->compile, r->n_compile), elapsed_ns, e);
}

static int end_decode(struct kernel_run *r, const struct kernel_message *m, int64_t elapsed_ns,
                      struct err *e)
{
    if (r->n_decode != (m->unmeasurable ? 0 : r->plan.compiles))
        return against(r, e, "it sends another number of samples than were asked for");
    return check_outside(r, sum(r->decode, r->n_decode), elapsed_ns, e);
}

/* Each worker does its share, whole dispatches, as even as they can be. */
static int check_workers(const struct kernel_run *r, int64_t wall_ns, struct err *e)
{
    const int64_t least = r->plan.dispatches / r->plan.workers;
    for (int64_t i = 0; i < r->plan.workers; i++) {
        const struct kernel_worker *w = &r->workers[i];
        if (w->n < least || w->n > least + 1)
            return err_set(e, -EPROTO, "kernel.driver", "dispatch",
                           "the driver does not keep to the protocol: worker %lld did %lld "
                           "dispatches, its share is %lld",
                           (long long)i, (long long)w->n, (long long)least);
        if (more_than(w->ns, wall_ns))
            return err_set(e, -EPROTO, "kernel.implausible", "dispatch",
                           "worker %lld reports %.3f ms of dispatches in a batch of %.3f ms; its "
                           "clock or its samples are wrong",
                           (long long)i, (double)w->ns / 1e6, (double)wall_ns / 1e6);
    }
    return 0;
}

static int end_dispatch(struct kernel_run *r, const struct kernel_message *m, int64_t elapsed_ns,
                        struct err *e)
{
    if (r->first_dispatch_ns < 0 || r->n_dispatch != r->plan.dispatches)
        return against(r, e, "it sends fewer samples than were asked for");
    if (m->workers != r->plan.workers || m->batch_wall_ns < 1)
        return against(r, e, "the batch ran with another number of workers, or in no time");
    r->batch_wall_ns = m->batch_wall_ns;
    int rc = check_workers(r, m->batch_wall_ns, e);
    if (rc < 0)
        return rc;
    return check_outside(r, r->first_dispatch_ns + m->batch_wall_ns, elapsed_ns, e);
}

static int take_done(struct kernel_run *r, const struct kernel_message *m, int64_t elapsed_ns,
                     struct err *e)
{
    int rc = r->phase == KERNEL_COMPILE  ? end_compile(r, m, elapsed_ns, e)
             : r->phase == KERNEL_DECODE ? end_decode(r, m, elapsed_ns, e)
                                         : end_dispatch(r, m, elapsed_ns, e);
    if (rc == 0)
        r->phase++;
    return rc;
}

int kernel_run_take(struct kernel_run *r, const struct kernel_message *m, int64_t elapsed_ns,
                    struct err *e)
{
    if (m->kind == KERNEL_SAYS_ERROR)
        return err_set(e, -EPROTO, "kernel.failed", kernel_phase_name(r->phase),
                       "the kernel failed: %.500s", m->error);
    if ((m->kind == KERNEL_SAYS_HELLO) != (r->phase == KERNEL_HELLO))
        return against(r, e, "the first line says who it is, and no other");
    if (m->kind == KERNEL_SAYS_HELLO) {
        r->provenance = m->provenance;
        r->target = m->target;
        r->initialization_ns = m->initialization_ns;
        r->phase = KERNEL_COMPILE;
        return 0;
    }
    if (m->phase != r->phase)
        return against(r, e, "it speaks of another phase than was asked for");
    return m->kind == KERNEL_SAYS_DONE ? take_done(r, m, elapsed_ns, e) : take_samples(r, m, e);
}

void kernel_run_receipt(struct kernel_run *r, struct kernel_receipt *out)
{
    *out = (struct kernel_receipt){
        .target = r->target,
        .artifact_bytes = r->artifact_bytes,
        .artifact_digest = arena_strdup(r->a, r->artifact),
        .iterations = r->plan.dispatches,
        .workers = r->plan.workers,
        .provenance = r->provenance,
        .initialization_ms = r->initialization_ns < 0 ? NAN : (double)r->initialization_ns / 1e6,
        .terminal_digest = arena_strdup(r->a, r->terminal),
    };
    out->compile.first_ms = (double)r->compile[0] / 1e6;
    kernel_stats_of(r->a, r->compile + 1, (size_t)r->plan.compiles, &out->compile.repeated);
    kernel_stats_of(r->a, r->decode, (size_t)r->n_decode, &out->decode);
    out->dispatch.first_ms = (double)r->first_dispatch_ns / 1e6;
    kernel_stats_of(r->a, r->dispatch, (size_t)r->n_dispatch, &out->dispatch.repeated);
    out->dispatch.batch_wall_ms = (double)r->batch_wall_ns / 1e6;
    out->dispatch.throughput = (double)r->plan.dispatches / ((double)r->batch_wall_ns / 1e9);
}
