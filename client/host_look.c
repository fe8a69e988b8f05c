#include "client/host_look.h"

#include "client/view/job_view.h"
#include "proto/doc/doc_host.h"

bool host_look_is_good(const struct host_look *look)
{
    return look->inventory.state == INVENTORY_QUIET &&
           (look->met == TRI_PASS || look->met == TRI_NOT_APPLICABLE);
}

#define CPUS_MAX 65536

static void cpus_decode(struct json_in *in, const cJSON *result, struct arena *a,
                        struct host_look *look)
{
    size_t n = 0;
    const cJSON *list = json_opt_arr(in, result, "cpus", CPUS_MAX, &n), *cpu;

    look->cpus = arena_array(a, n, sizeof *look->cpus);
    look->busy_pct = arena_array(a, n, sizeof *look->busy_pct);
    cJSON_ArrayForEach (cpu, list) {
        look->cpus[look->n_cpus] = (int)json_int(in, cpu, "cpu", 0, CPUS_MAX);
        look->busy_pct[look->n_cpus++] = json_num(in, cpu, "busy_pct", 0, 1e6);
    }
}

int host_look_decode(struct answer *answer, struct host_look *look, struct err *e)
{
    const cJSON *result = answer->msg.result;
    struct json_in in;

    json_in_init(&in, &answer->a, e);
    look->policy = json_view_line(&in, result, "policy", 255);
    look->met = (enum tri)json_enum(&in, result, "met", tri_parse);
    inventory_decode(&in, json_obj(&in, result, "inventory"), &look->inventory);
    look->left_out = json_opt_int(&in, result, "competitors_left_out", 0, JSON_INT_MAX, 0);
    conditions_decode(&in, result, "conditions", look->conditions);
    cpus_decode(&in, result, &answer->a, look);
    return connection_check(&in, e);
}
