#include "base/ids.h"

#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

static const char ALPHABET[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/* One more than the id before, within the same millisecond: order of making is order of sorting. */
static void increment(unsigned char bytes[16])
{
    for (int i = 15; i >= 6; i--)
        if (++bytes[i])
            return;
}

static void encode(const unsigned char bytes[16], char out[ULID_LEN + 1])
{
    /* 128 bits in 26 groups of five; the first group holds the top three bits. */
    for (int i = 0; i < ULID_LEN; i++) {
        int value = 0;
        for (int bit = i * 5 - 2; bit < i * 5 + 3; bit++)
            value = value * 2 + (bit < 0 ? 0 : bytes[bit / 8] >> (7 - bit % 8) & 1);
        out[i] = ALPHABET[value];
    }
    out[ULID_LEN] = '\0';
}

void ulid_new(char out[ULID_LEN + 1])
{
    static _Thread_local unsigned char last[16];
    unsigned char bytes[16];
    uint64_t ms = (uint64_t)clock_wall_ms();

    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
    if (memcmp(bytes, last, 6) <= 0) {
        memcpy(bytes, last, sizeof bytes);
        increment(bytes);
    } else if (getentropy(bytes + 6, 10) != 0) {
        abort();
    }
    memcpy(last, bytes, sizeof last);
    encode(bytes, out);
}

bool ulid_valid(const char *s)
{
    return strlen(s) == ULID_LEN && strspn(s, ALPHABET) == ULID_LEN && s[0] <= '7';
}
