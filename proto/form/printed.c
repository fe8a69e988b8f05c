#include "proto/form/printed.h"

#include <string.h>

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

bool printed_word(struct piece *rest, struct piece *word)
{
    const char *blank = rest->len > 0 ? memchr(rest->at, ' ', rest->len) : NULL;

    if (!blank || blank == rest->at)
        return false;
    *word = (struct piece){rest->at, (size_t)(blank - rest->at)};
    *rest = (struct piece){blank + 1, rest->len - word->len - 1};
    return true;
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
