#include "run/run_profile.h"

#include <errno.h>
#include <string.h>

#include "base/files.h"
#include "base/mem.h"
#include "proto/profile/profile_tally.h"

struct taking {
    struct arena *a;
    const char *folder;
    const struct attribution *rules;
    int64_t *counts;
    struct profile_tally tally;
    bool is_varied; /* the tally would be too large */
    size_t left;    /* bytes that may still be read */
    int files;
    const char *fault, *got;
};

static int refuse(struct taking *t, const char *fault, const char *path, const char *why)
{
    t->fault = fault;
    t->got = arena_printf(t->a, "%s: %s", path, why);
    return 1;
}

static bool take_sample(void *of, const struct profile_sample *s)
{
    struct taking *t = of;

    t->is_varied = !profile_tally_add(&t->tally, t->rules, s);
    return !t->is_varied && attribution_add(t->rules, s, t->counts);
}

static int take_file(void *ctx, const char *path, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct taking *t = ctx;
    const struct profile_seen seen = {take_sample, t};
    struct err e = {0};
    CLEANUP(mem_freep) char *full = file_join(t->folder, path);
    CLEANUP(buf_deinit) struct buf text = {0};

    (void)mode;
    if (path[0] == '.' || strchr(path, '/') || kind == FILE_FOLDER)
        return 0;
    if (kind != FILE_REGULAR)
        return refuse(t, "lane.profile_bad", path, "no file");
    if (bytes < 0 || (size_t)bytes > t->left)
        return refuse(t, "lane.profile_large", path, "too large");
    int rc = file_read(full, t->left, &text, &e);
    if (rc == 0)
        rc = profile_read(t->rules->format, buf_str(&text), text.len, &seen, &e);
    if (t->is_varied)
        return refuse(t, "lane.profile_varied", path, "too many names");
    if (rc < 0)
        return refuse(t, "lane.profile_bad", path, e.text);
    t->left -= text.len;
    t->files++;
    return 0;
}

static const char *take(struct taking *t)
{
    struct err e = {0};

    if (file_walk(t->folder, take_file, t, &e) < 0)
        (void)refuse(t, "lane.profile_bad", "its folder", e.text);
    if (t->fault)
        return t->fault;
    if (t->files == 0)
        return "lane.profile_missing";
    return t->counts[t->rules->n_categories + ATTRIBUTION_SAMPLES] == 0 ? "lane.profile_empty"
                                                                        : NULL;
}

const char *run_profile_take(struct arena *a, const char *folder, const struct attribution *rules,
                             struct raw_value **out, struct buf *tally, const char **got)
{
    size_t n = attribution_count(rules);
    struct taking t = {.a = a,
                       .folder = folder,
                       .rules = rules,
                       .counts = arena_array(a, n, sizeof *t.counts),
                       .left = PROFILE_BYTES_MAX};
    const char *fault = take(&t);
    struct err e = {0};

    (void)file_empty(folder, &e);
    if (!fault)
        profile_tally_write(&t.tally, tally);
    profile_tally_deinit(&t.tally);
    *got = t.got;
    *out = arena_array(a, n, sizeof **out);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (struct raw_value){attribution_name(rules, i), t.counts[i]};
    return fault;
}
