#include "run/runner/counters_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define STAT_FIELDS 8
enum stat_field { STAT_USER, STAT_NICE, STAT_SYSTEM, STAT_IDLE, STAT_IOWAIT, STAT_STEAL = 7 };
#define SCHEDSTAT_FIELDS 9
#define SCHEDSTAT_RAN 6
#define CPUS_MAX (WIRE_CPU_BYTES * 8)

/* The number at *at, which goes behind it; -1: there is none, or it is out of range. */
static int64_t take(const char **at)
{
    const char *from = *at + strspn(*at, " \t");
    char *end;

    if (!isdigit((unsigned char)*from))
        return -1;
    unsigned long long v = strtoull(from, &end, 10);
    *at = end;
    return v > INT64_MAX / 2 ? -1 : (int64_t)v;
}

static bool is_near(const struct wire_bytes *near, int64_t cpu)
{
    const uint8_t *bits = near->data;

    return !bits || ((size_t)cpu < near->len * 8 && bits[cpu / 8] & 1U << cpu % 8);
}

static void add(struct cpu_times *out, const struct wire_bytes *near, int64_t cpu, int64_t ns)
{
    if (is_near(near, cpu))
        out->near_ns += ns;
    else
        out->far_ns += ns;
}

bool parse_percpu(const char *text, const struct wire_bytes *near, struct cpu_times *out)
{
    int64_t cpu = 0;

    *out = (struct cpu_times){0};
    for (; *text && *text != '\n'; text += strspn(text, " \t")) {
        int64_t ns = take(&text);
        if (ns < 0 || cpu == CPUS_MAX)
            return false;
        add(out, near, cpu++, ns);
    }
    return *text == '\n' && cpu > 0;
}

/* The next line that begins with "cpu" and a number, n fields of it; NULL: there is no other, -1 in
 * *cpu when that line is not what it should be. */
static const char *cpu_line(const char *text, int64_t *cpu, int64_t *fields, int n)
{
    while (text && (strncmp(text, "cpu", 3) != 0 || !isdigit((unsigned char)text[3]))) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return NULL;
    text += 3;
    *cpu = take(&text);
    for (int i = 0; i < n && *cpu >= 0; i++)
        if ((fields[i] = take(&text)) < 0)
            *cpu = -1;
    const char *end = strchr(text, '\n');
    if (!end || *cpu >= CPUS_MAX)
        *cpu = -1;
    return end ? end + 1 : text + strlen(text);
}

bool parse_schedstat(const char *text, const struct wire_bytes *near, struct cpu_times *out)
{
    int64_t cpu, fields[SCHEDSTAT_FIELDS];
    bool any = false;

    *out = (struct cpu_times){0};
    while ((text = cpu_line(text, &cpu, fields, SCHEDSTAT_FIELDS))) {
        if (cpu < 0)
            return false;
        add(out, near, cpu, fields[SCHEDSTAT_RAN]);
        any = true;
    }
    return any;
}

bool parse_stat(const char *text, const struct wire_bytes *near, int64_t at_ns, int64_t tick_ns,
                struct cpu_times *out)
{
    int64_t cpu, fields[STAT_FIELDS];
    bool any = false;

    *out = (struct cpu_times){0};
    while ((text = cpu_line(text, &cpu, fields, STAT_FIELDS))) {
        if (cpu < 0)
            return false;
        int64_t away = fields[STAT_IDLE] + fields[STAT_IOWAIT] + fields[STAT_STEAL];
        add(out, near, cpu, at_ns - away * tick_ns);
        any = true;
    }
    return any;
}

int64_t parse_stat_steal(const char *text, int64_t tick_ns)
{
    int64_t v = -1;

    if (strncmp(text, "cpu ", 4) != 0 || !strchr(text, '\n'))
        return -1;
    text += 4;
    for (int i = 0; i < STAT_FIELDS; i++)
        if ((v = take(&text)) < 0)
            return -1;
    return v * tick_ns;
}

/* The number behind a word that begins a line, or stands after a blank. */
static int64_t number_after(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += n) {
        if (at != text && !isspace((unsigned char)at[-1]))
            continue;
        at += n;
        const char *number = at;
        int64_t v = take(&number);
        /* Cut off inside the number, it would be another one. */
        return v >= 0 && *number == '\n' ? v : -1;
    }
    return -1;
}

int64_t parse_pressure(const char *text)
{
    return strncmp(text, "some ", 5) == 0 ? number_after(text, "total=") : -1;
}

int64_t parse_swapped(const char *text)
{
    int64_t in = number_after(text, "pswpin "), out = number_after(text, "pswpout ");

    return in < 0 || out < 0 ? -1 : in + out;
}

int64_t parse_group(const char *text)
{
    int64_t us = number_after(text, "usage_usec ");

    return us < 0 || us > INT64_MAX / 2000 ? -1 : us * 1000;
}

bool parse_thread(const char *text, int64_t *ran_ns, int64_t *delay_ns, int64_t *slices)
{
    *ran_ns = take(&text);
    *delay_ns = take(&text);
    *slices = take(&text);
    return *ran_ns >= 0 && *delay_ns >= 0 && *slices >= 0;
}

int64_t parse_number(const char *text)
{
    int64_t v = take(&text);

    return *text == '\n' || *text == '\0' ? v : -1;
}
