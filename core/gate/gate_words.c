#include <inttypes.h>

#include "core/gate/gate_parts.h"

#define NAMED_MAX 12 /* names in a sentence */

bool gate_same_host(const struct raw *a, const struct raw *b)
{
    return text_equal(a->host.id, b->host.id) && text_equal(a->host.name, b->host.name);
}

const char *gate_what(struct arena *a, const struct target *t)
{
    const char *cpu = t->time == TARGET_CPU ? ", CPU time" : "";
    if (t->value)
        cpu = arena_printf(a, ", %s", t->value);
    const char *in = t->side ? t->side : "";
    if (t->kind == TARGET_SIZE)
        return arena_printf(a, "%s, size%s%s", t->file, *in ? " on " : "", in);
    if (t->kind == TARGET_SAMPLE)
        return arena_printf(a, "%s: p99 of %s, %s%s%s", t->workload, t->sample, t->lane,
                            *in ? " on " : "", in);
    if (t->kind == TARGET_RATIO)
        return arena_printf(a, "%s: %s / %s%s%s%s", t->workload, t->lane, t->reference, cpu,
                            *in ? " on " : "", in);
    return arena_printf(a, "%s: change of %s%s", t->workload, t->lane, cpu);
}

const char *gate_limit(struct arena *a, const struct target *t)
{
    if (t->kind == TARGET_RATIO)
        return arena_printf(a, "at most %.6f", t->max);
    if (t->kind == TARGET_CHANGE)
        return arena_printf(a, "at most %+.4f %%", t->max);
    if (t->kind == TARGET_SAMPLE)
        return arena_printf(a, "at most %" PRId64, t->max_p99);
    return arena_printf(a, "at most %" PRId64 " + 10 %%", t->bytes);
}

const char *gate_figure(struct arena *a, const struct target *t, double figure)
{
    return arena_printf(a, t->kind == TARGET_RATIO ? "%.6f" : "%+.4f %%", figure);
}

const char *gate_range(struct arena *a, const struct target *t, const struct interval *v)
{
    return arena_printf(a, "%s to %s", gate_figure(a, t, v->low), gate_figure(a, t, v->high));
}

/* ---- what there is instead */

struct names {
    struct arena *arena;
    const char *seen[NAMED_MAX];
    size_t n;
    bool more;
};

static void names_add(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (text_equal(names->seen[i], name))
            return;
    if (names->n < NAMED_MAX)
        names->seen[names->n++] = name;
    else
        names->more = true;
}

static const char *names_text(const struct names *names)
{
    const char *text = names->n ? names->seen[0] : "none";
    for (size_t i = 1; i < names->n; i++)
        text = arena_printf(names->arena, "%s, %s", text, names->seen[i]);
    return names->more ? arena_printf(names->arena, "%s and more", text) : text;
}

static void add_all(struct names *names, const struct target *t, const struct raw *raw)
{
    if (t->kind == TARGET_SIZE)
        for (size_t i = 0; i < raw->n_artifacts; i++)
            names_add(names, raw->artifacts[i].path);
    else
        for (size_t i = 0; i < raw->n_workloads; i++)
            names_add(names, raw->workloads[i].name);
}

const char *gate_nothing_has(struct arena *a, const struct target *t,
                             const struct gate_report *reports, size_t n, const struct raw *host)
{
    struct names names = {.arena = a};
    bool of_suite = false;
    for (size_t i = 0; i < n; i++)
        if (gate_same_host(reports[i].raw, host) &&
            (!t->suite || text_equal(t->suite, reports[i].raw->job.suite_name))) {
            of_suite = true;
            add_all(&names, t, reports[i].raw);
        }
    bool size = t->kind == TARGET_SIZE;
    if (!of_suite)
        return arena_printf(a, "no report of this host is of suite %s", t->suite);
    return arena_printf(a, "no report of this host%s%s has the %s %s; there is: %s",
                        t->suite ? " and suite " : "", t->suite ? t->suite : "",
                        size ? "file" : "workload", size ? t->file : t->workload,
                        names_text(&names));
}

/* Of workload t->workload; a lane that the job left out is one too, and has a row that says so. */
const char *gate_no_lane(struct arena *a, const struct target *t, const char *lane,
                         const struct raw *raw)
{
    struct names names = {.arena = a};
    for (size_t w = 0; w < raw->n_workloads; w++)
        if (text_equal(raw->workloads[w].name, t->workload))
            for (size_t l = 0; l < raw->workloads[w].n_lanes; l++)
                names_add(&names, raw->workloads[w].lanes[l].name);
    return arena_printf(a, "the report has no %slane %s on that side; %s has: %s",
                        t->value ? "values of " : "", lane, t->workload, names_text(&names));
}
