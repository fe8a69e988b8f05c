#include "report/page_files.h"

#include "base/digest.h"
#include "base/mem.h"
#include "proto/evidence/manifest.h"

/* What a reader checks first; SHA256SUMS covers the rest. */
static const char *const shown[] = {"raw.json", "summary.json", "job.json", "policy.json",
                                    "commits.bundle"};

int page_files(struct arena *a, const char *folder, const char *sums, size_t len,
               struct page_report *out, struct err *e)
{
    struct manifest manifest;
    struct page_file *files = arena_array(a, ARRAY_LEN(shown) + 1, sizeof *files);
    char hex[DIGEST_HEX];
    int rc = manifest_parse(a, sums, len, &manifest, e);
    if (rc < 0)
        return rc;
    out->folder = folder;
    out->files = files;
    out->has_bundle = manifest_find(&manifest, "commits.bundle") != NULL;
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        const struct manifest_entry *entry = manifest_find(&manifest, shown[i]);
        if (entry)
            files[out->n_files++] =
                (struct page_file){arena_printf(a, "%s/%s", folder, entry->path), entry->sha256};
    }
    digest_bytes(sums, len, hex);
    files[out->n_files++] =
        (struct page_file){arena_printf(a, "%s/%s", folder, MANIFEST_NAME), arena_strdup(a, hex)};
    return 0;
}
