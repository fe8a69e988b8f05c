/* The scripted host: for tests of the daemon, which cannot wait for a real host to become noisy,
 * lose its power or reboot. host_fake.h describes its files. */
#include "host/host_fake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/mem.h"
#include "host/fake_ledger.h"
#include "host/probe.h"
#include "host/script.h"

#define CORES_MAX 1024
#define TICK_MIN_NS 1000
#define WALL_OFFSET_MAX_MS (100LL * 366 * 86400000)

struct fake_probe {
    struct host_probe base; /* first: the probe is cast back */
    char *dir;
};

static const char *dir_of(const struct host_probe *base)
{
    return ((const struct fake_probe *)base)->dir;
}

/* ---- identity */

struct fake_host {
    struct host_identity id;
    struct boot_identity boot;
    int64_t wall_offset_ms, suspend_ms;
};

static bool identity_number(struct fake_host *h, const char *key, const char *value)
{
    int64_t n;
    if (!script_int(value, &n))
        return false;
    if (strcmp(key, "cores") == 0 && n > 0 && n <= CORES_MAX)
        h->id.cores = (int)n;
    else if (strcmp(key, "memory_bytes") == 0)
        h->id.memory_bytes = n;
    else if (strcmp(key, "tick_ns") == 0 && n >= TICK_MIN_NS)
        h->id.tick_ns = n;
    else if (strcmp(key, "boot_wall_ms") == 0)
        h->boot.boot_wall_ms = n;
    else if (strcmp(key, "wall_offset_ms") == 0 && n < WALL_OFFSET_MAX_MS)
        h->wall_offset_ms = n;
    else if (strcmp(key, "suspend_ms") == 0 && n >= 0)
        h->suspend_ms = n;
    else
        return false;
    return true;
}

static bool identity_set(struct fake_host *h, const char *key, const char *value)
{
    const struct {
        const char *key;
        const char **field;
    } texts[] = {
        {"name", &h->id.name}, {"id", &h->id.id},        {"model", &h->id.model},
        {"cpu", &h->id.cpu},   {"os", &h->id.os},        {"kernel", &h->id.kernel},
        {"arch", &h->id.arch}, {"boot_id", &h->boot.id},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (strcmp(key, texts[i].key) != 0)
            continue;
        *texts[i].field = value;
        return true;
    }
    return identity_number(h, key, value);
}

static int fake_host_read(const struct fake_probe *p, struct arena *a, struct fake_host *h,
                          struct err *e)
{
    struct script s;
    char hex[DIGEST_HEX];
    digest_bytes("fake host", strlen("fake host"), hex);
    *h = (struct fake_host){
        .id = {.name = "fake",
               .id = arena_strdup(a, hex),
               .model = "Fake Host",
               .cpu = "Fake CPU",
               .cores = 2,
               .memory_bytes = 8LL << 30,
               .os = "Fake OS 1",
               .kernel = "Fake 1.0",
               .arch = "x86_64",
               .tick_ns = 1000000},
        .boot = {.id = "00000000-0000-4000-8000-000000000001", .boot_wall_ms = 1700000000000},
    };
    int rc = script_open(p->dir, a, "identity", &s, e);
    for (char *line; rc == 0 && (line = script_line(&s));) {
        const char *key = script_word(&line);
        if (!identity_set(h, key, line ? line : ""))
            rc = script_error(&s, e);
    }
    return rc;
}

static int fake_identity(struct host_probe *base, struct arena *a, struct host_identity *out,
                         struct err *e)
{
    struct fake_host h;
    int rc = fake_host_read((struct fake_probe *)base, a, &h, e);
    *out = h.id;
    return rc;
}

static int fake_boot(struct host_probe *base, struct arena *a, struct boot_identity *out,
                     struct err *e)
{
    struct fake_host h;
    int rc = fake_host_read((struct fake_probe *)base, a, &h, e);
    *out = h.boot;
    return rc;
}

/* The clocks, without the texts; a script that cannot be read says nothing. */
static struct fake_host fake_clocks(struct host_probe *base)
{
    struct arena a = {0};
    struct fake_host h;
    if (fake_host_read((struct fake_probe *)base, &a, &h, NULL) != 0)
        h = (struct fake_host){0};
    arena_deinit(&a);
    return (struct fake_host){.wall_offset_ms = h.wall_offset_ms, .suspend_ms = h.suspend_ms};
}

static int64_t fake_wall_ms(struct host_probe *base)
{
    return clock_wall_ms() + fake_clocks(base).wall_offset_ms;
}

static int64_t fake_suspend_ms(struct host_probe *base)
{
    return fake_clocks(base).suspend_ms;
}

/* ---- facts */

static int64_t ticks_of(double pct, int64_t ns, int64_t tick_ns)
{
    return ns > 0 ? (int64_t)((double)ns / (double)tick_ns * pct / 100) : 0;
}

/* A good host on bare metal. */
static void facts_default(const struct fake_host *h, struct fact *f)
{
    int64_t now_ns = clock_mono_ns();
    f[FACT_MAINS] = fact_absent("no battery", NULL);
    f[FACT_LOW_POWER] = fact_known(0, NULL, NULL);
    f[FACT_GOVERNOR] = fact_known(0, "performance", NULL);
    f[FACT_BOOST] = fact_known(0, NULL, NULL);
    f[FACT_ENERGY] = fact_known(0, "performance", NULL);
    f[FACT_THROTTLES] = fact_known(0, NULL, NULL);
    f[FACT_THERMAL_STATE] = fact_known(0, NULL, NULL);
    f[FACT_STEAL_TICKS] = fact_known(0, NULL, NULL);
    f[FACT_CPU_TICKS] =
        fact_known(ticks_of(100.0 * h->id.cores, now_ns, h->id.tick_ns), NULL, NULL);
    f[FACT_SWAP_IN] = fact_known(0, NULL, NULL);
    f[FACT_MEMORY_AVAILABLE] = fact_known(h->id.memory_bytes / 2, NULL, NULL);
    f[FACT_MEMORY_TOTAL] = fact_known(h->id.memory_bytes, NULL, NULL);
    f[FACT_UPTIME] = fact_known(3600000 + now_ns / 1000000, NULL, NULL);
    f[FACT_SUSPEND] = fact_known(h->suspend_ms, NULL, NULL);
    f[FACT_PID_NAMESPACE] = fact_known(1, NULL, NULL);
    f[FACT_VIRTUAL] = fact_known(0, "bare metal", NULL);
    f[FACT_CALIBRATION] = fact_unknown("no calibration of this boot is known", NULL);
}

/* "governor known - performance", "boost unknown - why", "steal_pct 1.5" */
static bool facts_line(char *line, const struct fake_host *h, struct fact *f)
{
    const char *name = script_word(&line), *state = script_word(&line), *value;
    double pct;
    int64_t n = 0;
    int id = fact_parse(name), s = state ? fact_state_parse(state) : -1;
    if (strcmp(name, "steal_pct") == 0 && script_pct(state, &pct)) {
        f[FACT_STEAL_TICKS].value = ticks_of(pct * h->id.cores, clock_mono_ns(), h->id.tick_ns);
        return true;
    }
    value = script_word(&line);
    if (id < 0 || s < 0 || !value || (strcmp(value, "-") != 0 && !script_int(value, &n)))
        return false;
    f[id] = (struct fact){.state = (enum fact_state)s, .value = n, .text = line, .source = "facts"};
    return true;
}

/* What could not be understood is not known, and a test that wrote it must see that. */
static void facts_all_unknown(struct fact *f, const char *why)
{
    for (int i = 0; i < FACT_COUNT; i++)
        f[i] = fact_unknown(why, "facts");
}

static void fake_facts(struct host_probe *base, struct arena *a, struct host_facts *out)
{
    struct fake_host h;
    struct script s;
    struct err e = {0};
    *out = (struct host_facts){.wall_ms = fake_wall_ms(base)};
    int rc = fake_host_read((struct fake_probe *)base, a, &h, &e);
    facts_default(&h, out->facts);
    if (rc == 0)
        rc = script_open(dir_of(base), a, "facts", &s, &e);
    for (char *line; rc == 0 && (line = script_line(&s));)
        if (!facts_line(line, &h, out->facts))
            rc = script_error(&s, &e);
    if (rc < 0)
        facts_all_unknown(out->facts, arena_strdup(a, e.text));
}

/* ---- processes */

struct fake_scan {
    struct arena *a;
    struct proc_snapshot *out;
    size_t cap;
    struct proc_sample *procs;
};

static bool process_line(struct fake_scan *s, char *line)
{
    int64_t pid, ppid, uid, start;
    double pct = 0;
    if (!script_int(script_word(&line), &pid) || pid == 0 || pid > INT32_MAX ||
        !script_int(script_word(&line), &ppid) || ppid > INT32_MAX ||
        !script_int(script_word(&line), &uid) || !script_int(script_word(&line), &start) ||
        start > INT64_MAX / s->out->tick_ns)
        return false;
    const char *share = script_word(&line), *command = script_word(&line),
               *cwd = script_word(&line);
    if (!share || !command || !cwd)
        return false;
    bool readable = strcmp(share, "?") != 0;
    if (readable && !script_pct(share, &pct))
        return false;
    struct proc_snapshot *out = s->out;
    int64_t ran_ns = out->mono_ns - start * out->tick_ns;
    MEM_GROW(s->procs, out->n_procs, s->cap);
    struct proc_sample *sample = &s->procs[out->n_procs++];
    *sample = (struct proc_sample){
        .pid = (int)pid,
        .ppid = (int)ppid,
        .uid = uid,
        .start_ticks = start,
        .cpu_ticks = readable ? ticks_of(pct, ran_ns, out->tick_ns) : -1,
        .command = command,
        .args = line,
        .cwd = cwd[0] == '/' ? cwd : NULL,
        .cwd_unreadable = strcmp(cwd, "?") == 0,
    };
    out->busy_ticks += readable ? sample->cpu_ticks : 0;
    return true;
}

static bool system_line(struct proc_snapshot *out, char *line)
{
    const char *key = script_word(&line);
    double amount;
    int64_t cpu;
    if (strcmp(key, "hidden") == 0) {
        out->hidden = true;
        return true;
    }
    if (strcmp(key, "partial") == 0 && line) {
        out->complete = false;
        out->partial_reason = line;
        return true;
    }
    if (strcmp(key, "cpu_busy_pct") == 0) {
        if (!line || !script_int(script_word(&line), &cpu) || (size_t)cpu >= out->n_cpus ||
            !script_pct(line, &amount))
            return false;
        out->cpu_busy_ticks[cpu] += ticks_of(amount, out->mono_ns, out->tick_ns);
        return true;
    }
    if (!script_pct(line, &amount))
        return false;
    if (strcmp(key, "busy_pct") == 0)
        out->busy_ticks += ticks_of(amount, out->mono_ns, out->tick_ns);
    else if (strcmp(key, "forks_per_second") == 0)
        out->forks += (int64_t)(amount * (double)out->mono_ns / 1e9);
    else
        return false;
    return true;
}

static int by_pid(const void *va, const void *vb)
{
    const struct proc_sample *a = va, *b = vb;
    return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int fake_snapshot(struct host_probe *base, struct arena *a,
                         const struct snapshot_focus *focus, struct proc_snapshot *out,
                         struct err *e)
{
    struct fake_host h;
    struct script s;
    struct fake_scan scan = {.a = a, .out = out};
    (void)focus;
    int rc = fake_host_read((struct fake_probe *)base, a, &h, e);
    if (rc == 0)
        rc = script_open(dir_of(base), a, "processes", &s, e);
    *out = (struct proc_snapshot){
        .mono_ns = clock_mono_ns(),
        .tick_ns = h.id.tick_ns,
        .cpu_busy_ticks = arena_array(a, (size_t)h.id.cores, sizeof(int64_t)),
        .n_cpus = (size_t)h.id.cores,
        .complete = true,
    };
    for (char *line; rc == 0 && (line = script_line(&s));) {
        bool process = line[0] >= '0' && line[0] <= '9';
        if (!(process ? process_line(&scan, line) : system_line(out, line)))
            rc = script_error(&s, e);
    }
    out->procs = arena_array(a, out->n_procs, sizeof *out->procs);
    if (out->n_procs > 0)
        memcpy(out->procs, scan.procs, out->n_procs * sizeof *out->procs);
    free(scan.procs);
    if (out->n_procs > 1)
        qsort(out->procs, out->n_procs, sizeof *out->procs, by_pid);
    return rc;
}

/* ---- the ledger */

static bool fake_sources(struct host_probe *base, struct ledger_sources *out)
{
    return fake_ledger_sources(dir_of(base), out);
}

static void fake_observed(struct host_probe *base, struct raw_observation *o)
{
    fake_ledger_observed(dir_of(base), o);
}

static void fake_free(struct host_probe *base)
{
    struct fake_probe *p = (struct fake_probe *)base;
    free(p->dir);
    free(p);
}

int host_probe_new_fake(const char *dir, struct host_probe **out, struct err *e)
{
    static const struct host_probe_ops ops = {
        .identity = fake_identity,
        .boot = fake_boot,
        .wall_ms = fake_wall_ms,
        .suspend_ms = fake_suspend_ms,
        .facts = fake_facts,
        .snapshot = fake_snapshot,
        .sources = fake_sources,
        .observed = fake_observed,
        .free = fake_free,
    };
    if (!file_exists(dir))
        return err_set(e, -ENOENT, "host.fake_missing", "fake-host",
                       "the fake host's folder %s does not exist; create it", dir);
    struct fake_probe *p = mem_alloc(sizeof *p);
    *p = (struct fake_probe){.base = {.ops = &ops}, .dir = mem_strdup(dir)};
    *out = &p->base;
    return 0;
}
