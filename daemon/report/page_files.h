/* The evidence of one report on a page, from its SHA256SUMS. */
#pragma once

#include "base/err.h"
#include "report/page_session.h"

/* Fills folder, files (the documents, the bundle, and SHA256SUMS itself) and has_bundle of out.
 * folder is how the page calls it. 0, or -EINVAL with e filled ("manifest.bad"). */
int page_files(struct arena *a, const char *folder, const char *sums, size_t len,
               struct page_report *out, struct err *e);
