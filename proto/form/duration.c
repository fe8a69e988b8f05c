#include "proto/form/duration.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

bool duration_parse(const char *text, int64_t *ms)
{
    int64_t n = 0;
    const char *p = text;
    while (*p >= '0' && *p <= '9' && n <= DURATION_MAX_MS)
        n = n * 10 + (*p++ - '0');
    if (p == text)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strcmp(p, units[i].name) != 0)
            continue;
        if (n > DURATION_MAX_MS / units[i].ms)
            return false;
        *ms = n * units[i].ms;
        return true;
    }
    return false;
}

char *duration_text(int64_t ms, char out[DURATION_TEXT])
{
    const struct unit *u = units;
    if (ms == 0)
        u = &units[3];
    while (ms % u->ms != 0)
        u++;
    snprintf(out, DURATION_TEXT, "%" PRId64 "%s", ms / u->ms, u->name);
    return out;
}

char *duration_format(int64_t ms, char out[DURATION_TEXT])
{
    const struct unit *u = units, *seconds = &units[3];
    if (ms < 0)
        ms = 0;
    while (ms < u->ms && u < seconds)
        u++;
    if (ms > 0 && ms < u->ms)
        snprintf(out, DURATION_TEXT, "%" PRId64 "ms", ms);
    else if (u == seconds)
        snprintf(out, DURATION_TEXT, "%" PRId64 "s", ms / u->ms);
    else
        snprintf(out, DURATION_TEXT, "%" PRId64 "%s %" PRId64 "%s", ms / u->ms, u->name,
                 ms % u->ms / u[1].ms, u[1].name);
    return out;
}
