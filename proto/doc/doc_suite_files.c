#include "proto/doc/doc_suite_files.h"

#include <string.h>

#include "base/files.h"
#include "proto/doc/doc_common.h"

#define FILES_MAX 32
#define PATH_MAX_BYTES 1024
#define NAMES_MAX 64
#define NAME_MAX_BYTES 256

/* A placeholder, a slash, and a path that stays below it. */
static bool is_path(const char *path)
{
    static const char *const roots[] = {"{build}/", "{suite}/"};

    for (size_t i = 0; i < 2; i++) {
        size_t len = strlen(roots[i]);
        if (strncmp(path, roots[i], len) == 0)
            return file_path_is_inside(path + len) && !strpbrk(path + len, "{}");
    }
    return false;
}

static void decode_file(struct json_in *in, const cJSON *files, const char *name,
                        struct lane_file *out)
{
    doc_check_name(in, name, name, "suite.bad");
    out->name = arena_strdup(in->a, name);
    out->path = json_str(in, files, name, PATH_MAX_BYTES);
    out->baseline_bytes = -1;
    if (!in->rc && !is_path(out->path))
        json_fail(in, name, "suite.bad",
                  "a file lies below {build} or {suite}: \"{build}/bin/hello\"");
}

static struct lane_file *find_file(struct lane *lane, const char *name)
{
    for (size_t i = 0; i < lane->n_files; i++)
        if (!strcmp(lane->files[i].name, name))
            return &lane->files[i];
    return NULL;
}

static void decode_baselines(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    const cJSON *baselines = json_opt_obj(in, obj, "baselines"), *m;
    size_t mark = json_enter(in, "baselines");

    cJSON_ArrayForEach (m, baselines) {
        struct lane_file *file = in->rc ? NULL : find_file(lane, m->string);
        if (file)
            file->baseline_bytes = json_int(in, baselines, m->string, 1, JSON_INT_MAX);
        else if (!in->rc)
            json_fail(in, m->string, "suite.bad",
                      "a baseline is of one of the lane's files; \"%s\" is none", m->string);
    }
    json_leave(in, mark);
}

/* Libraries and symbols, as they stand in a file. */
static struct args decode_names(struct json_in *in, const cJSON *obj, const char *key)
{
    struct args names = json_opt_args(in, obj, key, NAMES_MAX);
    size_t mark = json_enter(in, key);

    for (size_t i = 0; i < names.n && !in->rc; i++) {
        size_t at = json_enter_index(in, i), len = strlen(names.v[i]);
        if (len < 1 || len > NAME_MAX_BYTES)
            json_fail(in, NULL, "suite.bad", "name a library or a symbol in 1 to %d bytes",
                      NAME_MAX_BYTES);
        json_leave(in, at);
    }
    json_leave(in, mark);
    return names;
}

void doc_lane_files(struct json_in *in, const cJSON *obj, struct lane *lane)
{
    const cJSON *files = json_obj(in, obj, "files"), *m;
    size_t count = (size_t)cJSON_GetArraySize(files), mark = json_enter(in, "files");

    if (!in->rc && (count < 1 || count > FILES_MAX))
        json_fail(in, NULL, "suite.bad", "a lane has 1 to %d files", FILES_MAX);
    lane->files = in->rc ? NULL : arena_array(in->a, count, sizeof *lane->files);
    cJSON_ArrayForEach (m, files) {
        if (in->rc)
            break;
        decode_file(in, files, m->string, &lane->files[lane->n_files++]);
    }
    json_leave(in, mark);
    decode_baselines(in, obj, lane);
    lane->must_link = decode_names(in, obj, "must_link");
    lane->must_not_link = decode_names(in, obj, "must_not_link");
}
