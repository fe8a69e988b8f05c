#include "proto/form/printed.h"

#include "proto/json/json.h"

#define SHOWN 120 /* of a line */

const char *printed_shown(struct arena *a, const char *line, size_t len)
{
    len = len > SHOWN ? SHOWN : len;
    char *text = arena_alloc(a, len + 1);
    for (size_t i = 0; i < len; i++)
        text[i] = line[i] >= ' ' && line[i] <= '~' ? line[i] : '?';
    return text;
}

int64_t printed_number(const char *text, size_t len)
{
    int64_t v = 0;

    if (len == 0 || len > 16 || (len > 1 && text[0] == '0'))
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        v = v * 10 + (text[i] - '0');
    }
    return v <= JSON_INT_MAX ? v : -1;
}
