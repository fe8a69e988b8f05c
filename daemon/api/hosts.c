/* host.* and daemon.status: who this machine is, whether it is quiet now, what the daemon does. */
#include <errno.h>
#include <string.h>

#include "api/internal.h"
#include "base/disk.h"
#include "base/keys.h"
#include "base/mem.h"
#include "proto/doc/doc_host.h"

#define CPUS_SHOWN 1024

/* The document that parameter "policy" holds. */
static int given_policy(struct api_call *c, const cJSON *given, const char *name,
                        struct policy **out)
{
    int rc = policy_decode_node(&c->arena, given, out, &c->e);

    if (rc == 0)
        rc = policy_check_name(*out, &c->e);
    if (rc == 0 && name && strcmp((*out)->name, name) != 0)
        return err_set(&c->e, -EINVAL, "policy.name_differs", "job.policy",
                       "the job names policy %s, the document sent with it is %s", name,
                       (*out)->name);
    return rc;
}

int api_policy(struct api_call *c, const char *name, struct policy **out)
{
    return api_policy_of(c, cJSON_GetObjectItemCaseSensitive(c->req.params, "policy"), name, out);
}

int api_policy_of(struct api_call *c, const cJSON *given, const char *name, struct policy **out)
{
    if (cJSON_IsObject(given))
        return given_policy(c, given, name, out);
    if (given && !cJSON_IsNull(given) && (name || !cJSON_IsString(given)))
        return json_fail(&c->in, "policy", "json.type", "policy must be a %s",
                         name ? "document; its name stands in the job" : "name or a document");
    if (!name)
        name = cJSON_IsString(given) ? given->valuestring : "standard";
    return policy_shipped(&c->arena, name, out, &c->e);
}

/* ---- host.show */

static void put_policy(struct api_call *c, const char *name, const struct host_facts *now)
{
    struct condition_result results[COND_COUNT];
    const struct qualify_job job = {.is_comparison = false, .control_everywhere = false};
    struct policy *policy;

    if (policy_shipped(&c->arena, name, &policy, &c->e) < 0)
        return;
    qualify_conditions(&c->arena, policy, &c->api->host, &c->api->first, now, &job, results);
    json_begin(c->o, NULL);
    json_put_str(c->o, "name", name);
    json_put_str(c->o, "met", tri_name(qualify_conditions_met(results)));
    conditions_encode(c->o, "conditions", results);
    json_end(c->o);
}

static void put_key(struct api_call *c)
{
    const char *public_hex = c->api->config.host_key;
    char id[KEY_ID];

    key_id(public_hex, id);
    json_begin(c->o, "key");
    json_put_str(c->o, "id", id);
    json_put_str(c->o, "public", public_hex);
    json_end(c->o);
}

int api_host_show(struct api_call *c)
{
    struct host_facts now;

    host_probe_facts(c->api->config.probe, &c->arena, &now);
    host_identity_encode(c->o, "host", &c->api->host);
    boot_identity_encode(c->o, "boot", &c->api->boot);
    host_facts_encode(c->o, "facts", &now);
    put_key(c);
    json_begin_array(c->o, "policies");
    for (const char *const *name = policy_shipped_names(); *name; name++)
        put_policy(c, *name, &now);
    json_end_array(c->o);
    return err_is_set(&c->e) ? -EINVAL : 0;
}

/* ---- host.quiet */

struct quiet {
    struct policy *policy;
    struct phase_record record;
};

static int look(struct api_call *c)
{
    struct quiet *q = c->data;
    const struct inventory_scope scope = {.self_pid = (int)getpid()};
    const struct qualify_job job = {.is_comparison = false, .control_everywhere = false};

    return host_take_phase(c->api->config.probe, &c->arena, q->policy, &scope, &job,
                           PHASE_BEFORE_BUILD, NULL, q->policy->snapshot_gap_ms, &q->record, &c->e);
}

static void put_cpus(struct api_call *c, const struct inventory *inv)
{
    size_t shown = inv->n_cpus < CPUS_SHOWN ? inv->n_cpus : CPUS_SHOWN;

    json_begin_array(c->o, "cpus");
    for (size_t i = 0; i < shown; i++) {
        if (inv->cpu_busy_pct[i] < 0)
            continue;
        json_begin(c->o, NULL);
        json_put_int(c->o, "cpu", (int64_t)i);
        json_put_num(c->o, "busy_pct", inv->cpu_busy_pct[i]);
        json_end(c->o);
    }
    json_end_array(c->o);
}

static int answer_quiet(struct api_call *c)
{
    const struct quiet *q = c->data;

    json_put_str(c->o, "policy", q->policy->name);
    json_put_str(c->o, "state", inventory_state_name(q->record.inventory->state));
    api_put_inventory(c, q->record.inventory);
    put_cpus(c, q->record.inventory);
    host_facts_encode(c->o, "facts", &q->record.facts);
    conditions_encode(c->o, "conditions", q->record.conditions);
    json_put_str(c->o, "met", tri_name(qualify_conditions_met(q->record.conditions)));
    return 0;
}

int api_host_quiet(struct api_call *c)
{
    struct quiet *q = arena_alloc(&c->arena, sizeof *q);
    struct sched_event event;

    int rc = api_policy(c, NULL, &q->policy);
    if (rc < 0)
        return rc;
    if (sched_is_timing(c->api->config.sched)) {
        (void)sched_active(c->api->config.sched, &event);
        return err_set(&c->e, -EBUSY, "host.measuring", NULL,
                       "the host is measuring job %s, and looking around would disturb it; ask "
                       "again when it is done (aurabench wait %s)",
                       event.job, event.job);
    }
    c->data = q;
    return api_defer(c, true, look, answer_quiet);
}

/* ---- daemon.status */

static void put_active(struct api_call *c)
{
    struct sched_event event;

    if (!sched_active(c->api->config.sched, &event)) {
        json_put_null(c->o, "active");
        return;
    }
    json_begin(c->o, "active");
    json_put_str(c->o, "job", event.job);
    json_put_str(c->o, "state", job_state_name(event.state));
    json_put_str(c->o, "step", event.step);
    json_put_str(c->o, "text", event.text);
    json_put_int(c->o, "done", event.done);
    json_put_int(c->o, "total", event.total);
    json_put_int_or_null(c->o, "left_ms", event.left_ms);
    json_end(c->o);
}

int api_daemon_status(struct api_call *c)
{
    int64_t counts[JOB_STATE_COUNT], due_ms;

    int rc = store_counts(c->api->config.store, counts, &c->e);
    if (rc == 0)
        rc = store_next_due_ms(c->api->config.store, &due_ms, &c->e);
    if (rc < 0)
        return rc;
    json_put_str(c->o, "version", AURABENCH_VERSION);
    json_put_str(c->o, "host", c->api->host.name);
    json_put_str(c->o, "boot", c->api->boot.id);
    json_put_str(c->o, "state_dir", c->api->config.state_dir);
    json_put_int_or_null(c->o, "disk_free_bytes", disk_free_bytes(c->api->config.state_dir));
    json_put_int(c->o, "started_ms", c->api->started_ms);
    json_put_int(c->o, "now_ms", sched_now_ms(c->api->config.sched));
    json_begin(c->o, "jobs");
    for (int s = JOB_HELD; s < JOB_STATE_COUNT; s++)
        json_put_int(c->o, job_state_name((enum job_state)s), counts[s]);
    json_end(c->o);
    put_active(c);
    json_put_str(c->o, "blocked", sched_blocked(c->api->config.sched));
    json_put_int_or_null(c->o, "next_due_ms", due_ms);
    json_begin(c->o, "state");
    api_put_state(c->api, c->o);
    json_end(c->o);
    return api_put_hooks_owed(c);
}
