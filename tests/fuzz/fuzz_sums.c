/* SHA256SUMS and its signature: strict forms, so that what is read is exactly what is written; base
 * 64 and digests with them. The first byte says which. */
#include <string.h>

#include "base/digest.h"
#include "base/files.h"
#include "fuzz/fuzz.h"
#include "proto/evidence/manifest.h"
#include "proto/evidence/signature.h"
#include "proto/form/base64.h"

static void check_entries(const struct manifest *m, const char *text, size_t len)
{
    struct buf again = {0};
    struct err e = {0};

    for (size_t i = 0; i < m->n; i++) {
        MUST(file_path_is_inside(m->v[i].path), "%s", m->v[i].path);
        MUST(digest_valid(m->v[i].sha256), "%s", m->v[i].sha256);
        MUST(manifest_find(m, m->v[i].path) == &m->v[i], "%s", m->v[i].path);
        MUST(manifest_line(&again, m->v[i].path, m->v[i].sha256, &e) == 0, "%s", e.text);
    }
    MUST(again.len == len && (!len || memcmp(again.data, text, len) == 0), "%s", buf_str(&again));
    MUST(!manifest_find(m, "no such file"));
    buf_deinit(&again);
}

static void try_manifest(const char *text, size_t len)
{
    struct arena a = {0};
    struct manifest m;
    struct err e = {0};

    if (fuzz_accepted(manifest_parse(&a, text, len, &m, &e), &e))
        check_entries(&m, text, len);
    else
        MUST(strncmp(e.field, "line ", 5) == 0, "%s", e.field);
    arena_deinit(&a);
}

/* Any name: it is refused, or its line is read back as it. */
static void try_name(const char *text, size_t len)
{
    static const char sum[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct fuzz_in in = {(const uint8_t *)text, len};
    CLEANUP(mem_freep) char *path = fuzz_text(&in);
    struct arena a = {0};
    struct buf line = {0};
    struct manifest m;
    struct err e = {0};

    if (fuzz_accepted(manifest_line(&line, path, sum, &e), &e)) {
        MUST(manifest_parse(&a, line.data, line.len, &m, &e) == 0, "%s", e.text);
        MUST(m.n == 1 && strcmp(m.v[0].path, path) == 0 && strcmp(m.v[0].sha256, sum) == 0);
    }
    buf_deinit(&line);
    arena_deinit(&a);
}

static void try_signature(const char *text, size_t len)
{
    struct signature s;
    struct buf again = {0};
    struct err e = {0};

    if (fuzz_accepted(signature_parse(text, len, &s, &e), &e)) {
        MUST(key_valid(s.public_hex));
        buf_printf(&again, "aurabench-ed25519 1 %s ", s.public_hex);
        base64_encode(&again, s.bytes, sizeof s.bytes);
        buf_putc(&again, '\n');
        MUST(again.len == len && memcmp(again.data, text, len) == 0);
        (void)key_verify(s.public_hex, text, len, s.bytes);
    }
    buf_deinit(&again);
}

static void try_base64(const char *text, size_t len)
{
    struct buf bytes = {0}, again = {0};

    buf_puts(&bytes, "kept");
    if (base64_decode(text, len, &bytes) == 0) {
        base64_encode(&again, bytes.data + 4, bytes.len - 4);
        MUST(again.len == len && (!len || memcmp(again.data, text, len) == 0));
        fuzz_count_good();
    } else {
        MUST(bytes.len == 4 && strcmp(bytes.data, "kept") == 0);
    }
    buf_clear(&bytes);
    buf_clear(&again);
    base64_encode(&again, text, len);
    MUST(base64_decode(buf_str(&again), again.len, &bytes) == 0 && bytes.len == len);
    MUST(!len || memcmp(bytes.data, text, len) == 0);
    buf_deinit(&bytes);
    buf_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const char *, size_t) = {try_manifest, try_name, try_signature,
                                                          try_base64};
    struct fuzz_in in = {data, size};
    size_t which = fuzz_below(&in, ARRAY_LEN(tries));

    tries[which]((const char *)in.at, in.left);
    return 0;
}
