/* Trials of the ledger: a lane that needs so much CPU time, a burst of another process at a random
 * moment of it, and what the runner's counters and the contract's limits make of it.
 *
 * trial ROOT TRIALS WHERE BURST_MS LANE_MS ABSENT_US SEED
 *   ROOT       "" for the best counters of this host; a folder with nothing but a link to /proc
 *              for /proc alone
 *   WHERE      near (the burst is on the lane's core), far, none
 *   ABSENT_US  none: a trial counts only when all others together ran for less than this, by a
 *              counter of their own (the CPU clock of each, read around the trial); those that were
 *              on another core before and after may have run for FAR_TIMES as much; 0: every one
 *              counts
 *
 * Prints, a line a trial: "found 1" or "found 0" (none: "clean 1", "clean 0", or "loud 1" for a
 * trial that does not count), "first NS" for a
 * reading after something else has used the caches, and "again NS" for one right behind another.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "core/ledger/ledger_judge.h"
#include "run/runner/counters.h"
#include "run/runner/placement.h"

#define TRIALS_MAX 100000
#define MS 1000000LL
/* Longer bursts begin so early that this much of them falls into the lane's time. */
#define INSIDE_MS 150
#define FAR_TIMES 5
#define PREPARE_MS 40 /* to look around, before GO */

enum where { NONE, NEAR, FAR };

struct trial {
    enum where where;
    int64_t burst_ns, lane_ns, absent_ns, after_ns; /* the burst begins so long after GO */
    int lane_cpu, far_cpu;
    pid_t lane, burner;
    int go, done; /* our ends of the pipes */
};

static int64_t cpu_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void burn(int64_t ns)
{
    volatile unsigned sum = 0;

    for (int64_t until = cpu_ns() + ns; cpu_ns() < until;)
        for (unsigned i = 0; i < 2000; i++)
            sum += i;
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        bench_fail("sched_setaffinity", "this process may not use two CPUs");
}

/* Waits for the byte that is GO. */
static void await_go(int fd)
{
    char c;

    if (read(fd, &c, 1) != 1)
        _exit(1);
}

static pid_t begin(void)
{
    pid_t pid = fork();

    if (pid < 0)
        bench_fail("fork", "no process is to be had");
    if (pid == 0)
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

static void start_lane(struct trial *t)
{
    int go[2], done[2];

    if (pipe(go) != 0 || pipe(done) != 0)
        bench_fail("pipe", "no descriptor is to be had");
    t->lane = begin();
    if (t->lane == 0) {
        pin(t->lane_cpu);
        await_go(go[0]);
        burn(t->lane_ns);
        _exit(write(done[1], "D", 1) != 1);
    }
    (void)close(go[0]);
    (void)close(done[1]);
    t->go = go[1];
    t->done = done[0];
}

/* Its GO is an absolute moment, so that nothing has to be written to it. */
static void start_burner(struct trial *t, int64_t at_ns)
{
    const struct timespec at = {at_ns / (1000 * MS), at_ns % (1000 * MS)};

    t->burner = 0;
    if (t->where == NONE)
        return;
    t->burner = begin();
    if (t->burner > 0)
        return;
    (void)close(t->go);
    pin(t->where == NEAR ? t->lane_cpu : t->far_cpu);
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
    burn(t->burst_ns);
    _exit(0);
}

#define OTHERS_MAX 32768

/* What each other process has run, by a counter that the ledger does not use. */
struct others {
    size_t n;
    pid_t pid[OTHERS_MAX];
    int64_t ran_ns[OTHERS_MAX];
    int cpu[OTHERS_MAX]; /* where it ran last */
    int64_t forks;
};

struct beside {
    int64_t near_ns; /* of whoever may have been on the lane's core */
    int64_t far_ns;
};

static bool read_of(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        (void)close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* All threads of it: the schedstat of a process is that of its first one. */
static int64_t ran_ns(pid_t pid)
{
    struct timespec t;
    clockid_t id;

    if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &t) != 0)
        return -1;
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* The 39th field of stat, the 37th behind the name. */
static int cpu_of(pid_t pid)
{
    char text[1024];
    char *at = read_of(pid, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;

    for (int field = 2; at && field < 39; field++)
        at = strchr(at + 1, ' ');
    return at ? (int)strtol(at, NULL, 10) : -1;
}

/* Processes that were ever begun on this machine. */
static int64_t forks(void)
{
    static char text[1 << 20];
    FILE *f = fopen("/proc/stat", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

    if (f)
        (void)fclose(f);
    text[n] = '\0';
    const char *at = strstr(text, "\nprocesses ");
    return at ? strtoll(at + strlen("\nprocesses "), NULL, 10) : -1;
}

static void look_at_others(const struct trial *t, struct others *out)
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;

    if (!dir)
        bench_fail("/proc", "it cannot be read");
    out->n = 0;
    while ((entry = readdir(dir)) && out->n < OTHERS_MAX) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid() || pid == t->lane || pid == t->burner)
            continue;
        out->pid[out->n] = pid;
        out->cpu[out->n] = cpu_of(pid);
        out->ran_ns[out->n++] = ran_ns(pid);
    }
    (void)closedir(dir);
    out->forks = forks();
}

/* CPU time of all others between the two; INT64_MAX when some came or went, whose time cannot be
 * told. */
static struct beside ran_beside(const struct trial *t, const struct others *from,
                                const struct others *to)
{
    const struct beside unknown = {INT64_MAX, INT64_MAX};
    struct beside sum = {0};

    if (from->n != to->n || from->forks != to->forks)
        return unknown;
    for (size_t i = 0; i < from->n; i++) {
        if (from->pid[i] != to->pid[i])
            return unknown;
        bool far = from->cpu[i] == to->cpu[i] && to->cpu[i] >= 0 && to->cpu[i] != t->lane_cpu;
        *(far ? &sum.far_ns : &sum.near_ns) += to->ran_ns[i] - from->ran_ns[i];
    }
    return sum;
}

static int64_t monotonic_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static int judge(const struct account *a, int64_t lane_ns)
{
    const struct policy policy = {.rules[COND_STEAL].mode = RULE_RECORD,
                                  .rules[COND_THERMAL].mode = RULE_RECORD,
                                  .rules[COND_SWAP].mode = RULE_RECORD};
    const struct warmup warmup = {.ns = lane_ns};
    struct ledger_limits limits;
    struct ledger l;

    ledger_account(a, &l);
    ledger_limits(counters_sources(), &policy, (int)sysconf(_SC_NPROCESSORS_ONLN), &warmup,
                  &limits);
    return ledger_judge(&l, &limits);
}

static void tell(const struct trial *t, int bits, struct beside beside)
{
    int wanted = t->where == NEAR ? 1 << DISTURBED_NEAR | 1 << DISTURBED_DELAY : 1 << DISTURBED_FAR;

    if (bits < 0)
        bench_fail("ledger_judge", "this host has no counter of what its CPUs do");
    if (t->where != NONE)
        bench_sample("found", (bits & wanted) != 0);
    else if (t->absent_ns > 0 &&
             (beside.near_ns >= t->absent_ns || beside.far_ns >= FAR_TIMES * t->absent_ns))
        bench_sample("loud", 1);
    else
        bench_sample("clean", bits == 0);
}

static void run(struct trial *t)
{
    struct account a = {.ticks_off_ns = counters_ticks_off_ns(), .preemptions = -1};
    uint8_t mask[WIRE_CPU_BYTES] = {0};
    const struct wire_bytes near = {mask, sizeof mask};
    struct placement placement = {0};
    static struct others before, after;
    char c;

    mask[t->lane_cpu / 8] = (uint8_t)(1U << t->lane_cpu % 8);
    start_lane(t);
    int64_t go_ns = monotonic_ns() + PREPARE_MS * MS;
    start_burner(t, go_ns + t->after_ns);
    look_at_others(t, &before);
    counters_lane(t->lane);
    placement_enter(&placement, t->lane_cpu);
    while (monotonic_ns() < go_ns)
        (void)usleep(200);
    int64_t began_ns = bench_now_ns();
    counters_from(&near, &a.from);
    bench_sample("first", bench_now_ns() - began_ns);
    began_ns = bench_now_ns();
    counters_from(&near, &a.from);
    bench_sample("again", bench_now_ns() - began_ns);
    if (write(t->go, "G", 1) != 1 || read(t->done, &c, 1) != 1)
        bench_fail("lane", "it ended before it was done");
    began_ns = bench_now_ns();
    counters_to(&near, &a.to);
    bench_sample("first", bench_now_ns() - began_ns);
    a.pinned = placement.pinned;
    placement_leave(&placement);
    look_at_others(t, &after);
    tell(t, judge(&a, t->lane_ns), ran_beside(t, &before, &after));
    (void)close(t->go);
    (void)close(t->done);
    if (t->burner > 0)
        (void)kill(t->burner, SIGKILL);
    while (wait(NULL) > 0)
        ;
}

static enum where where_of(const char *word)
{
    if (strcmp(word, "near") == 0)
        return NEAR;
    if (strcmp(word, "far") == 0)
        return FAR;
    if (strcmp(word, "none") != 0)
        bench_fail(word, "is neither near nor far nor none");
    return NONE;
}

/* The lane gets the last CPU that we may use, others the first. */
static void choose_cpus(struct trial *t)
{
    cpu_set_t set;

    t->far_cpu = t->lane_cpu = -1;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        bench_fail("sched_getaffinity", "it cannot be told which CPUs there are");
    for (int i = 0; i < WIRE_CPU_BYTES * 8 && i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET((size_t)i, &set))
            continue;
        if (t->far_cpu < 0)
            t->far_cpu = i;
        t->lane_cpu = i;
    }
    if (t->far_cpu == t->lane_cpu)
        bench_fail("sched_getaffinity", "two CPUs are needed");
}

int main(int argc, char **argv)
{
    struct trial t = {0};

    if (argc != 8)
        bench_fail("trial", "say ROOT TRIALS WHERE BURST_MS LANE_MS ABSENT_US SEED");
    int trials = bench_count(argv[2], TRIALS_MAX);
    t.where = where_of(argv[3]);
    t.burst_ns = bench_count(argv[4], 10000) * MS;
    t.lane_ns = bench_count(argv[5], 10000) * MS;
    t.absent_ns = strcmp(argv[6], "0") == 0 ? 0 : bench_count(argv[6], 1000000000) * 1000LL;
    srand((unsigned)bench_count(argv[7], 1000000000));
    choose_cpus(&t);
    counters_init(argv[1], getppid(), false);
    for (int i = 0; i < trials; i++) {
        int64_t inside_ns = t.burst_ns < INSIDE_MS * MS ? t.burst_ns : INSIDE_MS * MS;
        int64_t latest_ns = t.lane_ns > inside_ns ? t.lane_ns - inside_ns : 1;
        t.after_ns = (int64_t)((double)latest_ns * rand() / RAND_MAX);
        run(&t);
    }
    counters_close();
    return 0;
}
