#include "run/run_values.h"

#include <string.h>

#include "core/summary/values.h"
#include "proto/form/counters.h"
#include "proto/form/samples.h"
#include "run/run_callgrind.h"
#include "run/run_kernel.h"
#include "run/run_profile.h"

static const char *take_counters(struct arena *a, const struct run_observe *req,
                                 struct run_observation *o)
{
    o->raw.n_values = req->counters.n;
    return counters_parse(a, o->output, o->output_bytes, &req->counters, &o->raw.values, &o->got);
}

static const char *take_instructions(struct arena *a, int64_t n, struct run_observation *o)
{
    o->raw.values = arena_alloc(a, sizeof *o->raw.values);
    o->raw.values[0] = (struct raw_value){"instructions", n};
    o->raw.n_values = 1;
    return n < 0 ? "lane.instructions_unknown" : NULL;
}

static const char *take_memory(struct arena *a, const struct run_observe *req,
                               struct run_observation *o)
{
    o->raw.values = arena_array(a, MEMORY_VALUES, sizeof *o->raw.values);
    values_of_memory(req->baseline != NULL, o->baseline_rss, o->ready_rss, o->peak_rss,
                     o->raw.values, &o->raw.n_values);
    return o->raw.n_values == 0 ? "lane.memory_unknown" : NULL;
}

static const char *take_share(struct arena *a, struct run_observation *o)
{
    int64_t ppm = values_share_ppm(o->window_cpu_ns, o->window_to_ns - o->window_from_ns);

    o->raw.interval_cpu_ns = o->window_cpu_ns;
    o->raw.go_ns = o->window_from_ns;
    o->raw.done_ns = o->window_to_ns;
    o->raw.values = arena_alloc(a, sizeof *o->raw.values);
    o->raw.values[0] = (struct raw_value){"cpu_ppm", ppm};
    o->raw.n_values = 1;
    return ppm < 0 ? "lane.cpu_unknown" : NULL;
}

static const char *take_samples(struct arena *a, const struct run_observe *req,
                                struct run_observation *o)
{
    o->raw.n_samples = req->n_samples;
    return samples_parse(a, o->output, o->output_bytes, req->samples, req->n_samples,
                         &o->raw.samples, &o->got);
}

static const char *take_profile(struct arena *a, const struct run_observe *req,
                                struct run_observation *o)
{
    o->raw.n_values = attribution_count(req->profile);
    return run_profile_take(a, req->profile_dir, req->profile, &o->raw.values, &o->tally, &o->got);
}

static const char *take(struct arena *a, const struct run_observe *req, int64_t instructions,
                        struct run_observation *o)
{
    if (req->measure == MEASURE_COUNTERS)
        return take_counters(a, req, o);
    if (req->n_samples > 0)
        return take_samples(a, req, o);
    if (req->measure == MEASURE_MEMORY)
        return take_memory(a, req, o);
    if (req->measure == MEASURE_ATTRIBUTION)
        return take_profile(a, req, o);
    return req->measure == MEASURE_CPU ? take_share(a, o) : take_instructions(a, instructions, o);
}

void run_values_take(struct arena *a, const struct run_observe *req, struct run_observation *o)
{
    /* Its files go whatever came of it: the next observation finds an empty folder. */
    int64_t n = req->callgrind_dir ? run_callgrind_sum(req->callgrind_dir) : o->instructions;

    if (req->measure == MEASURE_KERNEL) {
        if (strcmp(o->raw.outcome, "ok") == 0 || strcmp(o->raw.outcome, "lane.exit_status") == 0)
            run_kernel_take(a, o);
        o->raw.elapsed_ns = -1;
        return;
    }
    bool has_values = measure_has_values(req->measure);
    if ((!has_values && req->n_samples == 0) || strcmp(o->raw.outcome, "ok") != 0)
        return;
    const char *fault = take(a, req, n, o);
    if (has_values || fault)
        o->raw.elapsed_ns = -1;
    if (!fault)
        return;
    o->raw.outcome = fault;
    o->raw.values = NULL;
    o->raw.n_values = 0;
    o->raw.samples = NULL;
    o->raw.n_samples = 0;
}
