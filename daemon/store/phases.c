/* Phases: inventory, competitors, hints, conditions, facts. */
#include <string.h>

#include "base/mem.h"
#include "store/rows.h"

WORDS(inventory_state, inventory_state);
WORDS(condition, condition);
WORDS(tri, tri);
WORDS(rule_mode, rule_mode);
WORDS(fact, fact_id);
WORDS(fact_state, fact_state);

/* ---- the inventory itself ---- */

static const struct field inventory_fields[] = {
    F_WORD(struct inventory, state, inventory_state),
    F(struct inventory, wall_ms),
    F(struct inventory, partial_reason),
    F_AS(struct inventory, window_ns[0], "window1_ns"),
    F_AS(struct inventory, window_ns[1], "window2_ns"),
    F_AS(struct inventory, aggregate_pct[0], "aggregate1_pct"),
    F_AS(struct inventory, aggregate_pct[1], "aggregate2_pct"),
    F(struct inventory, forks_per_second),
    F_AS(struct inventory, n_procs, "processes"),
};

static int add_inventory(struct store *s, const char *attempt, enum phase phase,
                         const struct phase_record *record, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO inventories (attempt, phase, facts_ms, wall_ms, state, partial_reason,"
        " window1_ns, window2_ns, aggregate1_pct, aggregate2_pct, forks_per_second, processes)"
        " VALUES (:attempt, :phase, :facts_ms, :wall_ms, :state, :partial_reason, :window1_ns,"
        " :window2_ns, :aggregate1_pct, :aggregate2_pct, :forks_per_second, :processes)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_text(&q, ":phase", phase_name(phase));
    query_int(&q, ":facts_ms", record->facts.wall_ms);
    if (record->inventory)
        query_bind(&q, inventory_fields, ARRAY_LEN(inventory_fields), record->inventory);
    return query_run(&q, e);
}

/* ---- competitors and hints ---- */

static const struct field competitor_fields[] = {
    F(struct competitor, pid),
    F(struct competitor, ppid),
    F_OPT(struct competitor, uid),
    F_OPT(struct competitor, start_ticks),
    F(struct competitor, command),
    F(struct competitor, args),
    F(struct competitor, cwd),
    F_AS(struct competitor, share_pct[0], "share1_pct"),
    F_AS(struct competitor, share_pct[1], "share2_pct"),
};

static int add_competitor(struct store *s, const char *attempt, enum phase phase, const char *kind,
                          int seq, const struct competitor *c, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO competitors (attempt, phase, kind, seq, pid, ppid, uid, start_ticks, command,"
        " args, cwd, share1_pct, share2_pct, reasons)"
        " VALUES (:attempt, :phase, :kind, :seq, :pid, :ppid, :uid, :start_ticks, :command, :args,"
        " :cwd, :share1_pct, :share2_pct, :reasons)";
    char reasons[64];
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_text(&q, ":phase", phase_name(phase));
    query_text(&q, ":kind", kind);
    query_int(&q, ":seq", seq);
    query_bind(&q, competitor_fields, ARRAY_LEN(competitor_fields), c);
    query_text(&q, ":reasons", c->reasons ? compete_reasons_text(c->reasons, reasons) : NULL);
    return query_run(&q, e);
}

static int add_competitors(struct store *s, const char *attempt, enum phase phase, const char *kind,
                           const struct competitor *list, size_t n, struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_competitor(s, attempt, phase, kind, (int)i, &list[i], e);
    return rc;
}

/* ---- conditions and facts ---- */

static const struct field condition_fields[] = {
    F_WORD(struct condition_result, condition, condition),
    F_WORD(struct condition_result, status, tri),
    F_WORD(struct condition_result, mode, rule_mode),
    F(struct condition_result, seen),
    F(struct condition_result, needed),
};

static int add_condition(struct store *s, const char *attempt, enum phase phase,
                         const struct condition_result *c, struct err *e)
{
    static const char SQL[] =
        "INSERT INTO conditions (attempt, phase, condition, status, mode, seen, needed)"
        " VALUES (:attempt, :phase, :condition, :status, :mode, :seen, :needed)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_text(&q, ":phase", phase_name(phase));
    query_bind(&q, condition_fields, ARRAY_LEN(condition_fields), c);
    return query_run(&q, e);
}

/* In the host's facts the position says which fact it is; in a row its name does. */
struct fact_row {
    enum fact_id id;
    struct fact fact;
};

static const struct field fact_fields[] = {
    F_WORD_AS(struct fact_row, id, "fact", fact),
    F_WORD_AS(struct fact_row, fact.state, "state", fact_state),
    F_AS(struct fact_row, fact.value, "value"),
    F_AS(struct fact_row, fact.text, "text"),
    F_AS(struct fact_row, fact.source, "source"),
};

static int add_fact(struct store *s, const char *attempt, enum phase phase,
                    const struct fact_row *row, struct err *e)
{
    static const char SQL[] = "INSERT INTO facts (attempt, phase, fact, state, value, text, source)"
                              " VALUES (:attempt, :phase, :fact, :state, :value, :text, :source)";
    struct query q;
    query_begin(&q, s, SQL);
    query_text(&q, ":attempt", attempt);
    query_text(&q, ":phase", phase_name(phase));
    query_bind(&q, fact_fields, ARRAY_LEN(fact_fields), row);
    return query_run(&q, e);
}

/* ---- one phase ---- */

static int add_judgement(struct store *s, const char *attempt, enum phase phase,
                         const struct phase_record *record, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < COND_COUNT && rc == 0; i++) {
        struct condition_result row = record->conditions[i];
        row.condition = (enum condition)i; /* the position says which one it is */
        rc = add_condition(s, attempt, phase, &row, e);
    }
    for (int i = 0; i < FACT_COUNT && rc == 0; i++) {
        const struct fact_row row = {(enum fact_id)i, record->facts.facts[i]};
        rc = add_fact(s, attempt, phase, &row, e);
    }
    return rc;
}

static int add_phase(struct store *s, const char *attempt, enum phase phase,
                     const struct phase_record *record, struct err *e)
{
    const struct inventory *inv = record->inventory;
    int rc = add_inventory(s, attempt, phase, record, e);
    if (rc == 0 && inv)
        rc = add_competitors(s, attempt, phase, "competitor", inv->competitors, inv->n_competitors,
                             e);
    if (rc == 0 && inv)
        rc = add_competitors(s, attempt, phase, "hint", inv->hints, inv->n_hints, e);
    return rc ? rc : add_judgement(s, attempt, phase, record, e);
}

int store_put_phase(struct store *s, const char *attempt, enum phase phase,
                    const struct phase_record *record, struct err *e)
{
    int rc = tx_begin(s, e);
    return rc ? rc : tx_end(s, add_phase(s, attempt, phase, record, e), e);
}

/* ---- reading back ---- */

static void begin_of_phase(struct query *q, struct store *s, const char *sql, const char *attempt,
                           enum phase phase)
{
    query_begin(q, s, sql);
    query_text(q, ":attempt", attempt);
    query_text(q, ":phase", phase_name(phase));
}

static int load_inventory(struct store *s, const char *attempt, enum phase phase, struct arena *a,
                          struct phase_record *out, struct err *e)
{
    static const char SQL[] =
        "SELECT state, wall_ms, partial_reason, window1_ns, window2_ns, aggregate1_pct,"
        " aggregate2_pct, forks_per_second, processes, facts_ms"
        " FROM inventories WHERE attempt = :attempt AND phase = :phase";
    struct query q;
    begin_of_phase(&q, s, SQL, attempt, phase);
    if (query_row(&q)) {
        out->facts.wall_ms = query_col_int(&q, (int)ARRAY_LEN(inventory_fields));
        if (sqlite3_column_type(q.st, 0) != SQLITE_NULL) {
            out->inventory = arena_alloc(a, sizeof *out->inventory);
            out->inventory->phase = phase;
            query_read(&q, inventory_fields, ARRAY_LEN(inventory_fields), a, out->inventory);
        }
    }
    return query_end(&q, e);
}

static const char COMPETITORS_SQL[] =
    "SELECT pid, ppid, uid, start_ticks, command, args, cwd, share1_pct, share2_pct, reasons"
    " FROM competitors WHERE attempt = :attempt AND phase = :phase AND kind = :kind ORDER BY seq";

static void read_competitor(struct query *q, struct arena *a, struct competitor *c)
{
    const char *reasons =
        (const char *)sqlite3_column_text(q->st, (int)ARRAY_LEN(competitor_fields));
    int parsed = reasons ? compete_reasons_parse(reasons) : 0;
    *c = (struct competitor){0};
    query_read(q, competitor_fields, ARRAY_LEN(competitor_fields), a, c);
    if (parsed < 0)
        query_unreadable(q, "a reason that this version does not know");
    else
        c->reasons = (unsigned)parsed;
}

static int load_competitors(struct store *s, const char *attempt, enum phase phase,
                            const char *kind, struct arena *a, struct competitor **out, size_t *n,
                            struct err *e)
{
    CLEANUP(mem_freep) struct competitor *list = NULL;
    size_t cap = 0;
    struct query q;
    *n = 0;
    begin_of_phase(&q, s, COMPETITORS_SQL, attempt, phase);
    query_text(&q, ":kind", kind);
    while (query_row(&q)) {
        MEM_GROW(list, *n, cap);
        read_competitor(&q, a, &list[(*n)++]);
    }
    *out = arena_array(a, *n, sizeof **out);
    if (*n)
        memcpy(*out, list, *n * sizeof **out);
    return query_end(&q, e);
}

/* A condition without a row, of a phase not taken or from before it was known, is UNKNOWN. */
static int load_conditions(struct store *s, const char *attempt, enum phase phase, struct arena *a,
                           struct phase_record *out, struct err *e)
{
    static const char SQL[] = "SELECT condition, status, mode, seen, needed FROM conditions"
                              " WHERE attempt = :attempt AND phase = :phase";
    struct query q;
    for (int i = 0; i < COND_COUNT; i++)
        out->conditions[i] =
            (struct condition_result){.condition = (enum condition)i, .status = TRI_UNKNOWN};
    begin_of_phase(&q, s, SQL, attempt, phase);
    while (query_row(&q)) {
        struct condition_result row = {0};
        query_read(&q, condition_fields, ARRAY_LEN(condition_fields), a, &row);
        if (q.code == SQLITE_OK)
            out->conditions[row.condition] = row;
    }
    return query_end(&q, e);
}

static int load_facts(struct store *s, const char *attempt, enum phase phase, struct arena *a,
                      struct phase_record *out, struct err *e)
{
    static const char SQL[] = "SELECT fact, state, value, text, source FROM facts"
                              " WHERE attempt = :attempt AND phase = :phase";
    struct query q;
    begin_of_phase(&q, s, SQL, attempt, phase);
    while (query_row(&q)) {
        struct fact_row row = {0};
        query_read(&q, fact_fields, ARRAY_LEN(fact_fields), a, &row);
        if (q.code == SQLITE_OK)
            out->facts.facts[row.id] = row.fact;
    }
    return query_end(&q, e);
}

static int load_phase(struct store *s, const char *attempt, enum phase phase, struct arena *a,
                      struct phase_record *out, struct err *e)
{
    *out = (struct phase_record){0};
    int rc = load_inventory(s, attempt, phase, a, out, e);
    struct inventory *inv = out->inventory;
    if (rc == 0 && inv)
        rc = load_competitors(s, attempt, phase, "competitor", a, &inv->competitors,
                              &inv->n_competitors, e);
    if (rc == 0 && inv)
        rc = load_competitors(s, attempt, phase, "hint", a, &inv->hints, &inv->n_hints, e);
    if (rc == 0)
        rc = load_conditions(s, attempt, phase, a, out, e);
    return rc ? rc : load_facts(s, attempt, phase, a, out, e);
}

int store_load_phases(struct store *s, const char *attempt, struct arena *a, struct raw *raw,
                      struct err *e)
{
    int rc = 0;
    for (int p = 0; p < PHASE_COUNT && rc == 0; p++)
        rc = load_phase(s, attempt, (enum phase)p, a, &raw->phases[p], e);
    return rc;
}
