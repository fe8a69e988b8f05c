/* The raw report against itself, and against the suite that lies beside it. */
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "client/git/suite_dir.h"
#include "client/verify/verify.h"
#include "core/grade/check.h"
#include "proto/doc/documents.h"

static const struct {
    const char *check;
    const char *good;
    const char *(*judge)(struct arena *a, const struct raw *raw);
} checks[] = {
    {"names", "job, policy and suite are named alike everywhere", check_names},
    {"plan", "every step is the one that follows from the job", check_plan},
    {"observations", "each is its step of the plan, with stamps that fit", check_observations},
    {"ledgers", "what was disturbed follows from ledgers and warmups", check_ledgers},
    {"sources", "sources, builds and second hashes fit together", check_sources},
    {"inventories", "their states follow from what they list", check_inventories},
    {"conditions", "recomputed from facts and policy, all equal", check_conditions},
};

static const char *missing_log(struct verify *v)
{
    for (size_t i = 0; i < v->raw->n_builds; i++) {
        const char *log = v->raw->builds[i].log;
        if (v->has_sums && (!log || !manifest_find(&v->sums, log)))
            return arena_printf(&v->a, "the log %s of a build is missing", log ? log : "");
    }
    return NULL;
}

void verify_report(struct verify *v)
{
    if (!v->raw)
        return;
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        const char *fault = checks[i].judge(&v->a, v->raw);
        verify_say(v, checks[i].check, fault ? TRI_FAIL : TRI_PASS, "%s",
                   fault ? fault : checks[i].good);
    }
    const char *missing = missing_log(v);
    if (missing)
        verify_say(v, "logs", TRI_FAIL, "%s", missing);
}

/* ---- the suite */

static const char *suite_hash_fault(struct verify *v)
{
    CLEANUP(mem_freep) char *dir = file_join(v->dir, "suite");
    CLEANUP(suite_pack_deinit) struct suite_pack pack = {0};
    struct err e = {0};

    if (suite_dir_pack(dir, &pack, &e) < 0)
        return arena_strdup(&v->a, e.text);
    if (!v->raw->suite_sha256 || strcmp(pack.sha256, v->raw->suite_sha256) != 0)
        return "the suite in this folder is not the one that was measured";
    return NULL;
}

void verify_suite(struct verify *v)
{
    const struct verify_text *t = &v->files[VERIFY_SUITE];
    struct suite *suite = NULL;
    struct err e = {0};

    if (!v->raw)
        return;
    if (!t->data) {
        verify_say(v, "suite", TRI_FAIL, "suite/suite.json is missing");
        return;
    }
    const char *fault = suite_hash_fault(v);
    if (!fault && suite_decode(&v->a, t->data, t->len, &suite, &e) < 0)
        fault = arena_printf(&v->a, "suite/suite.json: %s", e.text);
    if (!fault)
        fault = check_suite(&v->a, v->raw, suite);
    verify_say(v, "suite", fault ? TRI_FAIL : TRI_PASS, "%s",
               fault ? fault : "it is the one that was measured, with its records and builds");
}
