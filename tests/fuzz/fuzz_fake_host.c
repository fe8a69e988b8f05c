/* The scripted host's files, and what inventory and conditions make of any process table: a script
 * that is not understood is refused at its line and its facts are unknown; a quiet host has no
 * competitor and every part of a phase can be stored.
 *
 * Input: the files identity, facts and processes, each ended by a NUL. The files and the clock are
 * the target's, so that a run is quick and always the same. */
#include <errno.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "host/host.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/documents.h"

int fuzz_file_read(const char *path, size_t limit, struct buf *out, struct err *e);
bool fuzz_file_exists(const char *path);
int64_t fuzz_clock_mono_ns(void);
void fuzz_clock_sleep_ns(int64_t ns);

static const char *const names[] = {"identity", "facts", "processes"};
static struct buf files[ARRAY_LEN(names)];
static int64_t now_ns;

static struct buf *find_file(const char *path)
{
    const char *slash = strrchr(path, '/');

    for (size_t i = 0; slash && i < ARRAY_LEN(names); i++)
        if (strcmp(slash + 1, names[i]) == 0)
            return &files[i];
    return NULL;
}

int fuzz_file_read(const char *path, size_t limit, struct buf *out, struct err *e)
{
    const struct buf *file = find_file(path);

    MUST(file, "%s", path);
    if (file->len > limit)
        return err_sys(e, -EFBIG, "read", path);
    buf_add(out, buf_str(file), file->len);
    return 0;
}

bool fuzz_file_exists(const char *path)
{
    return !find_file(path) || find_file(path)->len > 0;
}

/* Ten days after the boot, and a little later each time. */
int64_t fuzz_clock_mono_ns(void)
{
    return now_ns += 250000000;
}

void fuzz_clock_sleep_ns(int64_t ns)
{
    now_ns += ns;
}

static void take_files(struct fuzz_in *in)
{
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        const uint8_t *end = in->left ? memchr(in->at, 0, in->left) : NULL;
        size_t len = end ? (size_t)(end - in->at) : in->left;
        buf_clear(&files[i]);
        buf_add(&files[i], in->at ? (const char *)in->at : "", len);
        in->at += len;
        in->left -= len;
        (void)fuzz_byte(in);
    }
}

static void must_name_a_line(int rc, const struct err *e)
{
    fuzz_refused(rc, e);
    MUST(strcmp(e->code, "host.fake_bad") == 0 && strchr(e->field, ':'), "%s %s", e->code,
         e->field);
}

static void check_facts(const struct host_facts *f)
{
    for (int i = 0; i < FACT_COUNT; i++) {
        const struct fact *fact = &f->facts[i];
        MUST(fact->state <= FACT_ABSENT && fact->value >= 0, "%s", fact_name((enum fact_id)i));
    }
}

static void check_inventory(const struct inventory *inv)
{
    MUST(inv->state != INVENTORY_QUIET || inv->n_competitors == 0);
    MUST((inv->state == INVENTORY_PARTIAL) == (inv->partial_reason != NULL));
    MUST(inv->state != INVENTORY_BUSY || inv->n_competitors > 0);
    for (size_t i = 0; i < inv->n_competitors; i++)
        MUST(inv->competitors[i].reasons && inv->competitors[i].command);
    for (size_t i = 0; i < INVENTORY_WINDOWS; i++)
        MUST(inv->aggregate_pct[i] >= 0);
}

/* What is stored of a phase is read back as it. */
static void must_be_stored(const struct phase_record *p)
{
    struct buf json = {0}, again = {0};
    struct arena a = {0};
    struct err e = {0};
    struct json_out o;
    struct json_in in;
    struct inventory inv = {0};
    cJSON *doc = NULL;

    json_out_init(&o, &json);
    inventory_encode(&o, NULL, p->inventory);
    MUST(json_parse(json.data, json.len, &doc, &e) == 0, "%s", e.text);
    json_in_init(&in, &a, &e);
    inventory_decode(&in, doc, &inv);
    MUST(in.rc == 0, "%s %s: %s", e.field, e.text, json.data);
    json_out_init(&o, &again);
    inventory_encode(&o, NULL, &inv);
    MUST(strcmp(json.data, again.data) == 0, "%s%s", json.data, again.data);
    cJSON_Delete(doc);
    buf_deinit(&json);
    buf_deinit(&again);
    arena_deinit(&a);
}

static void take_phase(struct host_probe *p, struct arena *a)
{
    static const int cpus[] = {0, 1};
    static const char *const measured[] = {"/src/aura"};
    const struct inventory_scope scope = {
        .self_pid = 1, .measured = measured, .n_measured = 1, .lane_cpus = cpus, .n_lane_cpus = 2};
    const struct qualify_job job = {.is_comparison = true, .control_everywhere = true};
    struct policy *policy = NULL;
    struct phase_record phase;
    struct err e = {0};
    const char *reason = NULL;

    MUST(policy_shipped(a, "standard", &policy, NULL) == 0);
    int rc = host_take_phase(p, a, policy, &scope, &job, PHASE_BEFORE_TIMING, NULL, 0, &phase, &e);
    if (rc) {
        must_name_a_line(rc, &e);
        return;
    }
    fuzz_count_good();
    check_facts(&phase.facts);
    check_inventory(phase.inventory);
    must_be_stored(&phase);
    bool may = qualify_decide(a, &phase, false, &reason);
    MUST(may || (reason && reason[0]));
    MUST(!may || phase.inventory->state == INVENTORY_QUIET);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    struct arena a = {0};
    struct host_probe *p = NULL;
    struct host_identity id;
    struct host_facts facts;
    struct err e = {0};

    now_ns = (int64_t)10 * 86400 * 1000000000;
    take_files(&in);
    MUST(host_probe_new_fake("/", &p, &e) == 0);
    int rc = host_probe_identity(p, &a, &id, &e);
    if (rc == 0)
        MUST(id.cores >= 1 && id.tick_ns > 0 && id.memory_bytes >= 0);
    else
        must_name_a_line(rc, &e);
    host_probe_facts(p, &a, &facts);
    check_facts(&facts);
    take_phase(p, &a);
    host_probe_free(p);
    arena_deinit(&a);
    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        buf_deinit(&files[i]);
    return 0;
}
