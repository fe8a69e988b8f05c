#include "proto/doc/doc_suite_kernel.h"

#include <string.h>

#include "base/files.h"
#include "proto/doc/doc_keys.h"

#define PATH_BYTES_MAX 1024
#define ENTRY_BYTES_MAX 256
#define COMPILES 30
#define DISPATCHES 500

const char *const kernel_keys[] = {"program",  "entry",      "entry_kind", "input",
                                   "compiles", "dispatches", "workers",    NULL};

/* The same on all sides: a file of the suite. */
static const char *decode_path(struct json_in *in, const cJSON *obj, const char *key)
{
    static const char root[] = "{suite}/";
    const char *path = json_str(in, obj, key, PATH_BYTES_MAX);
    const char *rest =
        in->rc || strncmp(path, root, sizeof root - 1) != 0 ? NULL : path + sizeof root - 1;

    if (!in->rc && (!rest || !file_path_is_inside(rest) || strpbrk(rest, "{}")))
        json_fail(in, key, "suite.bad", "%s is a file of the suite: \"{suite}/reducer.pk\"", key);
    return path;
}

void doc_suite_kernel(struct json_in *in, const cJSON *obj, struct workload *w)
{
    const cJSON *kernel = json_obj(in, obj, "kernel");
    size_t mark = json_enter(in, "kernel");
    struct kernel_work *k = &w->kernel;

    json_closed(in, kernel, kernel_keys);
    k->program = decode_path(in, kernel, "program");
    k->input = decode_path(in, kernel, "input");
    k->entry = json_str(in, kernel, "entry", ENTRY_BYTES_MAX);
    k->kind = (enum kernel_entry)json_opt_enum_of(in, kernel, "entry_kind", kernel_entry_parse,
                                                  "function, pipeline", KERNEL_FUNCTION);
    k->compiles = json_opt_int(in, kernel, "compiles", 1, KERNEL_COMPILES_MAX, COMPILES);
    k->dispatches = json_opt_int(in, kernel, "dispatches", 1, KERNEL_DISPATCHES_MAX, DISPATCHES);
    k->workers = json_opt_int(in, kernel, "workers", 1, KERNEL_WORKERS_MAX, 1);
    if (!in->rc && (!k->entry[0] || k->entry[0] == '-'))
        json_fail(in, "entry", "suite.bad", "entry names a function or pipeline of the program");
    if (!in->rc && k->workers > k->dispatches)
        json_fail(in, "workers", "suite.bad", "there are at most as many workers as dispatches");
    json_leave(in, mark);
}
