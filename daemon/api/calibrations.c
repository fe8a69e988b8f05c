/* host.calibrate and host.calibration: to ask for a calibration, and what the one of this boot says
 * of the host. */
#include "store/calibrations.h"
#include "api/internal.h"
#include "proto/doc/doc_calibration.h"

/* How many repetitions people usually ask for. */
static const size_t REPETITIONS[] = {11, 21, 51};

void api_put_calibration_state(const struct api *api, struct json_out *o)
{
    struct sched_calibration state;

    sched_calibration(api->config.sched, &state);
    json_begin(o, "calibration");
    json_put_bool(o, "running", state.running);
    json_put_bool(o, "asked", state.asked);
    json_put_str(o, "form", calibration_form_name(state.form));
    json_put_int(o, "done", state.done);
    json_put_int(o, "total", state.total);
    json_put_str(o, "latest", state.latest);
    json_put_str(o, "refused", state.refused);
    json_put_int_or_null(o, "refused_ms", state.refused_ms);
    json_put_int_or_null(o, "next_try_ms", state.next_try_ms);
    json_end(o);
}

static void put_resolvable(struct api_call *c, const struct calibration *calibration,
                           enum measure measure, double margin)
{
    json_begin_array(c->o, "resolvable");
    for (size_t i = 0; i < sizeof REPETITIONS / sizeof REPETITIONS[0]; i++) {
        json_begin(c->o, NULL);
        json_put_int(c->o, "repetitions", (int64_t)REPETITIONS[i]);
        json_put_num(
            c->o, "change",
            calibration_resolvable(&c->arena, calibration, measure, REPETITIONS[i], margin));
        json_end(c->o);
    }
    json_end_array(c->o);
}

static void put_found(struct api_call *c, const struct calibration *calibration, double margin)
{
    struct calibration_figures figures;

    json_begin(c->o, "found");
    doc_fields_encode(c->o, &calibration_table, calibration);
    json_begin(c->o, "measures");
    for (int m = 0; m < CALIBRATION_MEASURES; m++) {
        calibration_figures(&c->arena, calibration, (enum measure)m, &figures);
        json_begin(c->o, measure_name((enum measure)m));
        calibration_figures_encode(c->o, &figures);
        put_resolvable(c, calibration, (enum measure)m, margin);
        json_end(c->o);
    }
    json_end(c->o);
    json_end(c->o);
}

int api_host_calibration(struct api_call *c)
{
    const struct calibration *calibration = NULL;
    struct boot_identity boot;
    struct policy *policy;
    const char *document;

    int rc = policy_shipped(&c->arena, "standard", &policy, &c->e);
    if (rc == 0)
        rc = host_probe_boot(c->api->config.probe, &c->arena, &boot, &c->e);
    if (rc == 0)
        rc = store_calibration_latest(c->api->config.store, boot.id, &c->arena, &document, &c->e);
    if (rc == 0)
        rc = calibration_decode_text(&c->arena, document, &calibration, &c->e);
    if (rc < 0)
        return rc;
    api_put_calibration_state(c->api, c->o);
    json_put_num(c->o, "margin", policy->margin);
    if (calibration)
        put_found(c, calibration, policy->margin);
    else
        json_put_null(c->o, "found");
    return 0;
}

int api_host_calibrate(struct api_call *c)
{
    bool on = json_opt_bool(&c->in, c->req.params, "on", true);
    bool quick = json_opt_bool(&c->in, c->req.params, "quick", false);

    if (c->in.rc < 0)
        return c->in.rc;
    sched_calibrate(c->api->config.sched, on, quick ? CALIBRATION_QUICK : CALIBRATION_FULL);
    api_put_calibration_state(c->api, c->o);
    return 0;
}
