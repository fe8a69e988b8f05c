/* Another process that disturbs: bench-verdict-burner LANE_CPU OTHER_CPU BUSY_PCT NEAR_PCT SEED.
 *
 * It runs BUSY_PCT of the time, in bursts of 60 ms on average whose lengths and pauses chance
 * fixes; NEAR_PCT of the bursts are on LANE_CPU, the others on OTHER_CPU. With 100 it never
 * pauses. CPUs count from 0. It ends with whoever started it.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/bench/bench.h"
#include "tests/bench/verdict/chance.h"

#define BURST_NS 60e6

static int number(const char *text, long most)
{
    return strcmp(text, "0") == 0 ? 0 : bench_count(text, most);
}

static void go_to(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        bench_fail("sched_setaffinity", "this process may not use the CPU that it was given");
}

static void burn(double ns)
{
    volatile unsigned sum = 0;

    for (int64_t until = bench_now_ns() + (int64_t)ns; bench_now_ns() < until;)
        for (unsigned i = 0; i < 2000; i++)
            sum += i;
}

static void rest(double ns)
{
    const struct timespec t = {(time_t)(ns / 1e9), (long)ns % 1000000000};

    (void)nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    pid_t parent = getppid();

    if (argc != 6)
        bench_fail("bench-verdict-burner", "say LANE_CPU OTHER_CPU BUSY_PCT NEAR_PCT SEED");
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return 1;
    int near = number(argv[1], CPU_SETSIZE - 1), far = number(argv[2], CPU_SETSIZE - 1);
    double busy = bench_count(argv[3], 100) / 100.0, nears = number(argv[4], 100) / 100.0;
    uint64_t seed = (uint64_t)bench_count(argv[5], 1000000000);
    double pause_ns = BURST_NS * (1 - busy) / busy;
    bool burns = chance_uniform(&seed) < busy; /* as if it had gone on for ever */

    for (;; burns = true) {
        go_to(chance_uniform(&seed) < nears ? near : far);
        if (burns)
            burn(chance_exponential(&seed, BURST_NS));
        if (pause_ns > 0)
            rest(chance_exponential(&seed, pause_ns));
    }
}
