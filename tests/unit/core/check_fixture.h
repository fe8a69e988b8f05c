/* A report that agrees with itself, and a suite that it could be of. */
#pragma once

#include <string.h>

#include "base/mem.h"
#include "core/grade/check.h"
#include "core/quiet/qualify.h"
#include "raw_fixture.h"

/* The fixture, with what only these checks ask for. */
static inline struct raw *consistent(struct arena *a)
{
    struct raw *raw = raw_fixture(a);
    raw->job.policy = raw->policy.name;
    raw->job.suite_sha256 = raw->suite_sha256;
    raw->job.suite_name = "suite";
    raw->policy.sustained_pct = 50;
    raw->policy.aggregate_pct = 25;
    raw->policy.forks_per_second = 20;
    raw->host.cores = 2;
    for (size_t i = 0; i < raw->n_sources; i++) {
        raw->job.sources[i].repo = raw->sources[i].repo;
        raw->job.sources[i].rev = raw->sources[i].rev;
        raw->builds[i].attempt = raw->id;
        raw->builds[i].log = arena_printf(a, "logs/build-%s-0.txt", raw->builds[i].side);
    }
    for (int p = 0; p < PHASE_COUNT; p++) {
        const struct qualify_job job = {.is_comparison = true, .control_everywhere = true};
        qualify_conditions(a, &raw->policy, &raw->host, &raw->phases[0].facts,
                           &raw->phases[p].facts, &job, raw->phases[p].conditions);
    }
    return raw;
}

/* A suite that the report could be of. */
static inline struct suite *suite_for(struct arena *a, const struct raw *raw)
{
    static const char *const words[] = {"cp", "{source}/x", "{build}/x.{suite}", NULL};
    struct suite *s = arena_alloc(a, sizeof *s);
    s->name = "suite";
    s->n_workloads = raw->n_workloads;
    s->workloads = arena_array(a, raw->n_workloads, sizeof *s->workloads);
    for (size_t w = 0; w < raw->n_workloads; w++) {
        const struct raw_workload *r = &raw->workloads[w];
        struct workload *out = &s->workloads[w];
        *out = (struct workload){.name = r->name,
                                 .measure = r->measure,
                                 .ready = "READY",
                                 .done = "DONE",
                                 .declared_wait_ns = r->declared_wait_ns,
                                 .operations = r->operations,
                                 .resolution_ns = r->resolution_ns,
                                 .n_lanes = r->n_lanes};
        out->lanes = arena_array(a, r->n_lanes, sizeof *out->lanes);
        for (size_t l = 0; l < r->n_lanes; l++)
            out->lanes[l] = (struct lane){.name = r->lanes[l].name,
                                          .control = r->lanes[l].control,
                                          .startup = r->lanes[l].startup};
    }
    s->n_build = 1;
    s->build = arena_alloc(a, sizeof *s->build);
    s->build->n = 3;
    s->build->v = arena_array(a, 4, sizeof *s->build->v);
    memcpy(s->build->v, words, sizeof words);
    return s;
}

static inline void print_as_the_suite_asks(struct arena *a, struct raw *raw)
{
    static const char *const built[] = {"cp", "/w/s0/x", "/w/b0/x./w/suite", NULL};
    for (size_t i = 0; i < raw->n_observations; i++)
        raw->observations[i].stdout_bytes = raw->observations[i].ready ? 11 : 0;
    for (size_t i = 0; i < raw->n_builds; i++) {
        raw->builds[i].argv.n = 3;
        raw->builds[i].argv.v = arena_array(a, 4, sizeof *raw->builds[i].argv.v);
        memcpy(raw->builds[i].argv.v, built, sizeof built);
    }
}
