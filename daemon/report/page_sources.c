/* From which commits: each one once, whichever reports measured it, and its authorized correction.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "report/page_parts.h"

static bool same_correction(const struct raw_correction *a, const struct raw_correction *b)
{
    return a == b || (a && b && text_equal(a->base_commit, b->base_commit) &&
                      text_equal(a->diff_sha256, b->diff_sha256));
}

static bool same_source(const struct raw_source *a, const struct raw_source *b)
{
    if (!text_equal(a->side, b->side) || !text_equal(a->commit, b->commit) ||
        a->variant.n != b->variant.n || a->clean != b->clean || a->detached != b->detached)
        return false;
    for (size_t i = 0; i < a->variant.n; i++)
        if (!text_equal(a->variant.v[i], b->variant.v[i]))
            return false;
    return same_correction(a->correction, b->correction);
}

static bool has_source(const struct raw *raw, const struct raw_source *s)
{
    for (size_t i = 0; i < raw->n_sources; i++)
        if (same_source(&raw->sources[i], s))
            return true;
    return false;
}

static bool seen_before(const struct release *p, size_t report, const struct raw_source *s)
{
    for (size_t i = 0; i < report; i++)
        if (has_source(p->in->reports[i].raw, s))
            return true;
    return false;
}

static const char *reports_with(const struct release *p, const struct raw_source *s)
{
    const char *list = NULL;
    for (size_t i = 0; i < p->in->n_reports; i++)
        if (has_source(p->in->reports[i].raw, s))
            list = arena_printf(p->a, "%s%s%s", list ? list : "", list ? ", " : "", p->names[i]);
    return list;
}

static void add_source(const struct release *p, const struct raw_source *s, struct table *t)
{
    CLEANUP(buf_deinit) struct buf variant = {0};
    put_args(&variant, &s->variant);
    table_put(t, s->side);
    table_put(t, s->commit);
    table_cell(t, STYLE_PLAIN, "%s%s", s->rev ? s->rev : "unknown",
               s->correction ? ", corrected" : "");
    table_cell(t, STYLE_PLAIN, "%s, %s", s->clean ? "clean" : "not clean",
               s->detached ? "detached" : "on a branch");
    table_put(t, s->variant.n ? buf_str(&variant) : "as the suite says");
    table_put(t, reports_with(p, s));
}

static void put_correction(const struct release *p, const struct raw_source *s)
{
    const struct raw_correction *c = s->correction;
    page_item(p->page,
              "%s is measured at %s, an authorized correction of its base %s: %" PRId64
              " file%s, %" PRId64 " line%s added and %" PRId64 " removed, %s",
              s->side, c->corrected, c->base_commit, c->files, c->files == 1 ? "" : "s",
              c->lines_added, c->lines_added == 1 ? "" : "s", c->lines_removed,
              c->proven ? "proven to be exactly the allowed diff"
                        : "not proven to be the allowed diff");
    page_item(p->page, "approved by %s: %s (diff %s)", c->approved_by ? c->approved_by : "nobody",
              c->reason ? c->reason : "no reason given", c->diff_sha256);
}

static void put_corrections(const struct release *p)
{
    for (size_t i = 0; i < p->in->n_reports; i++) {
        const struct raw *raw = p->in->reports[i].raw;
        for (size_t j = 0; j < raw->n_sources; j++)
            if (raw->sources[j].correction && !seen_before(p, i, &raw->sources[j]))
                put_correction(p, &raw->sources[j]);
    }
}

void part_sources(const struct release *p)
{
    struct table t = {0};
    table_column(&t, "side", ALIGN_LEFT, 0);
    table_column(&t, "commit", ALIGN_LEFT, 1);
    table_column(&t, "revision", ALIGN_LEFT, 1);
    table_column(&t, "checkout", ALIGN_LEFT, 1);
    table_column(&t, "built with", ALIGN_LEFT, 1);
    table_column(&t, "reports", ALIGN_LEFT, 1);
    for (size_t i = 0; i < p->in->n_reports; i++) {
        const struct raw *raw = p->in->reports[i].raw;
        for (size_t j = 0; j < raw->n_sources; j++)
            if (!seen_before(p, i, &raw->sources[j]))
                add_source(p, &raw->sources[j], &t);
    }
    if (table_rows(&t))
        page_section(p->page, "Source commits", NULL);
    page_table(p->page, &t);
    put_corrections(p);
}
