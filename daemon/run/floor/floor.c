/* aurabench-floor LOOPS [protocol]: what a calibration measures against itself.
 *
 * With 0 loops it does nothing, so that what is timed is the cost of timing; with more it does the
 * same work each time. Alone it is timed as a process; with `protocol` it speaks the records of
 * such a lane. It links nothing but libc, statically where that is to be had, and touches little
 * memory, so that its own start is as short and as even as one can be.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/floor/floor.h"

static volatile uint64_t sink;

/* Each step needs the one before it, so that no compiler and no core shortens it. */
static void work(uint64_t loops)
{
    uint64_t x = 88172645463325252ULL;

    for (uint64_t i = 0; i < loops; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

static int say(const char *line, size_t len)
{
    return write(STDOUT_FILENO, line, len) == (ssize_t)len ? 0 : 1;
}

static int await_go(void)
{
    char got[sizeof FLOOR_GO "\n"];
    size_t n = 0;

    while (n < sizeof FLOOR_GO) {
        ssize_t k = read(STDIN_FILENO, got + n, sizeof FLOOR_GO - n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return 1;
        n += (size_t)k;
    }
    return memcmp(got, FLOOR_GO "\n", sizeof FLOOR_GO) == 0 ? 0 : 1;
}

/* Reading on after DONE lets the runner take its stamp at once. */
static int speak(uint64_t loops)
{
    char end;

    if (say(FLOOR_READY "\n", sizeof FLOOR_READY) || await_go())
        return 1;
    work(loops);
    if (say(FLOOR_DONE "\n", sizeof FLOOR_DONE))
        return 1;
    return read(STDIN_FILENO, &end, 1) < 0;
}

int main(int argc, char **argv)
{
    char *rest;

    if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], FLOOR_PROTOCOL) != 0))
        return 2;
    uint64_t loops = strtoull(argv[1], &rest, 10);
    if (*rest || rest == argv[1])
        return 2;
    if (argc == 3)
        return speak(loops);
    work(loops);
    return 0;
}
