/* For the tests of documents: JSON texts are written with single quotes, which read better in C,
 * and a refusal is compared by its code and field. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

struct refusal {
    const char *text; /* the document, or a part of it */
    const char *code, *field;
};

/* The text with double quotes; malloc'd. */
static inline char *doc_text(const char *single_quoted)
{
    char *text = mem_strdup(single_quoted);
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    return text;
}

static inline void assert_refused(int rc, const struct err *e, const struct refusal *r)
{
    if (!rc)
        fail_msg("accepted: %s", r->text);
    if (strcmp(e->code, r->code) != 0 || strcmp(e->field, r->field) != 0)
        fail_msg("%s: %s at %s (%s); expected %s at %s", r->text, e->code, e->field, e->text,
                 r->code, r->field);
    assert_true(strlen(e->text) > 10);
}
