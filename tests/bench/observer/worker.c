/* A protocol lane that works for a given time by its own clock and notes when it began and ended:
 *   bench-observer-worker STAMPS WORK_NS
 * STAMPS is a file of two integers that it maps. What lies between GO and DONE beyond the two is
 * the protocol's.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define GO "GO work\n"

static int64_t now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void say(const char *line)
{
    if (write(STDOUT_FILENO, line, strlen(line)) != (ssize_t)strlen(line))
        _exit(2);
}

static void hear_go(void)
{
    char line[64];
    size_t len = 0;

    while (len < strlen(GO)) {
        ssize_t n = read(STDIN_FILENO, line + len, sizeof line - len);
        if (n <= 0)
            _exit(2);
        len += (size_t)n;
    }
    if (memcmp(line, GO, strlen(GO)) != 0)
        _exit(2);
}

int main(int argc, char **argv)
{
    char rest[64];
    int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
    int64_t work_ns = argc == 3 ? strtoll(argv[2], NULL, 10) : 0;
    int64_t *stamps =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, 2 * sizeof *stamps, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (stamps == MAP_FAILED)
        return 2;
    stamps[0] = stamps[1] = 0; /* the page is there before the clock runs */
    say("READY work\n");
    hear_go();
    stamps[0] = now_ns();
    do
        stamps[1] = now_ns();
    while (stamps[1] - stamps[0] < work_ns);
    say("DONE work\n");
    while (read(STDIN_FILENO, rest, sizeof rest) > 0)
        ;
    return 0;
}
