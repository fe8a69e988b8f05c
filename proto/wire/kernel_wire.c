#include "proto/wire/kernel_wire.h"

#include <errno.h>
#include <string.h>

#define TEXT_MAX 4096

/* ---- requests */

static void begin(struct json_out *o, struct buf *out, const char *request)
{
    json_out_init(o, out);
    json_begin(o, NULL);
    json_put_str(o, "request", request);
}

static void end(struct json_out *o)
{
    json_end(o);
    buf_putc(o->b, '\n');
}

void kernel_put_compile(struct buf *out, const char *program, int64_t iterations)
{
    struct json_out o;
    begin(&o, out, "compile");
    json_put_str(&o, "program", program);
    json_put_int(&o, "iterations", iterations);
    end(&o);
}

void kernel_put_decode(struct buf *out, int64_t iterations)
{
    struct json_out o;
    begin(&o, out, "decode");
    json_put_int(&o, "iterations", iterations);
    end(&o);
}

void kernel_put_dispatch(struct buf *out, const char *entry, enum kernel_entry kind,
                         const char *input, int64_t iterations, int64_t workers)
{
    struct json_out o;
    begin(&o, out, "dispatch");
    json_put_str(&o, "entry", entry);
    json_put_str(&o, "entryKind", kernel_entry_name(kind));
    json_put_str(&o, "input", input);
    json_put_int(&o, "iterations", iterations);
    json_put_int(&o, "workers", workers);
    end(&o);
}

void kernel_put_end(struct buf *out)
{
    struct json_out o;
    begin(&o, out, "end");
    end(&o);
}

/* ---- what the driver says */

static const char *text(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *s = json_str(in, obj, key, TEXT_MAX);
    if (in->rc == 0 && !s[0])
        json_fail(in, key, "json.value", "%s must not be empty", key);
    return s;
}

static const char *digest(struct json_in *in, const cJSON *obj, const char *key)
{
    const char *s = json_str(in, obj, key, TEXT_MAX);
    if (in->rc == 0 && (strlen(s) != 64 || strspn(s, "0123456789abcdef") != 64))
        json_fail(in, key, "json.value", "%s must be 64 lower-case hex digits", key);
    return s;
}

static void read_hello(struct json_in *in, const cJSON *obj, struct kernel_message *m)
{
    static const char *const keys[] = {"kernelDriver",
                                       "name",
                                       "version",
                                       "target",
                                       "kernelVersion",
                                       "artifactFormatVersion",
                                       "semanticAbiFingerprint",
                                       "opcodeAbiFingerprint",
                                       "buildProfile",
                                       "os",
                                       "arch",
                                       "initializationNs",
                                       NULL};
    struct kernel_provenance *p = &m->provenance;
    m->kind = KERNEL_SAYS_HELLO;
    json_closed(in, obj, keys);
    (void)json_int(in, obj, "kernelDriver", KERNEL_PROTOCOL, KERNEL_PROTOCOL);
    p->driver = text(in, obj, "name");
    p->driver_version = text(in, obj, "version");
    m->target =
        (enum kernel_target)json_enum_of(in, obj, "target", kernel_target_parse, "native, browser");
    p->kernel_version = text(in, obj, "kernelVersion");
    p->format_version = json_int(in, obj, "artifactFormatVersion", 1, JSON_INT_MAX);
    p->semantic = digest(in, obj, "semanticAbiFingerprint");
    p->opcode = digest(in, obj, "opcodeAbiFingerprint");
    p->profile = (enum kernel_profile)json_enum_of(in, obj, "buildProfile", kernel_profile_parse,
                                                   "release, debug");
    p->os = text(in, obj, "os");
    p->arch = text(in, obj, "arch");
    m->initialization_ns = json_opt_int(in, obj, "initializationNs", 0, KERNEL_SAMPLE_MAX, -1);
}

static int answer_parse(const char *s)
{
    for (int p = KERNEL_COMPILE; p <= KERNEL_DISPATCH; p++)
        if (strcmp(kernel_phase_name((enum kernel_phase)p), s) == 0)
            return p;
    return strcmp(s, "firstDispatch") == 0 ? KERNEL_OVER : -1;
}

static void read_ns(struct json_in *in, const cJSON *obj, struct kernel_message *m)
{
    const cJSON *list = json_arr(in, obj, "ns", KERNEL_SAMPLES_MAX, &m->n), *item;
    if (in->rc == 0 && m->n == 0) /* or a driver could speak for ever and say nothing */
        json_fail(in, "ns", "json.value", "ns must hold at least one sample");
    if (in->rc)
        return;
    int64_t *ns = arena_array(in->a, m->n, sizeof *ns);
    size_t i = 0;
    cJSON_ArrayForEach (item, list) {
        double v = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (!(v >= 0 && v <= (double)KERNEL_SAMPLE_MAX && v == (double)(int64_t)v)) {
            json_fail(in, "ns", "json.type", "ns must hold whole numbers of nanoseconds from 0 on");
            return;
        }
        ns[i++] = (int64_t)v;
    }
    m->ns = ns;
}

static void read_samples(struct json_in *in, const cJSON *obj, struct kernel_message *m)
{
    static const char *const keys[] = {"samples", "ns", "digest", "worker", NULL};
    m->kind = KERNEL_SAYS_SAMPLES;
    json_closed(in, obj, keys);
    int phase =
        json_enum_of(in, obj, "samples", answer_parse, "compile, decode, firstDispatch, dispatch");
    m->first = phase == KERNEL_OVER;
    m->phase = m->first ? KERNEL_DISPATCH : (enum kernel_phase)phase;
    m->worker = json_opt_int(in, obj, "worker", 0, KERNEL_WORKERS_MAX - 1, -1);
    read_ns(in, obj, m);
    if (in->rc == 0 && cJSON_GetObjectItemCaseSensitive(obj, "digest"))
        m->digest = digest(in, obj, "digest");
}

static void read_done(struct json_in *in, const cJSON *obj, struct kernel_message *m)
{
    static const char *const compile_keys[] = {"done", "artifactBytes", NULL};
    static const char *const decode_keys[] = {"done", "measurable", NULL};
    static const char *const dispatch_keys[] = {"done", "batchWallNs", "workers", NULL};
    m->kind = KERNEL_SAYS_DONE;
    m->phase =
        (enum kernel_phase)json_enum_of(in, obj, "done", answer_parse, "compile, decode, dispatch");
    if (in->rc)
        return;
    if (m->phase == KERNEL_COMPILE) {
        json_closed(in, obj, compile_keys);
        m->artifact_bytes = json_int(in, obj, "artifactBytes", 1, JSON_INT_MAX);
    } else if (m->phase == KERNEL_DECODE) {
        json_closed(in, obj, decode_keys);
        m->unmeasurable = !json_opt_bool(in, obj, "measurable", true);
    } else {
        json_closed(in, obj, dispatch_keys);
        m->batch_wall_ns = json_int(in, obj, "batchWallNs", 1, KERNEL_SAMPLE_MAX);
        m->workers = json_int(in, obj, "workers", 1, KERNEL_WORKERS_MAX);
    }
}

static void read_error(struct json_in *in, const cJSON *obj, struct kernel_message *m)
{
    static const char *const keys[] = {"error", NULL};
    m->kind = KERNEL_SAYS_ERROR;
    json_closed(in, obj, keys);
    m->error = text(in, obj, "error");
}

static void read_message(struct json_in *in, const cJSON *obj, struct kernel_message *m)
{
    static const struct {
        const char *key;
        void (*read)(struct json_in *, const cJSON *, struct kernel_message *);
    } kinds[] = {{"samples", read_samples},
                 {"done", read_done},
                 {"error", read_error},
                 {"kernelDriver", read_hello}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cJSON_GetObjectItemCaseSensitive(obj, kinds[i].key)) {
            kinds[i].read(in, obj, m);
            return;
        }
    json_fail(in, NULL, "json.missing", "a message says kernelDriver, samples, done or error");
}

int kernel_message_decode(struct arena *a, const char *line, size_t len, struct kernel_message *out,
                          struct err *e)
{
    struct err why = {0};
    struct json_in in;
    cJSON *doc = NULL;

    *out = (struct kernel_message){.worker = -1, .initialization_ns = -1};
    int rc = json_parse(line, len, &doc, &why);
    if (rc == 0) {
        json_in_init(&in, a, &why);
        if (cJSON_IsObject(doc))
            read_message(&in, doc, out);
        else
            json_fail(&in, NULL, "json.type", "a message is an object");
        rc = in.rc;
    }
    cJSON_Delete(doc);
    if (rc < 0)
        return err_set(e, -EINVAL, "kernel.driver", why.field,
                       "the driver said what is no message of the protocol: %.400s", why.text);
    return 0;
}
