#include "driver/driver.h"

#include <errno.h>
#include <string.h>

#define ITERATIONS_MAX 1000001
#define WORKERS_MAX 256

static int kind_parse(const char *s)
{
    static const char *const words[] = {"compile", "decode", "dispatch", "end"};
    for (int i = 0; i < 4; i++)
        if (strcmp(words[i], s) == 0)
            return i;
    return -1;
}

static int entry_parse(const char *s)
{
    return strcmp(s, "function") == 0 ? PK_FUNCTION : strcmp(s, "pipeline") == 0 ? PK_PIPELINE : -1;
}

static void read_dispatch(struct json_in *in, const cJSON *obj, struct driver_request *out)
{
    static const char *const keys[] = {"request",    "entry",   "entryKind", "input",
                                       "iterations", "workers", NULL};
    json_closed(in, obj, keys);
    out->entry = json_str(in, obj, "entry", 1000);
    out->entry_kind =
        (enum pk_kind)json_enum_of(in, obj, "entryKind", entry_parse, "function, pipeline");
    out->input = json_str(in, obj, "input", (size_t)8 << 20);
    out->iterations = json_int(in, obj, "iterations", 1, ITERATIONS_MAX);
    out->workers = json_int(in, obj, "workers", 1, WORKERS_MAX);
}

static void read_members(struct json_in *in, const cJSON *obj, struct driver_request *out)
{
    static const char *const compile_keys[] = {"request", "program", "iterations", NULL};
    static const char *const decode_keys[] = {"request", "iterations", NULL};
    static const char *const end_keys[] = {"request", NULL};

    out->kind = (enum driver_kind)json_enum_of(in, obj, "request", kind_parse,
                                               "compile, decode, dispatch, end");
    if (in->rc)
        return;
    if (out->kind == DO_DISPATCH) {
        read_dispatch(in, obj, out);
        return;
    }
    json_closed(in, obj,
                out->kind == DO_COMPILE  ? compile_keys
                : out->kind == DO_DECODE ? decode_keys
                                         : end_keys);
    if (out->kind == DO_COMPILE)
        out->program = json_str(in, obj, "program", 4096);
    if (out->kind != DO_END)
        out->iterations = json_int(in, obj, "iterations", 1, ITERATIONS_MAX);
}

int driver_request(struct arena *a, const char *line, size_t len, struct driver_request *out,
                   struct err *e)
{
    struct json_in in;
    cJSON *doc = NULL;
    int rc = json_parse_max(line, len, (size_t)8 << 20, &doc, e);

    if (rc < 0)
        return rc;
    json_in_init(&in, a, e);
    read_members(&in, doc, out);
    cJSON_Delete(doc);
    return in.rc;
}
