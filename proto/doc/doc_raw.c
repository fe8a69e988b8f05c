#include "proto/doc/doc_raw.h"

#include "proto/doc/doc_attribution.h"
#include "proto/doc/doc_calibration.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/doc_ledger.h"
#include "proto/doc/documents.h"

/* Files, scaling and outputs only where there are any. */
static void lanes_encode(struct json_out *o, const struct raw_workload *w)
{
    json_begin_array(o, "lanes");
    for (size_t i = 0; i < w->n_lanes; i++) {
        const struct raw_lane *lane = &w->lanes[i];
        json_begin(o, NULL);
        doc_fields_encode(o, &raw_lane_table, lane);
        if (lane->n_files > 0)
            doc_records_encode(o, "files", &raw_file_table, lane->files, lane->n_files);
        if (lane->scaling.of) {
            json_begin(o, "scaling");
            doc_fields_encode(o, &raw_scaling_table, &lane->scaling);
            json_end(o);
        }
        if (lane->outputs.n > 0)
            json_put_args(o, "outputs", &lane->outputs);
        json_end(o);
    }
    json_end_array(o);
}

static void workloads_encode(struct json_out *o, const struct raw *raw)
{
    json_begin_array(o, "workloads");
    for (size_t i = 0; i < raw->n_workloads; i++) {
        const struct raw_workload *w = &raw->workloads[i];
        json_begin(o, NULL);
        doc_fields_encode(o, &raw_workload_table, w);
        if (w->counters.n > 0)
            json_put_args(o, "counters", &w->counters);
        if (w->measure == MEASURE_INSTRUCTIONS || w->measure == MEASURE_MEMORY ||
            w->measure == MEASURE_CPU)
            json_put_str(o, "tool", w->tool);
        if (w->ack)
            json_put_bool(o, "ack", true);
        if (w->n_samples > 0)
            doc_records_encode(o, "samples", &raw_series_table, w->samples, w->n_samples);
        if (w->measure == MEASURE_MEMORY)
            json_put_bool(o, "baseline", w->baseline);
        if (w->measure == MEASURE_CPU)
            json_put_int(o, "window_ms", w->window_ms);
        if (w->measure == MEASURE_SIZE)
            json_put_int(o, "growth_pct", w->growth_pct);
        if (w->measure == MEASURE_BUILD) {
            json_put_str(o, "steps_of", w->steps_of);
            json_put_bool(o, "reproducible", w->reproducible);
        }
        if (w->profile)
            doc_attribution_encode(o, "profile", w->profile);
        lanes_encode(o, w);
        json_end(o);
    }
    json_end_array(o);
}

/* Names instead of indexes: the plan can be read without counting. */
static void plan_encode(struct json_out *o, const struct raw *raw)
{
    json_begin_array(o, "plan");
    for (size_t i = 0; i < raw->plan.n; i++) {
        const struct plan_step *s = &raw->plan.steps[i];
        const struct raw_workload *w = &raw->workloads[s->workload];
        json_begin(o, NULL);
        doc_fields_encode(o, &raw_step_table, s);
        json_put_str(o, "workload", w->name);
        json_put_str(o, "lane", w->lanes[s->lane].name);
        json_put_str(o, "side", raw->sides[s->side]);
        json_end(o);
    }
    json_end_array(o);
}

static void phases_encode(struct json_out *o, const struct raw *raw)
{
    json_begin(o, "inventories");
    for (int p = 0; p < PHASE_COUNT; p++)
        inventory_encode(o, phase_name((enum phase)p), raw->phases[p].inventory);
    json_end(o);
    json_begin(o, "facts");
    for (int p = 0; p < PHASE_COUNT; p++)
        if (raw->phases[p].inventory)
            host_facts_encode(o, phase_name((enum phase)p), &raw->phases[p].facts);
        else
            json_put_null(o, phase_name((enum phase)p));
    json_end(o);
    json_begin(o, "conditions");
    for (int p = 0; p < PHASE_COUNT; p++)
        if (raw->phases[p].inventory)
            conditions_encode(o, phase_name((enum phase)p), raw->phases[p].conditions);
        else
            json_put_null(o, phase_name((enum phase)p));
    json_end(o);
}

/* The numbers of a series stand in one list: their indexes are their places. */
static void samples_encode(struct json_out *o, const struct raw_observation *one)
{
    json_begin_array(o, "samples");
    for (size_t i = 0; i < one->n_samples; i++) {
        const struct raw_samples *series = &one->samples[i];
        json_begin(o, NULL);
        json_put_str(o, "name", series->name);
        json_begin_array(o, "values");
        for (size_t k = 0; k < series->n; k++)
            json_put_int(o, NULL, series->v[k]);
        json_end_array(o);
        json_end(o);
    }
    json_end_array(o);
}

/* Values, samples and outputs only where there are any: a time has no values. */
static void observations_encode(struct json_out *o, const struct raw *raw)
{
    json_begin_array(o, "observations");
    for (size_t i = 0; i < raw->n_observations; i++) {
        json_begin(o, NULL);
        const struct raw_observation *one = &raw->observations[i];
        doc_fields_encode(o, &raw_observation_table, one);
        if (one->n_values > 0)
            doc_records_encode(o, "values", &raw_value_table, one->values, one->n_values);
        if (one->n_samples > 0)
            samples_encode(o, one);
        if (one->n_outputs > 0)
            doc_records_encode(o, "outputs", &raw_output_table, one->outputs, one->n_outputs);
        ledger_encode(o, one);
        json_end(o);
    }
    json_end_array(o);
}

/* What the user allowed or left out, beside the job that says so, because a reader looks here. */
static void overrides_encode(struct json_out *o, const struct job *job)
{
    json_begin(o, "overrides");
    json_put_bool(o, "allow_competing", job->allow_competing);
    json_begin_array(o, "excluded");
    for (size_t i = 0; i < job->n_exclude; i++) {
        json_begin(o, NULL);
        json_put_str(o, "workload", job->exclude[i].workload);
        json_put_str(o, "lane", job->exclude[i].lane);
        json_end(o);
    }
    json_end_array(o);
    json_end(o);
}

static void sides_encode(struct json_out *o, const struct raw *raw)
{
    json_begin_array(o, "sides");
    for (size_t i = 0; i < raw->n_sides; i++)
        json_put_str(o, NULL, raw->sides[i]);
    json_end_array(o);
}

/* Only where there is one: reports from before sessions keep their bytes. */
static void session_encode_of(struct json_out *o, const struct raw *raw)
{
    if (!raw->session)
        return;
    json_begin(o, "session");
    doc_fields_encode(o, &raw_session_table, raw->session);
    json_end(o);
}

static void repeats_encode(struct json_out *o, const struct raw_pair *pair)
{
    if (!pair)
        return;
    json_begin(o, "repeats");
    json_put_str(o, "attempt", pair->attempt);
    json_put_str(o, "raw_sha256", pair->raw_sha256);
    doc_records_encode(o, "rows", &raw_pair_row_table, pair->rows, pair->n_rows);
    json_end(o);
}

void raw_encode(struct json_out *o, const char *key, const struct raw *raw)
{
    json_begin(o, key);
    json_put_str(o, "schema", RAW_SCHEMA);
    json_put_str(o, "label", raw->job.label);
    doc_fields_encode(o, &raw_head_table, raw);
    host_identity_encode(o, "host", &raw->host);
    boot_identity_encode(o, "boot", &raw->boot);
    job_encode(o, "job", &raw->job);
    session_encode_of(o, raw);
    repeats_encode(o, raw->repeats);
    policy_encode(o, "policy", &raw->policy);
    sides_encode(o, raw);
    workloads_encode(o, raw);
    raw_sources_encode(o, raw);
    doc_records_encode(o, "builds", &raw_build_table, raw->builds, raw->n_builds);
    doc_records_encode(o, "artifacts", &raw_artifact_table, raw->artifacts, raw->n_artifacts);
    doc_records_encode(o, "tools", &raw_tool_table, raw->tools, raw->n_tools);
    plan_encode(o, raw);
    calibration_encode(o, "calibration", raw->calibration);
    phases_encode(o, raw);
    doc_records_encode(o, "refusals", &raw_refusal_table, raw->refusals, raw->n_refusals);
    observations_encode(o, raw);
    doc_records_encode(o, "rechecks", &raw_recheck_table, raw->rechecks, raw->n_rechecks);
    ledger_sources_encode(o, "observer", &raw->observer);
    overrides_encode(o, &raw->job);
    json_end(o);
}
