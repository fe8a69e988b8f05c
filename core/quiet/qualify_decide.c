#include "base/buf.h"
#include "core/quiet/qualify.h"

/* Competitors that a refusal names one by one. */
#define CAUSES_MAX 4

static double share_mean(const struct competitor *c)
{
    double sum = 0;
    for (size_t w = 0; w < INVENTORY_WINDOWS; w++)
        sum += c->share_pct[w];
    return sum / INVENTORY_WINDOWS;
}

static void cause_competitor(struct buf *b, const struct competitor *c)
{
    char reasons[64];
    if (c->pid)
        buf_printf(b, "%s (pid %d) at %.0f %% of a core", c->command, c->pid, share_mean(c));
    else if (c->reasons & COMPETE_FORKS)
        buf_printf(b, "%s", c->args ? c->args : "many new processes");
    else if (c->reasons & COMPETE_LANE_CPUS)
        buf_printf(b, "%.1f %% foreign time on %s", share_mean(c), c->args ? c->args : "a CPU");
    else
        buf_printf(b, "%.0f %% of a core that no process explains", share_mean(c));
    if (c->reasons & COMPETE_FORBIDDEN)
        buf_printf(b, " [%s]", compete_reasons_text(c->reasons, reasons));
}

static void cause_inventory(struct buf *b, const struct inventory *inv)
{
    if (!inv) {
        buf_puts(b, "no inventory was taken");
        return;
    }
    if (inv->state == INVENTORY_PARTIAL)
        buf_printf(b, "the inventory is partial (%s)%s",
                   inv->partial_reason ? inv->partial_reason : "no reason was given",
                   inv->n_competitors ? ", " : "");
    for (size_t i = 0; i < inv->n_competitors && i < CAUSES_MAX; i++) {
        buf_puts(b, i ? ", " : "");
        cause_competitor(b, &inv->competitors[i]);
    }
    if (inv->n_competitors > CAUSES_MAX)
        buf_printf(b, " and %zu more", inv->n_competitors - CAUSES_MAX);
}

static bool cause_conditions(struct buf *b, const struct condition_result *results)
{
    bool any = false;
    for (int c = 0; c < COND_COUNT; c++) {
        if (results[c].mode != RULE_REQUIRE || results[c].status != TRI_FAIL)
            continue;
        buf_printf(b, "%s%s: %s", any ? ", " : "", condition_title(results[c].condition),
                   results[c].seen);
        if (results[c].needed)
            buf_printf(b, " (needed: %s)", results[c].needed);
        any = true;
    }
    return any;
}

bool qualify_decide(struct arena *a, const struct phase_record *phase, bool allow_competing,
                    const char **reason)
{
    const struct inventory *inv = phase->inventory;
    bool noisy = !inv || inv->state != INVENTORY_QUIET;
    struct buf causes = {0}, failed = {0};

    *reason = NULL;
    if (allow_competing)
        return true;
    if (noisy) {
        buf_puts(&causes, "the host is not quiet: ");
        cause_inventory(&causes, inv);
    }
    bool fails = cause_conditions(&failed, phase->conditions);
    if (fails)
        buf_printf(&causes, "%sthe host does not meet the policy: %s", noisy ? "; " : "",
                   buf_str(&failed));
    bool refused = noisy || fails;
    if (refused)
        *reason = arena_printf(a, "%s%s%s", inv ? phase_title(inv->phase) : "", inv ? ", " : "",
                               buf_str(&causes));
    buf_deinit(&failed);
    buf_deinit(&causes);
    return !refused;
}
