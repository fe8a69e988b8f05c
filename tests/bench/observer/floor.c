/* What our runner adds to what it times, beside the barest that does the same, trial by trial in
 * turn. The runner is the daemon's own, driven by the daemon's own code (run/run.h):
 *   bench-observer-floor protocol TRIALS CPU RUNNER WORKER STAMPS WORK_NS
 *       GO to DONE without the lane's work: series ours and bare
 *   bench-observer-floor process TRIALS CPU RUNNER PROGRAM MIB
 *       the whole process: series ours, bare, and large: ours when this process holds MIB
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run/run.h"
#include "tests/bench/bench.h"
#include "tests/bench/observer/bare.h"

#define TRIALS_MAX 100000
#define TIMEOUT_MS 60000

struct stage {
    struct run *run;
    int cpu;
};

static const char *const ENV[] = {"PATH=/usr/bin:/bin", NULL};

/* Nanoseconds from GO to DONE, or of the whole process. */
static int64_t observe(const struct stage *s, struct run_observe *req)
{
    struct arena a = {0};
    struct run_observation o;
    struct err e = {0};

    req->env = ENV;
    req->cwd = "/";
    req->ready_timeout_ms = req->done_timeout_ms = TIMEOUT_MS;
    req->pin_cpu = s->cpu;
    BENCH_OK(run_observe_begin(s->run, req, &e), &e);
    if (run_wait(s->run, TIMEOUT_MS) != 0)
        bench_fail("run_wait", "the runner does not answer");
    BENCH_OK(run_observe_finish(s->run, &a, &o, &e), &e);
    if (strcmp(o.raw.outcome, "ok") != 0)
        bench_fail("the observation", o.raw.outcome);
    int64_t ns = req->measure == MEASURE_PROTOCOL ? o.raw.done_ns - o.raw.go_ns
                                                  : o.raw.exit_ns - o.raw.start_ns;
    arena_deinit(&a);
    return ns;
}

/* ---- GO to DONE */

static const int64_t *map_stamps(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0 || ftruncate(fd, 2 * sizeof(int64_t)) != 0)
        bench_fail(path, "cannot be made");
    const int64_t *stamps = mmap(NULL, 2 * sizeof *stamps, PROT_READ, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (stamps == MAP_FAILED)
        bench_fail(path, "cannot be mapped");
    return stamps;
}

static int64_t our_protocol(const struct stage *s, const char *const *argv)
{
    struct run_observe req = {.measure = MEASURE_PROTOCOL,
                              .argv = argv,
                              .ready = "READY work",
                              .go = "GO work",
                              .done = "DONE work"};

    return observe(s, &req);
}

static void protocol(const struct stage *s, int trials, char **argv)
{
    const char *const worker[] = {argv[0], argv[1], argv[2], NULL};
    const int64_t *stamps = map_stamps(argv[1]);

    for (int i = 0; i < trials; i++) {
        int64_t ns = our_protocol(s, worker);
        bench_sample("ours", ns - (stamps[1] - stamps[0]));
        ns = bare_protocol(worker, s->cpu);
        bench_sample("bare", ns - (stamps[1] - stamps[0]));
    }
}

/* ---- whole processes */

static int64_t our_process(const struct stage *s, const char *path)
{
    const char *const argv[] = {path, NULL};
    struct run_observe req = {.measure = MEASURE_PROCESS, .argv = argv, .stdout_text = ""};

    return observe(s, &req);
}

/* The daemon's own size must not show: a fork would copy its page tables. */
static void large(const struct stage *s, int trials, const char *path, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (memory == MAP_FAILED)
        bench_fail("mmap", "there is not so much memory");
    (void)madvise(memory, bytes, MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    for (int i = 0; i < trials; i++)
        bench_sample("large", our_process(s, path));
    (void)munmap(memory, bytes);
}

static void process(const struct stage *s, int trials, char **argv)
{
    (void)our_process(s, argv[0]); /* brings the file into memory */
    for (int i = 0; i < trials; i++) {
        bench_sample("ours", our_process(s, argv[0]));
        bench_sample("bare", bare_process(argv[0], s->cpu));
    }
    large(s, trials, argv[0], (size_t)bench_count(argv[1], 4096) << 20);
}

int main(int argc, char **argv)
{
    struct stage s = {0};
    struct err e = {0};
    bool is_protocol = argc == 8 && strcmp(argv[1], "protocol") == 0;

    if (!is_protocol && (argc != 7 || strcmp(argv[1], "process") != 0))
        bench_fail("bench-observer-floor", "protocol or process TRIALS CPU RUNNER ...");
    int trials = bench_count(argv[2], TRIALS_MAX);
    s.cpu = bench_count(argv[3], 8192) - 1; /* counts begin at 1 */
    BENCH_OK(run_new(argv[4], &s.run, &e), &e);
    (is_protocol ? protocol : process)(&s, trials, argv + 5);
    run_free(s.run);
    return 0;
}
