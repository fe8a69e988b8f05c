#include "proto/form/callgrind.h"

#include <string.h>

#include "proto/json/json.h"

#define WORD "totals: "

/* The last line that is not empty, without its newline; NULL: the text does not end in one. */
static const char *last_line(const char *text, size_t *len)
{
    size_t end = *len;

    if (end == 0 || text[end - 1] != '\n')
        return NULL;
    while (end > 0 && text[end - 1] == '\n')
        end--;
    size_t start = end;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    *len = end - start;
    return text + start;
}

int64_t callgrind_total(const char *tail, size_t len)
{
    const char *line = last_line(tail, &len);
    size_t word = strlen(WORD);
    int64_t total = 0;

    /* More digits than a document's number has, or none, are no total. */
    if (!line || len <= word || len > word + 16 || memcmp(line, WORD, word) != 0)
        return -1;
    for (size_t i = word; i < len; i++) {
        if (line[i] < '0' || line[i] > '9')
            return -1;
        total = total * 10 + (line[i] - '0');
    }
    return total <= JSON_INT_MAX ? total : -1;
}
