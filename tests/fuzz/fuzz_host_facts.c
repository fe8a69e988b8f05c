/* What the Linux probe makes of files of /proc and /sys, whatever stands in them: each fact is
 * known, absent or unknown with a reason; what a virtual machine cannot know it does not claim; all
 * of it can be stored and shown.
 *
 * Input: "path=content", each ended by a NUL. The target answers the probe's reads from these in
 * place of daemon/host/linux_read.c. */
#include <errno.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "host/linux_probe.h"
#include "proto/doc/doc_host.h"
#include "proto/doc/documents.h"

#define FILES_MAX 256

struct file {
    char *path, *text; /* path ends where text begins */
};

static struct file files[FILES_MAX];
static size_t n_files;

/* ---- in place of linux_read.c */

static const struct file *find(const char *path)
{
    for (size_t i = 0; i < n_files; i++)
        if (strcmp(files[i].path, path) == 0)
            return &files[i];
    return NULL;
}

int linux_read(const struct linux_probe *p, const char *path, size_t limit, struct buf *out)
{
    const struct file *f = find(path);

    (void)p;
    if (!f)
        return -ENOENT;
    if (strlen(f->text) > limit)
        return -EFBIG;
    buf_puts(out, f->text);
    return 0;
}

char *linux_line(const struct linux_probe *p, struct arena *a, const char *path)
{
    const struct file *f = find(path);

    (void)p;
    return f ? proc_clean(a, f->text, strcspn(f->text, "\n")) : NULL;
}

int64_t linux_number(const struct linux_probe *p, const char *path)
{
    const struct file *f = find(path);

    (void)p;
    return f ? proc_parse_number(f->text, strcspn(f->text, "\n")) : -1;
}

/* The part of a file's path behind "folder/"; NULL when it lies elsewhere. */
static const char *below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

bool linux_exists(const struct linux_probe *p, const char *path)
{
    (void)p;
    for (size_t i = 0; i < n_files; i++)
        if (strcmp(files[i].path, path) == 0 || below(files[i].path, path))
            return true;
    return false;
}

char *linux_link(const struct linux_probe *p, struct arena *a, const char *path)
{
    return linux_line(p, a, path);
}

static bool has_name(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

int linux_list(const struct linux_probe *p, struct arena *a, const char *path, const char *prefix,
               const char ***names)
{
    size_t n = 0;

    *names = arena_array(a, FILES_MAX, sizeof **names);
    for (size_t i = 0; i < n_files; i++) {
        const char *rest = below(files[i].path, path);
        const char *name = rest ? arena_strndup(a, rest, strcspn(rest, "/")) : "";
        if (name[0] && strncmp(name, prefix, strlen(prefix)) == 0 && !has_name(*names, n, name))
            (*names)[n++] = name;
    }
    return n || linux_exists(p, path) ? (int)n : -ENOENT;
}

int linux_totals(const struct linux_probe *p, struct arena *a, struct proc_totals *out)
{
    struct buf b = {0};
    int rc = linux_read(p, "/proc/stat", SIZE_MAX, &b);

    if (rc == 0)
        rc = proc_parse_totals(a, buf_str(&b), b.len, out);
    buf_deinit(&b);
    return rc;
}

int linux_initial_pid_namespace(const struct linux_probe *p, struct arena *a)
{
    const char *link = linux_link(p, a, "/proc/self/ns/pid");

    return link ? strcmp(link, "pid:[4026531836]") == 0 : -1;
}

static void take_files(struct fuzz_in *in)
{
    for (n_files = 0; in->left && n_files < FILES_MAX;) {
        size_t len = strnlen((const char *)in->at, in->left);
        struct file f = {.path = mem_alloc(len + 1)};
        memcpy(f.path, in->at, len);
        f.text = strchr(f.path, '=');
        in->at += len;
        in->left -= len;
        (void)fuzz_byte(in);
        if (!f.text || f.path[0] != '/') {
            free(f.path);
            continue;
        }
        *f.text++ = '\0';
        files[n_files++] = f;
    }
}

/* ---- properties */

static void must_be_text_or_null(const char *text)
{
    if (text)
        fuzz_must_be_text(text);
}

static void check_fact(enum fact_id id, const struct fact *f)
{
    MUST(f->state <= FACT_ABSENT && f->value >= 0, "%s", fact_name(id));
    must_be_text_or_null(f->text);
    must_be_text_or_null(f->source);
    if (f->state != FACT_KNOWN)
        MUST(f->text && f->text[0], "%s says no reason", fact_name(id));
    if (id == FACT_GOVERNOR || id == FACT_ENERGY)
        MUST(f->state != FACT_KNOWN || f->text, "%s", fact_name(id));
    if (f->state == FACT_KNOWN)
        fuzz_count_good();
}

/* A guest does not see its host's battery and firmware: their absence there proves nothing. */
static void check_guest(const struct host_facts *f)
{
    const struct fact *virtual = &f->facts[FACT_VIRTUAL];

    if (virtual->state == FACT_KNOWN && virtual->value == 0)
        return;
    MUST(f->facts[FACT_MAINS].state != FACT_ABSENT);
    MUST(f->facts[FACT_LOW_POWER].state != FACT_ABSENT);
}

static void must_be_stored(const struct host_facts *f)
{
    struct buf json = {0}, again = {0};
    struct arena a = {0};
    struct err e = {0};
    struct json_out o;
    struct json_in in;
    struct host_facts back;
    cJSON *doc = NULL;

    json_out_init(&o, &json);
    host_facts_encode(&o, NULL, f);
    MUST(json_parse(json.data, json.len, &doc, &e) == 0, "%s", e.text);
    json_in_init(&in, &a, &e);
    host_facts_decode(&in, doc, &back);
    MUST(in.rc == 0, "%s %s: %s", e.field, e.text, json.data);
    json_out_init(&o, &again);
    host_facts_encode(&o, NULL, &back);
    MUST(strcmp(json.data, again.data) == 0, "%s%s", json.data, again.data);
    cJSON_Delete(doc);
    buf_deinit(&json);
    buf_deinit(&again);
    arena_deinit(&a);
}

static void check_identity(struct host_probe *p, struct arena *a)
{
    struct host_identity id = {0};
    struct boot_identity boot = {0};
    struct err e = {0}, why = {0};

    if (fuzz_accepted(host_probe_identity(p, a, &id, &e), &e)) {
        const char *texts[] = {id.name, id.id, id.model, id.cpu, id.os, id.kernel, id.arch};
        for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
            MUST(texts[i], "text %zu", i);
            fuzz_must_be_text(texts[i]);
        }
        MUST(id.cores > 0 && id.memory_bytes >= -1 && id.tick_ns > 0);
    }
    if (fuzz_accepted(host_probe_boot(p, a, &boot, &why), &why)) {
        fuzz_must_be_text(boot.id);
        MUST(boot.boot_wall_ms >= -1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct host_probe *p; /* only its descriptor of /proc is of this machine, and unused */
    struct fuzz_in in = {data, size};
    struct arena a = {0};
    struct host_facts facts;
    struct err e = {0};

    if (!p)
        MUST(host_probe_new_system("", &p, &e) == 0, "%s", e.text);
    take_files(&in);
    host_probe_facts(p, &a, &facts);
    for (int i = 0; i < FACT_COUNT; i++)
        check_fact((enum fact_id)i, &facts.facts[i]);
    check_guest(&facts);
    must_be_stored(&facts);
    check_identity(p, &a);
    for (size_t i = 0; i < n_files; i++)
        free(files[i].path);
    arena_deinit(&a);
    return 0;
}
