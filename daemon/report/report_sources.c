#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/number.h"
#include "report/sections.h"

#define PRODUCTS_SHOWN 20
#define TOOLS_SHOWN 40
#define DIGITS 12 /* of a hash that raw.json has whole */

/* ---- what was measured */

static void put_sources(const struct report *r)
{
    struct table t = {0};
    table_column(&t, "side", ALIGN_LEFT, 0);
    table_column(&t, "commit", ALIGN_LEFT, 1);
    table_column(&t, "checkout", ALIGN_LEFT, 1);
    table_column(&t, "revision", ALIGN_WRAP, 1);
    for (size_t i = 0; i < r->raw->n_sources; i++) {
        const struct raw_source *s = &r->raw->sources[i];
        table_put(&t, s->side);
        table_put(&t, s->commit);
        table_cell(&t, s->clean && s->detached ? STYLE_PLAIN : STYLE_BAD, "%s, %s",
                   s->clean ? "clean" : "not clean", s->detached ? "detached" : "on a branch");
        table_put(&t, s->rev);
    }
    page_table(r->page, &t);
}

static void put_variants(const struct report *r)
{
    for (size_t i = 0; i < r->raw->n_sources; i++) {
        const struct raw_source *s = &r->raw->sources[i];
        CLEANUP(buf_deinit) struct buf variables = {0};
        put_args(&variables, &s->variant);
        if (s->variant.n)
            page_item(r->page, "%s is built with %.300s", s->side, buf_str(&variables));
    }
}

/* "base X + approved correction (2 lines in 1 file, by NAME: reason), diff sha256 ..." */
static void put_corrections(const struct report *r)
{
    for (size_t i = 0; i < r->raw->n_sources; i++) {
        const struct raw_source *s = &r->raw->sources[i];
        const struct raw_correction *c = s->correction;
        if (!c)
            continue;
        int64_t lines = c->lines_added > c->lines_removed ? c->lines_added : c->lines_removed;
        page_item(r->page,
                  "%s: base %s + %s correction (%lld line%s in %lld file%s, by %s: %s), diff "
                  "sha256 %s",
                  s->side, c->base_commit, c->proven ? "approved" : "unproven", (long long)lines,
                  lines == 1 ? "" : "s", (long long)c->files, c->files == 1 ? "" : "s",
                  c->approved_by, c->reason, c->diff_sha256);
    }
}

static void put_builds(const struct report *r)
{
    struct table t = {0};
    table_column(&t, "build", ALIGN_LEFT, 0);
    table_column(&t, "status", ALIGN_LEFT, 1);
    table_column(&t, "command", ALIGN_WRAP, 1);
    for (size_t i = 0; i < r->raw->n_builds; i++) {
        const struct raw_build *b = &r->raw->builds[i];
        CLEANUP(buf_deinit) struct buf command = {0};
        put_args(&command, &b->argv);
        table_put(&t, b->side);
        if (b->exit_status == 0)
            table_put(&t, "ok");
        else
            table_cell(&t, STYLE_BAD, "exit %d", b->exit_status);
        table_cell(&t, STYLE_PLAIN, "%.300s", buf_str(&command));
    }
    page_table(r->page, &t);
}

static void put_products(const struct report *r)
{
    struct table t = {0};
    char n[NUMBER_MAX];
    table_column(&t, "product", ALIGN_LEFT, 0);
    table_column(&t, "bytes", ALIGN_RIGHT, 1);
    table_column(&t, "sha256", ALIGN_LEFT, 1);
    table_column(&t, "path", ALIGN_WRAP, 1);
    for (size_t i = 0; i < r->raw->n_artifacts && i < PRODUCTS_SHOWN; i++) {
        const struct raw_artifact *a = &r->raw->artifacts[i];
        table_put(&t, a->side);
        table_put(&t, number_count(n, a->bytes));
        table_cell(&t, STYLE_PLAIN, "%.*s", DIGITS, a->sha256 ? a->sha256 : "unknown");
        table_put(&t, a->path);
    }
    page_table(r->page, &t);
    if (r->raw->n_artifacts > PRODUCTS_SHOWN)
        page_say(r->page, "and %zu more in raw.json", r->raw->n_artifacts - PRODUCTS_SHOWN);
}

static void put_tools(const struct report *r)
{
    struct table t = {0};
    table_column(&t, "tool", ALIGN_LEFT, 0);
    table_column(&t, "sha256", ALIGN_LEFT, 1);
    table_column(&t, "version and path", ALIGN_WRAP, 1);
    for (size_t i = 0; i < r->raw->n_tools && i < TOOLS_SHOWN; i++) {
        const struct raw_tool *tool = &r->raw->tools[i];
        table_put(&t, tool->name);
        table_cell(&t, STYLE_PLAIN, "%.*s", DIGITS, tool->sha256 ? tool->sha256 : "unknown");
        table_cell(&t, STYLE_PLAIN, "%.120s (%s)", tool->version ? tool->version : "no version",
                   tool->path ? tool->path : "not found");
    }
    page_table(r->page, &t);
}

static const char *changed_word(const struct raw_recheck *c)
{
    return c->again ? "changed during the measurement" : "was gone after timing";
}

static void put_rechecks(const struct report *r)
{
    size_t changed = 0;
    if (!r->raw->n_rechecks)
        return;
    for (size_t i = 0; i < r->raw->n_rechecks; i++) {
        const struct raw_recheck *c = &r->raw->rechecks[i];
        if (c->again && text_equal(c->sha256, c->again))
            continue;
        changed++;
        page_item(r->page, "%s %s %s", recheck_kind_name(c->kind), c->name ? c->name : "unnamed",
                  changed_word(c));
    }
    page_say(r->page, "Hashed again after timing: %zu of %zu are the same.",
             r->raw->n_rechecks - changed, r->raw->n_rechecks);
}

void section_sources(const struct report *r)
{
    page_section(r->page, "Sources and tools",
                 "hashes are shortened here; raw.json has them whole");
    if (!r->raw->job.n_sources && !r->raw->job.is_run)
        page_say(r->page, "The job names no sources: it measures the suite as it stands.");
    put_sources(r);
    put_variants(r);
    put_corrections(r);
    put_builds(r);
    put_products(r);
    put_tools(r);
    put_rechecks(r);
}

/* ---- where, and how */

static void add_fact(struct table *t, const char *name, const char *value)
{
    table_put(t, name);
    table_put(t, value);
}

static void add_text(struct table *t, const char *name, struct buf *value)
{
    add_fact(t, name, buf_str(value));
    buf_clear(value);
}

static const char *or_unknown(const char *s)
{
    return s && *s ? s : "unknown";
}

static void add_machine(const struct report *r, struct table *t, struct buf *text)
{
    const struct host_identity *h = &r->raw->host;
    char bytes[NUMBER_MAX], when[32];
    add_fact(t, "host", or_unknown(h->name));
    buf_printf(text, "%s; %s; %d cores; %s", h->model && *h->model ? h->model : "model unknown",
               or_unknown(h->cpu), h->cores, number_bytes(bytes, h->memory_bytes));
    add_text(t, "machine", text);
    buf_printf(text, "%s, %s, %s", or_unknown(h->os), or_unknown(h->kernel), or_unknown(h->arch));
    add_text(t, "system", text);
    buf_puts(text, or_unknown(r->raw->boot.id));
    if (r->raw->boot.boot_wall_ms >= 0)
        buf_printf(text, ", booted %s", clock_iso(r->raw->boot.boot_wall_ms, when));
    add_text(t, "boot", text);
    buf_printf(text, "%s, processors %s", or_unknown(r->raw->clock), or_unknown(r->raw->cpu_set));
    add_text(t, "clock", text);
}

static void add_method(const struct report *r, struct table *t, struct buf *text)
{
    const struct raw *raw = r->raw;
    buf_printf(text, "%s, %s", or_unknown(raw->job.suite_name), or_unknown(raw->suite_sha256));
    add_text(t, "suite", text);
    buf_printf(text, "%d repetition%s and %d warmup%s per lane and side, %s", raw->job.repetitions,
               raw->job.repetitions == 1 ? "" : "s", raw->job.warmups,
               raw->job.warmups == 1 ? "" : "s", order_name(raw->job.order));
    add_text(t, "plan", text);
    buf_printf(text, "aurabenchd %s", or_unknown(raw->version));
    add_text(t, "made by", text);
}

void section_host(const struct report *r)
{
    struct table t = {.headless = r->page->form == PAGE_TEXT};
    CLEANUP(buf_deinit) struct buf text = {0};
    page_section(r->page, "Host and method", NULL);
    table_column(&t, "item", ALIGN_LEFT, 0);
    table_column(&t, "value", ALIGN_WRAP, 1);
    add_machine(r, &t, &text);
    add_method(r, &t, &text);
    page_table(r->page, &t);
}
