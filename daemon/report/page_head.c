/* The page's head: what was measured together, the reports with their grades, the hosts. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/session.h"
#include "report/number.h"
#include "report/page_parts.h"

#define TOOLS_SHOWN 40

static const char *or_unknown(const char *s)
{
    return s && *s ? s : "unknown";
}

/* ---- title */

static size_t count_grade(const struct page_input *in, enum grade grade)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n_reports; i++)
        n += in->reports[i].s->grade.value == grade;
    return n;
}

static void put_grades(const struct release *p)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    size_t n = p->in->n_reports;
    for (int g = GRADE_CONTRACTUAL; g <= GRADE_VOID; g++) {
        size_t count = count_grade(p->in, (enum grade)g);
        if (count)
            buf_printf(&text, "%s%zu %s", text.len ? ", " : "", count, grade_name((enum grade)g));
    }
    page_say(p->page,
             "%zu report%s: %s. A contractual report passes every predicate of its policy; a "
             "diagnostic one has limits, which stand beside its figures. Figures of different "
             "reports are never divided by each other.",
             n, n == 1 ? "" : "s", text.len ? buf_str(&text) : "none");
}

void part_title(const struct release *p)
{
    char when[32];
    const struct page_input *in = p->in;
    page_title(p->page, in->label && *in->label ? in->label : "Measurements");
    if (in->session && in->opened_wall_ms >= 0)
        page_say(p->page, "Session %s, opened %s.", in->session,
                 clock_iso(in->opened_wall_ms, when));
    else if (in->session)
        page_say(p->page, "Session %s.", in->session);
    put_grades(p);
}

/* ---- reports */

static const char *waivers_of(struct arena *a, const struct policy *policy)
{
    const char *list = NULL;
    for (int i = 0; i < COND_COUNT; i++)
        if (policy->rules[i].mode == RULE_WAIVE)
            list = arena_printf(a, "%s%s%s", list ? list : "", list ? ", " : "",
                                condition_title((enum condition)i));
    return list ? list : "none";
}

/* "3 FASTER, 1 UNRESOLVED" */
static const char *verdicts_of(const struct release *p, size_t index)
{
    size_t count[VERDICT_UNRESOLVED + 1] = {0};
    const char *list = NULL;
    struct member m;
    member_init(&m, p, index);
    for (size_t i = 0; i < m.r.s->n_comparisons; i++) {
        const struct comparison *c = &m.r.s->comparisons[i];
        if (comparison_has_verdict(&m, c) && !c->undefined)
            count[c->wall.verdict]++;
    }
    for (int v = VERDICT_FASTER; v <= VERDICT_UNRESOLVED; v++)
        if (count[v])
            list = arena_printf(p->a, "%s%s%zu %s", list ? list : "", list ? ", " : "", count[v],
                                verdict_name((enum verdict)v));
    for (int v = VALUE_EQUAL; v <= VALUE_INEXACT; v++) {
        size_t n = report_count_values(&m.r, (enum value_verdict)v);
        if (n)
            list = arena_printf(p->a, "%s%s%zu %s%s", list ? list : "", list ? ", " : "", n,
                                value_verdict_name((enum value_verdict)v),
                                v == VALUE_UNRESOLVED ? " of values" : "");
    }
    return list ? list : "none";
}

static bool policy_seen_before(const struct page_input *in, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (text_equal(in->reports[i].raw->policy.name, in->reports[index].raw->policy.name))
            return true;
    return false;
}

static void put_waivers(const struct release *p)
{
    for (size_t i = 0; i < p->in->n_reports; i++) {
        const struct policy *policy = &p->in->reports[i].raw->policy;
        for (int c = 0; c < COND_COUNT && !policy_seen_before(p->in, i); c++)
            if (policy->rules[c].mode == RULE_WAIVE)
                page_item(p->page, "policy %s waives %s: %s (%s)", policy->name,
                          condition_title((enum condition)c),
                          policy->rules[c].reason ? policy->rules[c].reason : "no reason given",
                          policy->rules[c].by ? policy->rules[c].by : "unnamed");
    }
}

static void put_missing(const struct release *p)
{
    for (size_t i = 0; i < p->in->n_missing; i++) {
        const struct page_missing *m = &p->in->missing[i];
        page_item(p->page, "job %s is %s and has no report%s%s", m->label, m->state,
                  m->why ? ": " : "", m->why ? m->why : "");
    }
}

void part_reports(const struct release *p)
{
    struct table t = {0};
    char when[32];
    page_section(p->page, "Reports", NULL);
    table_column(&t, "report", ALIGN_LEFT, 0);
    table_column(&t, "grade", ALIGN_LEFT, 1);
    table_column(&t, "verdicts", ALIGN_LEFT, 1);
    table_column(&t, "suite", ALIGN_LEFT, 1);
    table_column(&t, "policy", ALIGN_LEFT, 1);
    table_column(&t, "waived", ALIGN_LEFT, 1);
    table_column(&t, "host", ALIGN_LEFT, 1);
    table_column(&t, "made at", ALIGN_LEFT, 1);
    table_column(&t, "attempt", ALIGN_LEFT, 1);
    for (size_t i = 0; i < p->in->n_reports; i++) {
        const struct page_report *r = &p->in->reports[i];
        table_put(&t, p->names[i]);
        table_put(&t, grade_name(r->s->grade.value));
        table_put(&t, verdicts_of(p, i));
        table_put(&t, r->raw->job.suite_name);
        table_put(&t, r->raw->policy.name);
        table_put(&t, waivers_of(p->a, &r->raw->policy));
        table_put(&t, r->raw->host.name);
        table_put(&t,
                  r->raw->started_wall_ms >= 0 ? clock_iso(r->raw->started_wall_ms, when) : NULL);
        table_put(&t, r->raw->id);
    }
    page_table(p->page, &t);
    put_waivers(p);
    put_missing(p);
}

/* ---- hosts and boots */

static bool same_boot(const struct raw *a, const struct raw *b)
{
    return text_equal(a->host.id, b->host.id) && text_equal(a->host.name, b->host.name) &&
           text_equal(a->boot.id, b->boot.id);
}

static bool is_first_of_its_boot(const struct page_input *in, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_boot(in->reports[i].raw, in->reports[index].raw))
            return false;
    return true;
}

static bool was_quiet(const struct raw *raw)
{
    for (int i = 0; i < PHASE_COUNT; i++)
        if (!raw->phases[i].inventory || raw->phases[i].inventory->state != INVENTORY_QUIET)
            return false;
    return true;
}

/* What may be said of all reports of one boot. */
static const char *boot_label(const struct page_input *in, const struct raw *first)
{
    bool post_reboot = true, quiet = true;
    for (size_t i = 0; i < in->n_reports; i++) {
        const struct raw *raw = in->reports[i].raw;
        if (!same_boot(raw, first))
            continue;
        post_reboot = post_reboot && session_is_post_reboot(in->opened_boot, &raw->boot,
                                                            in->settle_ms, raw->started_wall_ms);
        quiet = quiet && was_quiet(raw);
    }
    if (!quiet)
        return post_reboot ? "post-reboot; the host was not seen quiet in every phase"
                           : "not post-reboot; the host was not seen quiet in every phase";
    return session_boot_label(post_reboot);
}

static void add_item(struct table *t, const char *name, const char *value)
{
    table_put(t, name);
    table_put(t, value);
}

static void add_machine(const struct release *p, const struct raw *raw, struct table *t)
{
    const struct host_identity *h = &raw->host;
    char bytes[NUMBER_MAX], when[32];
    struct arena *a = p->a;
    add_item(t, "Machine",
             arena_printf(a, "%s%s%s (%d cores, %s)", h->model && *h->model ? h->model : "",
                          h->model && *h->model ? " / " : "", or_unknown(h->cpu), h->cores,
                          number_bytes(bytes, h->memory_bytes)));
    add_item(t, "OS",
             arena_printf(a, "%s %s (%s)", or_unknown(h->arch), or_unknown(h->os),
                          or_unknown(h->kernel)));
    add_item(t, "Boot identity",
             arena_printf(a, "%s, %s", or_unknown(raw->boot.id),
                          raw->boot.boot_wall_ms >= 0 ? clock_iso(raw->boot.boot_wall_ms, when)
                                                      : "at an unknown time"));
    add_item(t, "Label", boot_label(p->in, raw));
    add_item(t, "Key", raw->host_key ? raw->host_key : "none: the evidence is not signed");
    add_item(
        t, "Clock",
        arena_printf(a, "%s, processors %s", or_unknown(raw->clock), or_unknown(raw->cpu_set)));
}

static bool tool_seen_before(const struct release *p, const struct raw *first, size_t report,
                             size_t tool)
{
    const struct raw_tool *mine = &p->in->reports[report].raw->tools[tool];
    for (size_t i = 0; i <= report; i++) {
        const struct raw *raw = p->in->reports[i].raw;
        size_t n = i == report ? tool : raw->n_tools;
        for (size_t j = 0; same_boot(raw, first) && j < n; j++)
            if (text_equal(raw->tools[j].name, mine->name) &&
                text_equal(raw->tools[j].path, mine->path) &&
                text_equal(raw->tools[j].version, mine->version))
                return true;
    }
    return false;
}

/* The tools of all reports of this boot, each once. */
static void add_tools(const struct release *p, const struct raw *first, struct table *t)
{
    size_t shown = 0;
    for (size_t i = 0; i < p->in->n_reports; i++) {
        const struct raw *raw = p->in->reports[i].raw;
        for (size_t j = 0; same_boot(raw, first) && j < raw->n_tools; j++) {
            const struct raw_tool *tool = &raw->tools[j];
            if (tool_seen_before(p, first, i, j) || shown++ >= TOOLS_SHOWN)
                continue;
            add_item(
                t, or_unknown(tool->name),
                arena_printf(p->a, "%s at %s", or_unknown(tool->version), or_unknown(tool->path)));
        }
    }
}

static void put_host(const struct release *p, size_t index)
{
    const struct raw *raw = p->in->reports[index].raw;
    struct table t = {0};
    page_subsection(p->page, or_unknown(raw->host.name), NULL);
    table_column(&t, "item", ALIGN_LEFT, 0);
    table_column(&t, "value", ALIGN_LEFT, 1);
    add_machine(p, raw, &t);
    add_tools(p, raw, &t);
    page_table(p->page, &t);
}

static size_t count_boots(const struct page_input *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n_reports; i++)
        n += is_first_of_its_boot(in, i);
    return n;
}

/* Which reports were made in which boot, where there are several. */
static void put_split(const struct release *p)
{
    const struct page_input *in = p->in;
    if (count_boots(in) < 2)
        return;
    page_say(p->page, "The reports were not all made in one boot of one host:");
    for (size_t i = 0; i < in->n_reports; i++) {
        const char *list = NULL;
        for (size_t j = i; is_first_of_its_boot(in, i) && j < in->n_reports; j++)
            if (same_boot(in->reports[i].raw, in->reports[j].raw))
                list =
                    arena_printf(p->a, "%s%s%s", list ? list : "", list ? ", " : "", p->names[j]);
        if (list)
            page_item(p->page, "%s, boot %s (%s): %s", or_unknown(in->reports[i].raw->host.name),
                      or_unknown(in->reports[i].raw->boot.id), boot_label(in, in->reports[i].raw),
                      list);
    }
}

void part_hosts(const struct release *p)
{
    if (!p->in->n_reports)
        return;
    page_section(p->page, "Hosts", NULL);
    put_split(p);
    for (size_t i = 0; i < p->in->n_reports; i++)
        if (is_first_of_its_boot(p->in, i))
            put_host(p, i);
}
