#include "run/run_kernel.h"

#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/summary/values.h"
#include "proto/doc/doc_kernel.h"

static const struct {
    const char *code, *outcome;
} faults[] = {
    {"kernel.artifact_differs", "lane.artifact_differs"},
    {"kernel.terminal_differs", "lane.terminal_differs"},
};

static void fail(struct run_observation *o, const char *outcome, const char *words)
{
    o->raw.outcome = outcome;
    o->got = words;
}

static const char *member(const cJSON *obj, const char *key)
{
    const cJSON *m = cJSON_GetObjectItemCaseSensitive(obj, key);

    return cJSON_IsString(m) ? m->valuestring : "";
}

/* By its code, and in its words. */
static void take_error(struct arena *a, const cJSON *doc, struct run_observation *o)
{
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(doc, "error");
    const char *outcome = "lane.kernel_failed";

    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        if (strcmp(member(error, "code"), faults[i].code) == 0)
            outcome = faults[i].outcome;
    fail(o, outcome, arena_strdup(a, error ? member(error, "message") : "it printed no receipt"));
}

static const struct kernel_receipt *decode_receipt(struct arena *a, const cJSON *doc)
{
    const cJSON *obj = cJSON_GetObjectItemCaseSensitive(doc, "receipt");
    char *text = obj ? cJSON_PrintUnformatted(obj) : NULL;
    struct kernel_receipt *receipt = NULL;

    if (text && kernel_receipt_decode(a, text, strlen(text), &receipt, NULL) < 0)
        receipt = NULL;
    cJSON_free(text);
    return receipt;
}

static void take_receipt(struct arena *a, const struct kernel_receipt *r, struct run_observation *o)
{
    struct raw_value *values = arena_array(a, KERNEL_VALUES, sizeof *values);
    struct raw_output *outputs = arena_array(a, 2, sizeof *outputs);

    if (r->decode.iterations == 0) {
        fail(o, "lane.kernel_failed", "its target has no decode that can be told apart");
        return;
    }
    values_of_kernel(r, values);
    outputs[0] = (struct raw_output){"artifact", r->artifact_bytes, r->artifact_digest};
    outputs[1] = (struct raw_output){"terminal", 0, r->terminal_digest};
    o->raw.values = values;
    o->raw.n_values = KERNEL_VALUES;
    o->raw.outputs = outputs;
    o->raw.n_outputs = 2;
}

void run_kernel_take(struct arena *a, struct run_observation *o)
{
    cJSON *doc = NULL;
    bool good = strcmp(o->raw.outcome, "ok") == 0;

    if (json_parse(o->output, o->output_bytes, &doc, NULL) < 0) {
        if (good)
            fail(o, "lane.kernel_failed", "it printed no receipt");
        return;
    }
    const struct kernel_receipt *receipt = good ? decode_receipt(a, doc) : NULL;
    if (receipt)
        take_receipt(a, receipt, o);
    else
        take_error(a, doc, o);
    cJSON_Delete(doc);
}
