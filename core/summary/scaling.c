#include "core/summary/scaling.h"

#include <inttypes.h>
#include <math.h>

#include "core/names.h"
#include "core/suite.h"

#define CPU_NUMBER_MAX 65535

static const char *const scaling_status_names[] = {
    [SCALING_MET] = "MET",
    [SCALING_MISSED] = "MISSED",
    [SCALING_UNRESOLVED] = "UNRESOLVED",
};
NAMES(scaling_status, scaling_status);

/* Digits at *at; -1: there are none, or they are no number of a CPU. */
static int64_t take_number(const char **at)
{
    int64_t v = 0;
    const char *from = *at;

    for (; **at >= '0' && **at <= '9' && v <= CPU_NUMBER_MAX; (*at)++)
        v = v * 10 + (**at - '0');
    return *at == from || v > CPU_NUMBER_MAX ? -1 : v;
}

int64_t scaling_cpus(const char *list)
{
    int64_t n = 0, last = -1;

    for (const char *at = list; at; at++) {
        int64_t from = take_number(&at), to = from;
        if (*at == '-') {
            at++;
            to = take_number(&at);
        }
        if (from <= last || to < from)
            return -1;
        n += to - from + 1;
        last = to;
        if (*at == '\0')
            return n;
        if (*at != ',')
            return -1;
    }
    return -1;
}

static const char *why_not_valid(struct arena *a, const struct scaling_facts *f,
                                 const struct scaling_row *row)
{
    if (f->undefined)
        return f->undefined;
    if (row->cpus < 0)
        return "it is not known how many CPUs the lanes could use";
    if (row->cpus < row->tasks)
        return arena_printf(a, "%" PRId64 " tasks need as many CPUs, the lanes have %" PRId64,
                            row->tasks, row->cpus);
    if (!f->complete)
        return "not every repetition has both lanes";
    if (f->undisturbed != TRI_PASS && f->undisturbed != TRI_NOT_APPLICABLE)
        return "it is not known of every repetition that nothing else ran beside it";
    if (!(f->one_cpu * 100 >= f->one_wall * SCALING_BUSY_PCT))
        return arena_printf(a, "%s did not compute for %d %% of its time", row->one,
                            SCALING_BUSY_PCT);
    return NULL;
}

/* Figure and interval must lie on one side of the limit. */
static const char *why_not_clear(const struct scaling_row *row)
{
    if (isnan(row->ratio))
        return "a pair has no ratio";
    if (!row->interval.defined)
        return "there are too few repetitions for an interval";
    bool within = row->ratio <= row->max_ratio;
    return (row->interval.low <= row->max_ratio) == within &&
                   (row->interval.high <= row->max_ratio) == within
               ? NULL
               : "the interval reaches over the limit";
}

void scaling_judge(struct arena *a, const struct estimate *e, const struct scaling_facts *facts,
                   struct scaling_row *row)
{
    row->ratio = facts->undefined ? NAN : e->paired_median_ratio;
    row->pairs = facts->undefined ? 0 : e->pairs;
    row->interval = facts->undefined ? (struct interval){.low = NAN, .high = NAN, .coverage = NAN}
                                     : e->interval;
    row->why = why_not_valid(a, facts, row);
    if (!row->why)
        row->why = why_not_clear(row);
    row->status = row->why                       ? SCALING_UNRESOLVED
                  : row->ratio <= row->max_ratio ? SCALING_MET
                                                 : SCALING_MISSED;
}
