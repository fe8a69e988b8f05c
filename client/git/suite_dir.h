/* A suite as a folder on the user's machine: finding it by name, and packing it.
 *
 * All regular files below the folder belong to the suite, except what is under a `.git` or
 * `__pycache__` and `*.pyc`; empty folders do not. Links and special files are refused, because
 * what they mean on another machine is not what was seen here. The folder has suite.json at its
 * top. Errors: a negative errno with e filled; codes suite.not_found, suite.link,
 * suite.special_file, suite.too_large, suite.pack_bad (a path that cannot travel).
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/err.h"

/* The folder of the program exe, NULL: of this one. NULL where the system does not tell; malloc'd.
 */
char *program_folder(const char *exe);

struct suite_pack {
    struct buf bytes;        /* the pack, see proto/evidence/pack.h */
    char sha256[DIGEST_HEX]; /* the suite's identity */
    struct buf json;         /* suite.json as packed */
    size_t files;
};

/* Finds the suite that arg names: a folder with suite.json (or that file itself), else, for a name
 * without "/", the first of these that has NAME/suite.json: the folders of the colon list
 * `workloads` ($AURABENCH_WORKLOADS; NULL: none), <dir of exe>/../share/aurabench/workloads,
 * <dir of exe>/../workloads and <dir of exe>/../../workloads (a build tree). exe is the path of
 * this program; NULL: asked from the system, and where that does not tell, those places are
 * left out. *dir is malloc'd, absolute. -ENOENT: suite.not_found, the sentence lists where it was
 * sought. */
int suite_dir_find(const char *arg, const char *workloads, const char *exe, char **dir,
                   struct err *e);

/* Packs the folder. out must be zeroed; suite_pack_deinit also after an error. */
int suite_dir_pack(const char *dir, struct suite_pack *out, struct err *e);
void suite_pack_deinit(struct suite_pack *p);
