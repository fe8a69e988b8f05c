/* The table time-profile as `xctrace export --xpath` writes it: rows of a time, a thread, a
 * process, a state and a backtrace. What was written before stands as a reference: <frame id="11"
 * .../> once, <frame ref="11"/> from then on, at any depth. */
#include <inttypes.h>
#include <string.h>

#include "proto/profile/profile_parts.h"
#include "proto/profile/xml.h"

enum tag {
    TAG_OTHER,
    TAG_SCHEMA,
    TAG_ROW,
    TAG_TIME, /* from here what a row or a frame has, and references refer to */
    TAG_THREAD,
    TAG_PROCESS,
    TAG_STATE,
    TAG_BACKTRACE,
    TAG_TAGGED,
    TAG_FRAME,
    TAG_BINARY,
    TAG_COUNT
};

static const char *const tags[TAG_COUNT] = {
    [TAG_SCHEMA] = "schema",       [TAG_ROW] = "row",
    [TAG_TIME] = "sample-time",    [TAG_THREAD] = "thread",
    [TAG_PROCESS] = "process",     [TAG_STATE] = "thread-state",
    [TAG_BACKTRACE] = "backtrace", [TAG_TAGGED] = "tagged-backtrace",
    [TAG_FRAME] = "frame",         [TAG_BINARY] = "binary",
};

/* An element that has begun. What it says: a text, and of a thread the process; or of a frame and
 * of a backtrace the symbol, and the binary. */
struct element {
    enum tag tag;
    int64_t id;    /* -1: none */
    bool is_known; /* it was a reference, or its first frame was there */
    struct piece a, b;
};

struct xctrace {
    struct profile_in in;
    struct xml xml;
    struct arena arena;
    struct profile_names names;
    struct element open[XML_DEPTH_MAX];
    size_t depth;
    struct profile_sample row;
    bool is_row, has_table;
};

static void fail(struct xctrace *x, const char *sentence)
{
    x->in.line = x->xml.line;
    profile_fail(&x->in, "%s", sentence);
}

static struct piece text_of(struct xctrace *x, struct piece written)
{
    struct piece out = {0};

    if (!xml_text(&x->arena, written, &out))
        fail(x, "an \"&\" that stands for no character");
    return out;
}

static struct piece attribute(struct xctrace *x, const char *name)
{
    return text_of(x, xml_attribute(&x->xml, name));
}

/* -1: the element has no such attribute. */
static int64_t number_of(struct xctrace *x, const char *name)
{
    struct piece text = xml_attribute(&x->xml, name);
    int64_t n = -1;

    if (text.at && (!piece_take_number(&text, &n) || text.len > 0))
        fail(x, "an id or a ref that is no number");
    return n;
}

static enum tag tag_of(struct piece name)
{
    for (int t = TAG_SCHEMA; t < TAG_COUNT; t++)
        if (piece_is(name, tags[t]))
            return (enum tag)t;
    return TAG_OTHER;
}

/* ---- beginnings */

static void take_reference(struct xctrace *x, struct element *e, int64_t ref)
{
    const struct profile_name *name = profile_names_find(&x->names, (int)e->tag, ref);

    if (!name) {
        fail(x, "a ref to no element of its kind before it");
        return;
    }
    e->a = name->a;
    e->b = name->b;
    e->is_known = true;
}

static void check_table(struct xctrace *x)
{
    x->has_table = piece_is(xml_attribute(&x->xml, "name"), "time-profile");
    if (!x->has_table)
        fail(x, "another table than time-profile; export that with --xpath");
}

/* "fib (4711)" is the process fib. */
static struct piece without_pid(struct piece name)
{
    for (size_t i = name.len; i > 1; i--)
        if (name.at[i - 1] == '(' && name.at[i - 2] == ' ')
            return (struct piece){name.at, i - 2};
    return name;
}

static void fill(struct xctrace *x, struct element *e)
{
    if (e->tag == TAG_THREAD)
        e->a = attribute(x, "fmt");
    if (e->tag == TAG_PROCESS)
        e->a = without_pid(attribute(x, "fmt"));
    if (e->tag == TAG_FRAME)
        e->a = profile_symbol(attribute(x, "name"));
    if (e->tag == TAG_BINARY) {
        e->a = attribute(x, "path");
        e->a = e->a.len > 0 ? e->a : attribute(x, "name");
    }
}

static void begin(struct xctrace *x)
{
    struct element *e = &x->open[x->depth++];

    *e = (struct element){.tag = tag_of(x->xml.name), .id = -1};
    if (e->tag == TAG_SCHEMA)
        check_table(x);
    if (e->tag == TAG_ROW) {
        if (x->is_row || !x->has_table)
            fail(x, "a row inside a row, or before its table's schema");
        x->is_row = true;
        x->row = (struct profile_sample){.at_ns = -1, .count = 1};
    }
    if (e->tag < TAG_TIME)
        return;
    int64_t ref = number_of(x, "ref");
    e->id = number_of(x, "id");
    if (ref >= 0)
        take_reference(x, e, ref);
    else
        fill(x, e);
}

/* ---- ends */

static bool is_kernel(struct piece binary)
{
    for (size_t i = binary.len; binary.at && i > 0; i--)
        if (binary.at[i - 1] == '/') {
            binary = (struct piece){binary.at + i, binary.len - i};
            break;
        }
    return piece_is(binary, "kernel") || piece_begins(binary, "kernel.") ||
           piece_is(binary, "mach_kernel");
}

static void end_of_row(struct xctrace *x, const struct element *e)
{
    struct profile_sample *row = &x->row;
    struct piece time = e->a;

    if (e->tag == TAG_TIME && (!piece_take_number(&time, &row->at_ns) || time.len > 0))
        fail(x, "a sample-time that is no number of nanoseconds");
    if (e->tag == TAG_THREAD) {
        row->thread = e->a;
        row->process = row->process.at ? row->process : e->b;
    }
    if (e->tag == TAG_PROCESS)
        row->process = e->a;
    if (e->tag == TAG_STATE)
        row->is_suspended = !piece_is(e->a, "Running");
    if (e->tag == TAG_BACKTRACE || e->tag == TAG_TAGGED) {
        row->symbol = e->a;
        row->object = e->b;
        row->is_kernel = is_kernel(e->b);
    }
}

/* What an element is part of takes what it says: of frames the first, which is the innermost. */
static void give(struct xctrace *x, const struct element *e, struct element *to)
{
    bool is_first = !to->is_known;

    if (to->tag == TAG_ROW)
        end_of_row(x, e);
    if ((to->tag == TAG_FRAME && e->tag == TAG_BINARY) ||
        (to->tag == TAG_THREAD && e->tag == TAG_PROCESS))
        to->b = e->a;
    if (is_first && ((to->tag == TAG_BACKTRACE && e->tag == TAG_FRAME) ||
                     (to->tag == TAG_TAGGED && e->tag == TAG_BACKTRACE))) {
        to->a = e->a;
        to->b = e->b;
        to->is_known = true;
    }
}

static void end_row(struct xctrace *x)
{
    if (x->row.at_ns < 0)
        fail(x, "a row without a sample-time");
    x->in.line = x->xml.line;
    profile_tell(&x->in, &x->row);
    x->is_row = false;
}

static void end(struct xctrace *x)
{
    const struct element *e = &x->open[--x->depth];
    const struct profile_name name = {e->id, (int)e->tag, e->a, e->b};

    if (e->id >= 0 && !profile_names_put(&x->names, &name))
        fail(x, "an id that two elements of a kind have");
    if (e->tag == TAG_ROW)
        end_row(x);
    else if (e->tag >= TAG_TIME && x->depth > 0)
        give(x, e, &x->open[x->depth - 1]);
}

/* ---- all of it */

static void text(struct xctrace *x)
{
    struct element *e = x->depth > 0 ? &x->open[x->depth - 1] : NULL;

    if (e && (e->tag == TAG_TIME || e->tag == TAG_STATE) && !e->is_known)
        e->a = text_of(x, x->xml.text);
}

static void read_all(struct xctrace *x)
{
    enum xml_kind kind;

    while (x->in.rc == 0 && (kind = xml_next(&x->xml)) != XML_DONE) {
        if (kind == XML_BAD)
            fail(x, x->xml.fault);
        else if (kind == XML_BEGIN)
            begin(x);
        else if (kind == XML_END)
            end(x);
        else
            text(x);
    }
    if (x->in.rc == 0 && !x->has_table)
        fail(x, "no table time-profile; export it with --xpath");
}

int profile_read_xctrace(const char *data, size_t len, const struct profile_seen *seen,
                         struct err *e)
{
    struct xctrace x = {0};

    profile_in_init(&x.in, data, len, seen, e);
    xml_init(&x.xml, data, len);
    if (len > 0 && memchr(data, '\0', len)) /* who keeps texts keeps them up to a NUL */
        fail(&x, "a NUL in a text; name the right format");
    read_all(&x);
    profile_names_deinit(&x.names);
    arena_deinit(&x.arena);
    return x.in.rc;
}
