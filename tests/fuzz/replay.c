/* A main for builds without libFuzzer: runs the target over every file of the folders that are
 * named, in the order of their names. The corpus is then one of the unit tests, under whatever
 * sanitizer the build has. */
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "fuzz/fuzz.h"

#define INPUT_BYTES_MAX (1 << 20)

struct replay {
    const char *folder;
    size_t files;
};

static int run_file(void *ctx, const char *name, enum file_kind kind, mode_t mode, int64_t bytes)
{
    struct replay *r = ctx;
    CLEANUP(mem_freep) char *path = file_join(r->folder, name);
    CLEANUP(buf_deinit) struct buf b = {0};
    struct err e = {0};

    (void)mode, (void)bytes;
    if (kind != FILE_REGULAR)
        return 0;
    if (file_read(path, INPUT_BYTES_MAX, &b, &e) < 0) {
        (void)fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    /* Not from the buffer, which is longer than what is in it. */
    CLEANUP(mem_freep) uint8_t *data = malloc(b.len ? b.len : 1);
    MUST(data != NULL);
    if (b.len)
        memcpy(data, b.data, b.len);
    (void)fprintf(stderr, "%s\n", path);
    (void)LLVMFuzzerTestOneInput(data, b.len);
    r->files++;
    return 0;
}

int main(int argc, char **argv)
{
    struct err e = {0};
    size_t files = 0;

    for (int i = 1; i < argc; i++) {
        struct replay r = {.folder = argv[i]};
        if (file_walk(argv[i], run_file, &r, &e)) {
            (void)fprintf(stderr, "%s\n", e.text);
            return 1;
        }
        files += r.files;
    }
    (void)printf("%zu inputs\n", files);
    return files ? 0 : 1;
}
