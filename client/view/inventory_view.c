#include "client/view/inventory_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/view/table.h"

#define NAMED_MAX 3

static void put_partial(const struct inventory *inv, struct buf *out)
{
    const char *why = inv->partial_reason ? inv->partial_reason : "the inventory is not complete";

    buf_puts(out, "not known to be quiet: ");
    term_clean(out, why, strlen(why), 0);
}

void inventory_line(const struct inventory *inv, struct buf *out)
{
    size_t n = inv->n_competitors;

    if (inv->state == INVENTORY_QUIET)
        buf_printf(out, "quiet: no competitor among %zu processes", inv->n_procs);
    else if (inv->state == INVENTORY_PARTIAL && n == 0)
        put_partial(inv, out);
    else
        buf_printf(out, "not quiet: %zu competitor%s among %zu processes", n, n == 1 ? "" : "s",
                   inv->n_procs);
}

static double larger_share(const struct competitor *c)
{
    return c->share_pct[0] > c->share_pct[1] ? c->share_pct[0] : c->share_pct[1];
}

void inventory_names(const struct inventory *inv, struct buf *out)
{
    size_t shown = inv->n_competitors < NAMED_MAX ? inv->n_competitors : NAMED_MAX;

    for (size_t i = 0; i < shown; i++) {
        const struct competitor *c = &inv->competitors[i];
        const char *name = c->command ? c->command : "?";
        buf_puts(out, i ? ", " : "");
        term_clean(out, name, strlen(name), 0);
        if (c->pid > 0)
            buf_printf(out, " (pid %d)", c->pid);
        if (!(c->reasons & COMPETE_FORKS))
            buf_printf(out, " %.0f %%", larger_share(c));
    }
    if (inv->n_competitors > shown)
        buf_printf(out, " and %zu more", inv->n_competitors - shown);
}

static void put_competitor(struct table *t, const struct competitor *c)
{
    char why[64], pid[16] = "";

    if (c->pid > 0)
        (void)snprintf(pid, sizeof pid, "%d", c->pid);
    table_cell(t, TERM_PLAIN, "%s", pid);
    table_cell(t, TERM_PLAIN, "%s", c->command ? c->command : "?");
    if (c->reasons & COMPETE_FORKS)
        table_cell(t, TERM_PLAIN, "%s", "");
    else
        table_cell(t, TERM_PLAIN, "%.1f %%, %.1f %%", c->share_pct[0], c->share_pct[1]);
    table_cell(t, c->reasons ? TERM_RED : TERM_DIM, "%s",
               c->reasons ? compete_reasons_text(c->reasons, why) : "under the limits");
    table_cell(t, TERM_PLAIN, "%s", c->args ? c->args : "");
}

void inventory_table(const struct inventory *inv, bool hints, const struct term *term,
                     struct buf *out)
{
    static const struct table_column columns[] = {
        {"PID", true, false},      {"COMMAND", false, false},  {"OF A CORE", true, false},
        {"BECAUSE", false, false}, {"ARGUMENTS", false, true},
    };
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < inv->n_competitors; i++)
        put_competitor(t, &inv->competitors[i]);
    for (size_t i = 0; hints && i < inv->n_hints; i++)
        put_competitor(t, &inv->hints[i]);
    if (table_rows(t))
        table_print(t, term, 2, out);
    table_free(t);
}

void inventory_left_out(int64_t n, struct buf *out)
{
    if (n > 0)
        buf_printf(out, "  and %" PRId64 " more competitor%s\n", n, n == 1 ? "" : "s");
}

enum term_style tri_style(enum tri t)
{
    static const enum term_style styles[] = {TERM_GREEN, TERM_RED, TERM_YELLOW, TERM_DIM};

    return (size_t)t < ARRAY_LEN(styles) ? styles[t] : TERM_PLAIN;
}

static bool is_shown(const struct condition_result *r, bool all)
{
    bool good = r->status == TRI_PASS || r->status == TRI_NOT_APPLICABLE;

    return all || (!good && r->mode == RULE_REQUIRE);
}

/* What was seen; the word that stands in the column before it is not said twice. */
static const char *seen_text(const struct condition_result *r)
{
    static const char again[] = "unknown: ";
    const char *seen = r->seen ? r->seen : "";
    bool twice = r->status == TRI_UNKNOWN && strncmp(seen, again, sizeof again - 1) == 0;

    return twice ? seen + sizeof again - 1 : seen;
}

void conditions_table(const struct condition_result results[COND_COUNT], bool all,
                      const struct term *term, struct buf *out)
{
    static const struct table_column columns[] = {
        {"CONDITION", false, false},
        {"", false, false},
        {"SEEN", false, true},
        {"NEEDED", false, true},
    };
    struct table *t = table_new(columns, ARRAY_LEN(columns));

    for (size_t i = 0; i < COND_COUNT; i++) {
        const struct condition_result *r = &results[i];
        const char *status = r->status == TRI_NOT_APPLICABLE ? "n/a" : tri_name(r->status);
        if (!is_shown(r, all))
            continue;
        table_cell(t, TERM_PLAIN, "%s", condition_title(r->condition));
        table_cell(t, tri_style(r->status), "%s", status);
        table_cell(t, TERM_PLAIN, "%s", seen_text(r));
        table_cell(t, TERM_DIM, "%s",
                   r->mode == RULE_WAIVE    ? "waived"
                   : r->mode == RULE_RECORD ? "recorded only"
                   : r->needed              ? r->needed
                                            : "");
    }
    if (table_rows(t))
        table_print(t, term, 2, out);
    table_free(t);
}
