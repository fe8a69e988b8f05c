/* Many tasks that mostly wait, on one loop:
 *
 *     runtime sleepers COUNT     sleep an hour each; memory before and after they are there
 *     runtime idle COUNT         the same, to be watched
 *     runtime timers COUNT MS    end within MS of GO, spread evenly over its second half
 *     runtime beside COUNT MS    one task sleeps MS so often while another computes
 *     runtime scaling STEPS TASKS   the same work as so many tasks, each a thread
 *
 * How late each timer and each sleeper was is told after ACK.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "record.h"
#include "work.h"

#define HOUR_NS (3600 * INT64_C(1000000000))

#define SLICE_STEPS 20000 /* computed before another task has its turn */

static int64_t woken;
static int64_t *late_ns; /* by index */

static void make_room(int64_t count)
{
    late_ns = malloc((size_t)count * sizeof *late_ns);
    if (late_ns == NULL)
        fail("runtime: out of memory");
}

static void say_late(int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        record_say("SAMPLE overshoot %" PRId64 " %" PRId64, i, late_ns[i]);
}

static void count_woken(struct task *task)
{
    (void)task;
    woken++;
}

static void spawn_sleepers(int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        loop_spawn(i, HOUR_NS, count_woken);
}

static void await_go(const char *name, int64_t count)
{
    record_say("READY %s %" PRId64, name, count);
    loop_until_input();
    record_expect("GO");
}

static void sleepers(int64_t count)
{
    record_say("BASELINE sleepers");
    record_expect("LOAD");
    spawn_sleepers(count);
    await_go("sleepers", count);
    record_say("DONE sleepers %zu", loop_cancel());
}

static void idle(int64_t count)
{
    spawn_sleepers(count);
    await_go("idle", count);
    record_say("DONE idle %zu", loop_cancel());
}

static void note_late(struct task *task)
{
    late_ns[task->index] = loop_now_ns() - task->wake_ns;
    woken++;
}

static void timers(int64_t count, int64_t ms)
{
    make_room(count);
    await_go("timers", count);
    int64_t begin_ns = loop_now_ns();
    for (int64_t i = 0; i < count; i++)
        loop_spawn(i, ms * 500000 + (i + 1) * (ms * 500000) / count, note_late);
    int64_t armed_ns = loop_now_ns() - begin_ns;
    loop_until_empty();
    record_say("DONE timers %" PRId64, woken);
    record_expect("ACK");
    record_say("SAMPLE arm_span 0 %" PRId64, armed_ns);
    say_late(count);
}

/* ---- a sleeper beside a task that computes */

static int64_t wanted, pause_ns;
static uint32_t computed;
static int64_t slices, slices_seen;

static void sleeper(struct task *task)
{
    late_ns[woken++] = loop_now_ns() - task->wake_ns;
    if (slices == slices_seen)
        fail("beside: nothing was computed while it slept");
    slices_seen = slices;
    if (woken < wanted)
        loop_sleep(task, pause_ns);
}

static void compute(struct task *task)
{
    computed = work_steps(computed, SLICE_STEPS);
    slices++;
    if (woken < wanted)
        loop_sleep(task, 0);
}

static void beside(int64_t count, int64_t ms)
{
    make_room(count);
    wanted = count;
    pause_ns = ms * 1000000;
    await_go("beside", count);
    loop_spawn(0, pause_ns, sleeper);
    loop_spawn(1, 0, compute);
    loop_until_empty();
    record_say("DONE beside %" PRId64, woken);
    record_expect("ACK");
    say_late(count);
}

/* ---- one task or several */

static void scaling(int64_t steps, int64_t tasks)
{
    work_begin(steps / WORK_BLOCKS, tasks);
    await_go("scaling", steps);
    record_say("DONE scaling %" PRId64 " %" PRIu64, steps, work_run());
    record_expect("ACK"); /* the threads end when that was stamped */
    work_end();
}

static int64_t number(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end != '\0' || value < 1 || value > 10000000)
        fail("runtime: %s is no count of 1 to 10000000", text);
    return value;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "sleepers") == 0)
        sleepers(number(argv[2]));
    else if (argc == 3 && strcmp(argv[1], "idle") == 0)
        idle(number(argv[2]));
    else if (argc == 4 && strcmp(argv[1], "timers") == 0)
        timers(number(argv[2]), number(argv[3]));
    else if (argc == 4 && strcmp(argv[1], "beside") == 0)
        beside(number(argv[2]), number(argv[3]));
    else if (argc == 4 && strcmp(argv[1], "scaling") == 0)
        scaling(number(argv[2]), number(argv[3]));
    else
        fail("usage: runtime sleepers|idle COUNT, runtime timers|beside COUNT MS, runtime scaling "
             "STEPS TASKS");
    record_rest();
    return 0;
}
