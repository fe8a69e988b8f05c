#include "core/ledger/ledger.h"

#include <string.h>

char *disturbances_text(int bits, char *out)
{
    size_t len = 0;

    out[0] = '\0';
    for (int d = 0; d < DISTURBANCE_COUNT; d++) {
        if (!(bits & 1 << d))
            continue;
        const char *name = disturbance_name((enum disturbance)d);
        size_t n = strlen(name);
        if (len > 0)
            out[len++] = ',';
        memcpy(out + len, name, n + 1);
        len += n;
    }
    return out;
}

int disturbances_parse(const char *s)
{
    int bits = 0;

    while (*s) {
        char word[DISTURBANCES_TEXT];
        size_t n = strcspn(s, ",");
        if (n >= sizeof word)
            return -1;
        memcpy(word, s, n);
        word[n] = '\0';
        int d = disturbance_parse(word);
        if (d < 0)
            return -1;
        bits |= 1 << d;
        s += n + (s[n] == ',');
    }
    return bits;
}
