#include "run/runner/instructions.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter = -1;

static int open_event(uint32_t type, uint64_t config, bool at_exec)
{
    struct perf_event_attr attr;

    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.disabled = at_exec;
    attr.enable_on_exec = at_exec; /* the runner does not exec: of it nothing is counted */
    attr.inherit = at_exec;
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool instructions_open_as(uint32_t type, uint64_t config)
{
    counter = open_event(type, config, true);
    return counter >= 0;
}

bool instructions_open(void)
{
    return instructions_open_as(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

int64_t instructions_close(void)
{
    struct {
        uint64_t value, enabled_ns, running_ns;
    } r = {0};

    if (counter < 0)
        return -1;
    bool good = read(counter, &r, sizeof r) == (ssize_t)sizeof r;
    (void)close(counter);
    counter = -1;
    return good && r.value > 0 && r.running_ns > 0 && r.running_ns == r.enabled_ns &&
                   r.value < UINT64_C(1) << 53
               ? (int64_t)r.value
               : -1;
}

/* There are guests on which the counter can be opened and stands still: it must have counted
 * something of this very call. */
bool instructions_countable(void)
{
    counter = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false);
    return instructions_close() > 0;
}
