#include "run/runner/readings.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_FIELD 17 /* fields of stat between the command and the number of threads */

static int schedstat_fd = -1;

void readings_init(void)
{
    schedstat_fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
}

int64_t reading_clock_ns(clockid_t id)
{
    struct timespec t;

    return clock_gettime(id, &t) == 0 ? t.tv_sec * 1000000000LL + t.tv_nsec : -1;
}

static int64_t own_delay_ns(void)
{
    char text[128];
    int64_t delay_ns;
    ssize_t n = schedstat_fd < 0 ? -1 : pread(schedstat_fd, text, sizeof text - 1, 0);

    if (n <= 0)
        return -1;
    text[n] = '\0';
    return sscanf(text, "%*u %" SCNd64, &delay_ns) == 1 ? delay_ns : -1;
}

static int64_t difference(int64_t to, int64_t from)
{
    return to < 0 || from < 0 ? -1 : to - from;
}

void readings_delay_from(struct own_readings *r)
{
    r->delay_ns = own_delay_ns();
}

void readings_cpu_from(struct own_readings *r)
{
    r->cpu_ns = reading_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

void readings_cpu_to(struct own_readings *r)
{
    r->cpu_ns = difference(reading_clock_ns(CLOCK_PROCESS_CPUTIME_ID), r->cpu_ns);
}

void readings_delay_to(struct own_readings *r)
{
    r->delay_ns = difference(own_delay_ns(), r->delay_ns);
}

int64_t reading_cpu_ns(pid_t pid)
{
    clockid_t id;

    return clock_getcpuclockid(pid, &id) == 0 ? reading_clock_ns(id) : -1;
}

int reading_threads(pid_t pid)
{
    char path[32], text[512];

    (void)snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, text, sizeof text - 1);
    (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    /* The command may hold anything, so fields are counted from its end. */
    char *field = strrchr(text, ')');
    for (int i = 0; i <= THREADS_FIELD && field; i++)
        field = strchr(field + 1, ' ');
    return field ? (int)strtol(field, NULL, 10) : -1;
}
