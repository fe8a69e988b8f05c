/* What every unit test includes: cmocka with its prerequisites, and a folder of its own. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A fresh folder under TMPDIR; the path is malloc'd. */
static inline char *unit_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    char *path = NULL;

    assert_true(asprintf(&path, "%s/aurabench-unit-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") > 0);
    assert_non_null(mkdtemp(path));
    return path;
}
