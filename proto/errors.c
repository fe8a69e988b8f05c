#include "proto/errors.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct error_info table[] = {
#define ERROR(code, exit, meaning) {code, exit, meaning},
#include "proto/errors.def"
#undef ERROR
};

const struct error_info *error_table(size_t *n)
{
    *n = ARRAY_LEN(table);
    return table;
}

static int compare(const void *code, const void *row)
{
    return strcmp(code, ((const struct error_info *)row)->code);
}

const struct error_info *error_find(const char *code)
{
    return bsearch(code, table, ARRAY_LEN(table), sizeof *table, compare);
}

enum exit_status error_exit_status(const char *code)
{
    const struct error_info *info = error_find(code);
    return info ? info->exit : EXIT_JOB;
}
