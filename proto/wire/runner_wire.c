#include "proto/wire/runner_wire.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define FIELD_HEADER 6
#define TAG_ID 1
#define TAG_FIRST 2 /* of the table's first field */

enum kind { INT, STR, STR_OPT, LIST, BYTES_OPT };

struct field {
    enum kind kind;
    size_t at; /* in struct wire_msg */
};

struct table {
    const struct field *fields;
    size_t n;
};

#define AT(kind, member)                                                                           \
    {                                                                                              \
        kind, offsetof(struct wire_msg, member)                                                    \
    }
/* NOLINTBEGIN(bugprone-macro-parentheses): m is the path of a member, no expression */
#define PROGRAM(m) AT(LIST, m.program.argv), AT(LIST, m.program.env), AT(STR, m.program.cwd)
#define END(m)                                                                                     \
    AT(STR, m.end.outcome), AT(INT, m.end.exit_status), AT(INT, m.end.exit_signal),                \
        AT(INT, m.end.exec_errno), AT(STR_OPT, m.end.exec_step), AT(INT, m.end.leftovers),         \
        AT(STR_OPT, m.end.leftover_names), AT(STR_OPT, m.end.unremoved), AT(INT, m.end.start_ns),  \
        AT(INT, m.end.exit_ns)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct field hello_fields[] = {AT(INT, hello.version), AT(INT, hello.pid)};

static const struct field sources_fields[] = {
    AT(STR_OPT, sources.busy),
    AT(STR_OPT, sources.lane),
    AT(STR_OPT, sources.delay),
    AT(STR_OPT, sources.steal),
    AT(STR_OPT, sources.pressure),
    AT(STR_OPT, sources.throttle),
    AT(STR_OPT, sources.swap),
    AT(STR_OPT, sources.memory),
    AT(INT, sources.busy_resolution_ns),
    AT(INT, sources.steal_resolution_ns),
    AT(INT, sources.counts_instructions),
    AT(INT, sources.reads_rollups),
};

static const struct field exec_fields[] = {
    PROGRAM(exec),
    AT(STR, exec.log_path),
    AT(INT, exec.log_limit_bytes),
    AT(INT, exec.timeout_ms),
    AT(STR_OPT, exec.stdin_path),
};

static const struct field observe_fields[] = {
    PROGRAM(observe),
    AT(INT, observe.measure),
    AT(STR_OPT, observe.ready),
    AT(STR_OPT, observe.go),
    AT(STR_OPT, observe.done),
    AT(BYTES_OPT, observe.expected),
    AT(INT, observe.stderr_allowed),
    AT(INT, observe.stdout_limit_bytes),
    AT(INT, observe.stderr_limit_bytes),
    AT(INT, observe.ready_timeout_ms),
    AT(INT, observe.done_timeout_ms),
    AT(BYTES_OPT, observe.cpus),
    AT(INT, observe.pin_cpu),
    AT(BYTES_OPT, observe.near),
    AT(STR_OPT, observe.baseline),
    AT(STR_OPT, observe.load),
    AT(INT, observe.memory),
    AT(INT, observe.window_ms),
    AT(STR_OPT, observe.ack),
    AT(INT, observe.samples_max_bytes),
};

static const struct field exec_result_fields[] = {
    END(exec_result),
    AT(INT, exec_result.output_bytes),
    AT(INT, exec_result.log_bytes),
    AT(INT, exec_result.truncated),
    AT(INT, exec_result.log_errno),
    AT(BYTES_OPT, exec_result.tail),
};

static const struct field observe_result_fields[] = {
    END(observe_result),
    AT(INT, observe_result.go_ns),
    AT(INT, observe_result.done_ns),
    AT(INT, observe_result.interval_cpu_ns),
    AT(INT, observe_result.runner_cpu_ns),
    AT(INT, observe_result.runner_delay_ns),
    AT(INT, observe_result.runner_switches),
    AT(INT, observe_result.daemon_cpu_ns),
    AT(INT, observe_result.daemon_switches),
    AT(INT, observe_result.span_ns),
    AT(INT, observe_result.lane_cpu_ns),
    AT(INT, observe_result.observer_cpu_ns),
    AT(INT, observe_result.near_foreign_ns),
    AT(INT, observe_result.far_foreign_ns),
    AT(INT, observe_result.steal_ns),
    AT(INT, observe_result.lane_delay_ns),
    AT(INT, observe_result.lane_preemptions),
    AT(INT, observe_result.pressure_us),
    AT(INT, observe_result.throttles),
    AT(INT, observe_result.swapped_pages),
    AT(INT, observe_result.user_us),
    AT(INT, observe_result.system_us),
    AT(INT, observe_result.max_rss_bytes),
    AT(INT, observe_result.minor_faults),
    AT(INT, observe_result.major_faults),
    AT(INT, observe_result.voluntary_switches),
    AT(INT, observe_result.involuntary_switches),
    AT(INT, observe_result.stdout_bytes),
    AT(INT, observe_result.stderr_bytes),
    AT(INT, observe_result.cpu),
    AT(INT, observe_result.fifo),
    AT(INT, observe_result.threads),
    AT(BYTES_OPT, observe_result.ready),
    AT(BYTES_OPT, observe_result.done),
    AT(BYTES_OPT, observe_result.got),
    AT(BYTES_OPT, observe_result.stdout_tail),
    AT(BYTES_OPT, observe_result.stderr_tail),
    AT(BYTES_OPT, observe_result.output),
    AT(INT, observe_result.instructions),
    AT(INT, observe_result.baseline_rss),
    AT(INT, observe_result.ready_rss),
    AT(INT, observe_result.peak_rss),
    AT(INT, observe_result.window_from_ns),
    AT(INT, observe_result.window_to_ns),
    AT(INT, observe_result.window_cpu_ns),
};

#define TABLE(fields)                                                                              \
    {                                                                                              \
        fields, sizeof(fields) / sizeof((fields)[0])                                               \
    }

static const struct table tables[] = {
    [WIRE_HELLO] = TABLE(hello_fields),
    [WIRE_EXEC] = TABLE(exec_fields),
    [WIRE_OBSERVE] = TABLE(observe_fields),
    [WIRE_CANCEL] = {NULL, 0},
    [WIRE_EXEC_RESULT] = TABLE(exec_result_fields),
    [WIRE_OBSERVE_RESULT] = TABLE(observe_result_fields),
    [WIRE_SOURCES] = TABLE(sources_fields),
};

static bool type_known(unsigned type)
{
    return type >= WIRE_HELLO && type <= WIRE_SOURCES;
}

static void put_le(uint8_t *p, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static uint64_t get_le(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* ---- encoding */

struct out {
    uint8_t *data;
    size_t len, cap;
    int rc; /* the first error; nothing is written after it */
};

static void put_field(struct out *o, uint16_t tag, const void *data, size_t len)
{
    if (o->rc != 0)
        return;
    if (o->cap - o->len < FIELD_HEADER || o->cap - o->len - FIELD_HEADER < len) {
        o->rc = -E2BIG;
        return;
    }
    put_le(o->data + o->len, tag, 2);
    put_le(o->data + o->len + 2, len, 4);
    if (len > 0)
        memcpy(o->data + o->len + FIELD_HEADER, data, len);
    o->len += FIELD_HEADER + len;
}

static void put_int(struct out *o, uint16_t tag, int64_t v)
{
    uint8_t le[8];
    put_le(le, (uint64_t)v, sizeof le);
    put_field(o, tag, le, sizeof le);
}

static void put_str(struct out *o, uint16_t tag, const char *s, bool optional)
{
    if (s)
        put_field(o, tag, s, strlen(s) + 1);
    else if (!optional && o->rc == 0)
        o->rc = -EINVAL;
}

static void put_list(struct out *o, uint16_t tag, const struct wire_list *list)
{
    if (list->n > WIRE_LIST_MAX && o->rc == 0)
        o->rc = -E2BIG;
    for (size_t i = 0; i < list->n && o->rc == 0; i++)
        put_str(o, tag, list->v[i], false);
}

static void put_value(struct out *o, uint16_t tag, const struct field *f, const void *at)
{
    const struct wire_bytes *bytes = at;

    switch (f->kind) {
    case INT:
        put_int(o, tag, *(const int64_t *)at);
        break;
    case STR:
    case STR_OPT:
        put_str(o, tag, *(const char *const *)at, f->kind == STR_OPT);
        break;
    case LIST:
        put_list(o, tag, at);
        break;
    case BYTES_OPT:
        if (bytes->data)
            put_field(o, tag, bytes->data, bytes->len);
        break;
    }
}

int wire_encode(const struct wire_msg *msg, uint8_t *out, size_t cap)
{
    struct out o = {.data = out, .cap = cap < WIRE_FRAME_MAX ? cap : WIRE_FRAME_MAX};

    if (!type_known(msg->type))
        return -EINVAL;
    if (o.cap < WIRE_HEADER + 2)
        return -E2BIG;
    o.len = WIRE_HEADER + 2;
    put_le(out + WIRE_HEADER, msg->type, 2);
    put_int(&o, TAG_ID, msg->id);
    const struct table *t = &tables[msg->type];
    for (size_t i = 0; i < t->n; i++)
        put_value(&o, (uint16_t)(TAG_FIRST + i), &t->fields[i],
                  (const char *)msg + t->fields[i].at);
    if (o.rc != 0)
        return o.rc;
    put_le(out, o.len - WIRE_HEADER, WIRE_HEADER);
    return (int)o.len;
}

/* ---- decoding */

int wire_frame_rest(const uint8_t header[WIRE_HEADER])
{
    uint64_t rest = get_le(header, WIRE_HEADER);

    return rest < 2 || rest > WIRE_FRAME_MAX - WIRE_HEADER ? -EBADMSG : (int)rest;
}

static bool get_str(const uint8_t *data, size_t len, const char **out)
{
    if (len == 0 || memchr(data, '\0', len) != data + len - 1)
        return false;
    *out = (const char *)data;
    return true;
}

static bool get_list_item(const uint8_t *data, size_t len, struct wire_list *list)
{
    if (list->n == WIRE_LIST_MAX || !get_str(data, len, &list->v[list->n]))
        return false;
    list->v[++list->n] = NULL;
    return true;
}

static bool get_value(const struct field *f, void *at, const uint8_t *data, size_t len)
{
    switch (f->kind) {
    case INT:
        if (len != 8)
            return false;
        *(int64_t *)at = (int64_t)get_le(data, 8);
        return true;
    case STR:
    case STR_OPT:
        return get_str(data, len, at);
    case LIST:
        return get_list_item(data, len, at);
    case BYTES_OPT:
        *(struct wire_bytes *)at = (struct wire_bytes){.data = data, .len = len};
        return true;
    }
    return false;
}

/* Puts one field where it belongs; seen holds the tags that came before it. */
static bool get_field(struct wire_msg *msg, unsigned tag, const uint8_t *data, size_t len,
                      uint64_t *seen)
{
    static const struct field id = AT(INT, id);
    const struct table *t = &tables[msg->type];
    const struct field *f = &id;

    if (tag >= TAG_FIRST && tag - TAG_FIRST < t->n)
        f = &t->fields[tag - TAG_FIRST];
    else if (tag != TAG_ID)
        return false;
    if ((*seen & 1ULL << tag) && f->kind != LIST)
        return false;
    *seen |= 1ULL << tag;
    return get_value(f, (char *)msg + f->at, data, len);
}

static bool all_seen(const struct wire_msg *msg, uint64_t seen)
{
    const struct table *t = &tables[msg->type];
    bool all = seen & 1ULL << TAG_ID;

    for (size_t i = 0; i < t->n; i++) {
        enum kind kind = t->fields[i].kind;
        if (kind == INT || kind == STR)
            all = all && (seen & 1ULL << (TAG_FIRST + i));
    }
    return all;
}

int wire_decode(const uint8_t *frame, size_t len, struct wire_msg *msg)
{
    uint64_t seen = 0;
    size_t at = WIRE_HEADER + 2;

    if (len < at || len > WIRE_FRAME_MAX || get_le(frame, WIRE_HEADER) != len - WIRE_HEADER)
        return -EBADMSG;
    unsigned type = (unsigned)get_le(frame + WIRE_HEADER, 2);
    if (!type_known(type))
        return -EBADMSG;
    memset(msg, 0, sizeof *msg);
    msg->type = (enum wire_type)type;
    while (at < len) {
        if (len - at < FIELD_HEADER)
            return -EBADMSG;
        size_t n = (size_t)get_le(frame + at + 2, 4);
        if (len - at - FIELD_HEADER < n)
            return -EBADMSG;
        if (!get_field(msg, (unsigned)get_le(frame + at, 2), frame + at + FIELD_HEADER, n, &seen))
            return -EBADMSG;
        at += FIELD_HEADER + n;
    }
    return all_seen(msg, seen) ? 0 : -EBADMSG;
}
