#include "host/fake_ledger.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "host/script.h"

#define FAKE "fake"

static const struct {
    const char *name;
    size_t at;
} members[] = {
#define OF_LEDGER(m)                                                                               \
    {                                                                                              \
#m, offsetof(struct raw_observation, ledger.m)                                             \
    }
    OF_LEDGER(span_ns),           OF_LEDGER(lane_cpu_ns),       OF_LEDGER(observer_cpu_ns),
    OF_LEDGER(near_foreign_ns),   OF_LEDGER(far_foreign_ns),    OF_LEDGER(steal_ns),
    OF_LEDGER(lane_delay_ns),     OF_LEDGER(lane_preemptions),  OF_LEDGER(pressure_us),
    OF_LEDGER(throttles),         OF_LEDGER(swapped_pages),
#define OF_OBSERVER(m)                                                                             \
    {                                                                                              \
#m, offsetof(struct raw_observation, m)                                                    \
    }
    OF_OBSERVER(runner_cpu_ns),   OF_OBSERVER(runner_switches), OF_OBSERVER(daemon_cpu_ns),
    OF_OBSERVER(daemon_switches),
};

static bool is_there(const char *dir, struct arena *a, struct script *s)
{
    return script_open(dir, a, "ledger", s, NULL) == 0 && s->text[0];
}

bool fake_ledger_sources(const char *dir, struct ledger_sources *out)
{
    struct arena a = {0};
    struct script s;
    bool there = is_there(dir, &a, &s);

    arena_deinit(&a);
    *out = LEDGER_NO_SOURCES;
    if (there)
        *out = (struct ledger_sources){FAKE, 1, FAKE, FAKE, FAKE, 1, FAKE, FAKE, FAKE, FAKE};
    return there;
}

static bool set(struct raw_observation *o, const char *name, const char *value)
{
    int64_t v = -1;

    if (!value || (strcmp(value, "?") != 0 && !script_int(value, &v)))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (strcmp(members[i].name, name) != 0)
            continue;
        memcpy((char *)o + members[i].at, &v, sizeof v);
        return true;
    }
    return false;
}

/* "near_foreign_ns 0", or "at 7 near_foreign_ns 5000000" for the plan's observation 7 alone. */
static bool ledger_line(char *line, struct raw_observation *o)
{
    struct raw_observation other;
    const char *name = script_word(&line);
    int64_t seq = o->seq;

    if (strcmp(name, "at") == 0) {
        if (!script_int(script_word(&line), &seq) || !(name = script_word(&line)))
            return false;
    }
    return set(seq == o->seq ? o : &other, name, script_word(&line));
}

static void know_nothing(struct raw_observation *o)
{
    o->ledger = LEDGER_UNKNOWN;
    o->runner_switches = o->daemon_cpu_ns = o->daemon_switches = -1;
}

/* A silent host. */
static void know_all(struct raw_observation *o)
{
    int64_t span_ns = o->elapsed_ns >= 0 ? o->elapsed_ns : 0;

    o->ledger = (struct ledger){.span_ns = span_ns, .lane_cpu_ns = o->interval_cpu_ns};
    o->runner_cpu_ns = 1000;
    o->runner_switches = 1;
    o->daemon_cpu_ns = o->daemon_switches = 0;
}

void fake_ledger_observed(const char *dir, struct raw_observation *o)
{
    struct arena a = {0};
    struct script s;

    know_nothing(o);
    if (is_there(dir, &a, &s)) {
        know_all(o);
        for (char *line; (line = script_line(&s));) {
            if (!ledger_line(line, o)) {
                know_nothing(o);
                break;
            }
        }
    }
    arena_deinit(&a);
}
