#include "run/runner/counters.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "run/runner/counters_parse.h"
#include "run/runner/group.h"
#include "run/runner/readings.h"

/* /proc/stat and /proc/schedstat of a machine with 1024 CPUs. Pages of it that no file fills are
 * never touched, and so not counted in a lane's peak memory. */
#define TEXT_BYTES (512 << 10)
#define PATH_BYTES 4352
#define PIECE_BYTES 3584
#define THROTTLE_FILES 64
#define DAEMON_TRIES 100
#define DAEMON_WAIT_NS 200000
/* cpuacct is charged when a task stops running, by the nanosecond, at each tick, and for a process
 * whose CPU clock is read: the runner's own and the lane's stand before it. */
#define CPUACCT_RESOLUTION_NS 100000
/* schedstat is charged when a task stops running; the runner itself, and what runs elsewhere just
 * then, is not in it. */
#define SCHEDSTAT_RESOLUTION_NS 250000

enum source {
    SOURCE_SWAP,
    SOURCE_STAT,
    SOURCE_PRESSURE,
    SOURCE_DAEMON,
    SOURCE_DAEMON_STATE,
    SOURCE_LANE,
    SOURCE_BUSY,
    SOURCE_GROUP,
    SOURCE_COUNT
};

enum busy { BUSY_NONE, BUSY_CPUACCT, BUSY_SCHEDSTAT, BUSY_STAT };

static int fds[SOURCE_COUNT];
static int throttle_fds[THROTTLE_FILES];
static size_t n_throttles;
static enum busy busy_kind;
static bool steals; /* there is a machine below this one */
static bool no_swap;
static clockid_t daemon_clock, lane_clock; /* asking for one costs as much as reading it */
static pid_t lane_pid;
static int64_t tick_ns;
static struct ledger_sources sources;
static char text[TEXT_BYTES];

/* A clock that cannot be read is as good as none. */
static clockid_t clock_of(pid_t pid)
{
    clockid_t id;

    return clock_getcpuclockid(pid, &id) == 0 ? id : (clockid_t)-1;
}

static void shut(int *fd)
{
    mem_closep(fd);
    *fd = -1;
}

static int open_below(const char *root, const char *path)
{
    char full[PATH_BYTES];

    (void)snprintf(full, sizeof full, "%s%s", root, path);
    return open(full, O_RDONLY | O_CLOEXEC);
}

/* The whole file; a file that does not fit, or is empty, is not read. */
static bool slurp(int fd)
{
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return n > 0 && (size_t)n < sizeof text - 1;
}

/* Large files come in pieces; what is shorter than the kernel's smallest piece is whole, and asking
 * again costs more than half of what it cost. */
static bool slurp_large(int fd)
{
    size_t len = 0;
    ssize_t n = -1;

    while (fd >= 0 && len < sizeof text - 1 &&
           (n = pread(fd, text + len, sizeof text - 1 - len, (off_t)len)) > 0) {
        len += (size_t)n;
        if (len < PIECE_BYTES && text[len - 1] == '\n')
            break;
    }
    text[len] = '\0';
    return n >= 0 && len > 0 && len < sizeof text - 1;
}

/* ---- choosing */

static void choose_busy(const char *root)
{
    static const char *const cpuacct[] = {"/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu",
                                          "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage_percpu"};
    const struct wire_bytes all = {NULL, 0};
    struct cpu_times times;

    busy_kind = BUSY_NONE;
    for (size_t i = 0; busy_kind == BUSY_NONE && i < ARRAY_LEN(cpuacct); i++) {
        fds[SOURCE_BUSY] = open_below(root, cpuacct[i]);
        if (slurp_large(fds[SOURCE_BUSY]) && parse_percpu(text, &all, &times))
            busy_kind = BUSY_CPUACCT;
        else
            shut(&fds[SOURCE_BUSY]);
    }
    if (busy_kind == BUSY_CPUACCT)
        return;
    fds[SOURCE_BUSY] = open_below(root, "/proc/schedstat");
    if (slurp_large(fds[SOURCE_BUSY]) && parse_schedstat(text, &all, &times))
        busy_kind = BUSY_SCHEDSTAT;
    else if (slurp_large(fds[SOURCE_STAT]) && parse_stat(text, &all, 0, tick_ns, &times))
        busy_kind = BUSY_STAT;
}

static void name_busy(void)
{
    static const struct {
        const char *name;
        int64_t resolution_ns;
    } kinds[] = {[BUSY_NONE] = {NULL, -1},
                 [BUSY_CPUACCT] = {"cpuacct", CPUACCT_RESOLUTION_NS},
                 [BUSY_SCHEDSTAT] = {"schedstat", SCHEDSTAT_RESOLUTION_NS},
                 [BUSY_STAT] = {"stat", 0}};

    sources.busy = kinds[busy_kind].name;
    /* Two readings make a little more than one tick: exact idle time, cut off once at each end, so
     * that a difference is off by less than one; a host that rests does something, too. */
    sources.busy_resolution_ns =
        busy_kind == BUSY_STAT ? tick_ns / 10 * 6 : kinds[busy_kind].resolution_ns;
}

/* A guest says so in its CPU's flags, and has had time stolen sooner or later. Bare metal has no
 * counter to be read at every interval. */
static void choose_steal(const char *root)
{
    int cpuinfo = open_below(root, "/proc/cpuinfo");

    steals = slurp_large(cpuinfo) && (strstr(text, " hypervisor") || !strstr(text, "flags\t"));
    mem_closep(&cpuinfo);
    bool told = slurp_large(fds[SOURCE_STAT]) && parse_stat_steal(text, tick_ns) >= 0;
    steals = told && (steals || parse_stat_steal(text, tick_ns) > 0);
    sources.steal = !told ? NULL : steals ? "stat" : "absent";
    sources.steal_resolution_ns = steals ? tick_ns : told ? 0 : -1;
}

static void choose_swap(const char *root)
{
    int swaps = open_below(root, "/proc/swaps");
    bool told = slurp(swaps);
    const char *second = told ? strchr(text, '\n') : NULL;

    mem_closep(&swaps);
    no_swap = told && (!second || second[1] == '\0');
    if (!no_swap)
        fds[SOURCE_SWAP] = open_below(root, "/proc/vmstat");
    sources.swap = no_swap ? "absent" : slurp(fds[SOURCE_SWAP]) ? "vmstat" : NULL;
}

static void choose_throttle(const char *root)
{
    static const char *const counts[] = {"core", "package"};
    char path[128];

    n_throttles = 0;
    for (int cpu = 0; cpu < WIRE_CPU_BYTES * 8; cpu++) {
        for (size_t i = 0; i < ARRAY_LEN(counts) && n_throttles < THROTTLE_FILES; i++) {
            (void)snprintf(path, sizeof path,
                           "/sys/devices/system/cpu/cpu%d/thermal_throttle/%s_throttle_count", cpu,
                           counts[i]);
            int fd = open_below(root, path);
            if (fd < 0)
                break;
            throttle_fds[n_throttles++] = fd;
        }
    }
    sources.throttle = n_throttles > 0 ? "thermal_throttle" : NULL;
}

void counters_close(void)
{
    for (size_t i = 0; i < SOURCE_COUNT; i++)
        shut(&fds[i]);
    for (size_t i = 0; i < n_throttles; i++)
        shut(&throttle_fds[i]);
    n_throttles = 0;
}

void counters_init(const char *root, pid_t daemon, bool grouped)
{
    char path[PATH_BYTES];

    for (size_t i = 0; i < SOURCE_COUNT; i++)
        fds[i] = -1;
    sources = LEDGER_NO_SOURCES;
    tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
    daemon_clock = clock_of(daemon);
    fds[SOURCE_STAT] = open_below(root, "/proc/stat");
    choose_busy(root);
    name_busy();
    choose_steal(root);
    choose_swap(root);
    choose_throttle(root);
    fds[SOURCE_PRESSURE] = open_below(root, "/proc/pressure/cpu");
    sources.pressure = slurp(fds[SOURCE_PRESSURE]) && parse_pressure(text) >= 0 ? "psi" : NULL;
    (void)snprintf(path, sizeof path, "/proc/%d/schedstat", daemon);
    fds[SOURCE_DAEMON] = open_below(root, path);
    sources.delay = slurp(fds[SOURCE_DAEMON]) ? "schedstat" : NULL;
    (void)snprintf(path, sizeof path, "/proc/%d/stat", daemon);
    fds[SOURCE_DAEMON_STATE] = open_below(root, path);
    if (grouped)
        fds[SOURCE_GROUP] = open(group_file(), O_RDONLY | O_CLOEXEC);
    sources.lane = fds[SOURCE_GROUP] >= 0 ? "cgroup" : "process";
}

const struct ledger_sources *counters_sources(void)
{
    return &sources;
}

int64_t counters_ticks_off_ns(void)
{
    return tick_ns;
}

void counters_lane(pid_t lane)
{
    char path[64];

    shut(&fds[SOURCE_LANE]);
    lane_pid = lane;
    if (lane == 0)
        return;
    lane_clock = clock_of(lane);
    (void)snprintf(path, sizeof path, "/proc/%d/schedstat", lane);
    fds[SOURCE_LANE] = open(path, O_RDONLY | O_CLOEXEC);
}

int64_t counters_group_ns(void)
{
    int64_t all_ns = slurp(fds[SOURCE_GROUP]) ? parse_group(text) : -1;
    int64_t own_ns = reading_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    return all_ns < 0 || own_ns < 0 ? -1 : all_ns - own_ns;
}

static bool daemon_sleeps(void)
{
    if (!slurp(fds[SOURCE_DAEMON_STATE]))
        return true; /* it cannot be told */
    const char *state = strrchr(text, ')');
    return !state || strncmp(state, ") R", 3) != 0;
}

void counters_await_daemon(void)
{
    for (int i = 0; i < DAEMON_TRIES && !daemon_sleeps(); i++)
        clock_sleep_ns(DAEMON_WAIT_NS);
}

/* ---- reading */

static void read_swap(const struct wire_bytes *near, struct counters *out)
{
    (void)near;
    out->swapped_pages = no_swap ? 0 : slurp(fds[SOURCE_SWAP]) ? parse_swapped(text) : -1;
}

static void read_throttles(const struct wire_bytes *near, struct counters *out)
{
    int64_t sum = 0;

    (void)near;
    for (size_t i = 0; i < n_throttles && sum >= 0; i++) {
        int64_t n = slurp(throttle_fds[i]) ? parse_number(text) : -1;
        sum = n < 0 ? -1 : sum + n;
    }
    out->throttles = n_throttles > 0 ? sum : -1;
}

/* /proc/stat is dear: only where it is the one source of something. */
static void read_stat(const struct wire_bytes *near, struct counters *out)
{
    struct cpu_times times;
    bool of_cpus = busy_kind == BUSY_STAT || busy_kind == BUSY_SCHEDSTAT;

    out->steal_ns = sources.steal && !steals ? 0 : -1;
    if ((!steals && !of_cpus) || !slurp_large(fds[SOURCE_STAT]))
        return;
    if (steals)
        out->steal_ns = parse_stat_steal(text, tick_ns);
    if (!of_cpus || !parse_stat(text, near, clock_mono_ns(), tick_ns, &times))
        return;
    int64_t *near_ns = busy_kind == BUSY_STAT ? &out->near_busy_ns : &out->near_ticks_ns;
    int64_t *far_ns = busy_kind == BUSY_STAT ? &out->far_busy_ns : &out->far_ticks_ns;
    *near_ns = times.near_ns;
    *far_ns = times.far_ns;
}

static void read_pressure(const struct wire_bytes *near, struct counters *out)
{
    (void)near;
    out->pressure_us = slurp(fds[SOURCE_PRESSURE]) ? parse_pressure(text) : -1;
}

static void read_daemon(const struct wire_bytes *near, struct counters *out)
{
    int64_t ran_ns, delay_ns;

    (void)near;
    out->daemon_ns = reading_clock_ns(daemon_clock);
    if (!slurp(fds[SOURCE_DAEMON]) ||
        !parse_thread(text, &ran_ns, &delay_ns, &out->daemon_switches))
        out->daemon_switches = -1;
}

static void read_lane(const struct wire_bytes *near, struct counters *out)
{
    int64_t slices;

    (void)near;
    out->lane_ns = lane_pid > 0 ? reading_clock_ns(lane_clock) : 0;
    if (lane_pid == 0)
        out->leader_ns = out->leader_delay_ns = 0;
    else if (!slurp(fds[SOURCE_LANE]) ||
             !parse_thread(text, &out->leader_ns, &out->leader_delay_ns, &slices))
        out->leader_ns = out->leader_delay_ns = -1;
}

static void read_busy(const struct wire_bytes *near, struct counters *out)
{
    struct cpu_times times;
    bool told = busy_kind == BUSY_CPUACCT
                    ? slurp_large(fds[SOURCE_BUSY]) && parse_percpu(text, near, &times)
                : busy_kind == BUSY_SCHEDSTAT
                    ? slurp_large(fds[SOURCE_BUSY]) && parse_schedstat(text, near, &times)
                    : false;

    if (!told)
        return;
    out->near_busy_ns = times.near_ns;
    out->far_busy_ns = times.far_ns;
}

static void read_group(const struct wire_bytes *near, struct counters *out)
{
    (void)near;
    out->group_ns = slurp(fds[SOURCE_GROUP]) ? parse_group(text) : -1;
}

static void read_own(const struct wire_bytes *near, struct counters *out)
{
    struct rusage u;

    (void)near;
    out->runner_ns = reading_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    out->runner_switches = getrusage(RUSAGE_SELF, &u) == 0 ? (int64_t)u.ru_nvcsw + u.ru_nivcsw : -1;
    out->at_ns = clock_mono_ns();
}

/* Reading the own clock charges the runner with what it has run since the last tick: before the
 * busy time, or that would be somebody else's. Afterwards it was read a moment ago, at the end of
 * the interval. */
static void (*const readers[])(const struct wire_bytes *near, struct counters *out) = {
    read_swap, read_throttles, read_stat, read_pressure, read_daemon,
    read_lane, read_own,       read_busy, read_group,
};

void counters_from(const struct wire_bytes *near, struct counters *out)
{
    *out = COUNTERS_UNKNOWN;
    for (size_t i = 0; i < ARRAY_LEN(readers); i++)
        readers[i](near, out);
}

void counters_to(const struct wire_bytes *near, struct counters *out)
{
    *out = COUNTERS_UNKNOWN;
    for (size_t i = ARRAY_LEN(readers); i-- > 0;)
        readers[i](near, out);
}
