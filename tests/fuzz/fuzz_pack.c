/* Suite packs: one set of files has exactly one pack, so what is accepted is what would be written
 * of it; and no path in it leads out of a folder. */
#include <string.h>

#include "base/files.h"
#include "fuzz/fuzz.h"
#include "proto/evidence/pack.h"

struct files {
    struct pack_entry v[PACK_FILES_MAX];
    size_t n;
};

static int take(void *ctx, const struct pack_entry *file)
{
    struct files *f = ctx;

    MUST(f->n < PACK_FILES_MAX);
    MUST(file_path_is_inside(file->path) && strlen(file->path) <= PACK_PATH_MAX, "%s", file->path);
    fuzz_must_be_text(file->path);
    f->v[f->n++] = *file;
    return 0;
}

static int stop(void *ctx, const struct pack_entry *file)
{
    (void)ctx, (void)file;
    return 7;
}

static void must_be_its_own_pack(const uint8_t *data, size_t size, struct files *f)
{
    struct buf again = {0};
    struct err e = {0};

    for (size_t i = 0; i < f->n / 2; i++) { /* the writer sorts */
        struct pack_entry swap = f->v[i];
        f->v[i] = f->v[f->n - 1 - i];
        f->v[f->n - 1 - i] = swap;
    }
    MUST(pack_write(f->v, f->n, &again, &e) == 0, "%s", e.text);
    MUST(again.len == size && memcmp(again.data, data, size) == 0);
    buf_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct files files;
    struct err e = {0}, again = {0};
    int rc;

    files.n = 0;
    rc = pack_read(data, size, take, &files, &e);
    MUST(pack_read(data, size, NULL, NULL, &again) == rc && strcmp(e.code, again.code) == 0);
    if (fuzz_accepted(rc, &e)) {
        MUST(pack_read(data, size, stop, NULL, NULL) == (files.n ? 7 : 0));
        must_be_its_own_pack(data, size, &files);
    } else {
        MUST(files.n == 0 && strcmp(e.code, "suite.pack_bad") == 0, "%s", e.code);
    }
    return 0;
}
