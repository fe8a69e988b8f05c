/* Any bytes as a program: it is refused or told of, within its own bytes, each name text that ends
 * before its table does. */
#include <errno.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "proto/form/elf.h"

struct bytes {
    const uint8_t *data;
    size_t size, read;
};

static bool read_bytes(void *of, uint64_t at, void *to, size_t len)
{
    struct bytes *b = of;

    MUST(at <= b->size && len <= b->size - at, "%zu bytes", len);
    memcpy(to, b->data + at, len);
    b->read += len;
    return true;
}

static void see(void *of, const char *name)
{
    struct bytes *b = of;

    MUST(name[0] && strlen(name) < b->size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = {data, size, 0};
    const struct elf_file file = {size, read_bytes, &b};
    const struct elf_seen seen = {see, see, &b};
    int rc = elf_read(&file, &seen);

    MUST(rc == 0 || rc == -ENODATA || rc == -EBADMSG, "%d", rc);
    /* 64 bytes for each section, and each of the few tables once with its names. */
    MUST(b.read <= 64 * (size_t)65537 + 16 * size, "%zu bytes of %zu", b.read, size);
    if (rc == 0)
        fuzz_count_good();
    return 0;
}
