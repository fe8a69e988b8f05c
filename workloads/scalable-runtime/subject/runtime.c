/* Many tasks that mostly wait, on one loop:
 *
 *     runtime sleepers COUNT     sleep an hour each; memory before and after they are there
 *     runtime idle COUNT         the same, to be watched
 *     runtime timers COUNT MS    end within MS of GO, spread evenly over its second half
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "record.h"

#define HOUR_NS (3600 * INT64_C(1000000000))

static int64_t woken;

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

static void timers(int64_t count, int64_t ms)
{
    await_go("timers", count);
    for (int64_t i = 0; i < count; i++)
        loop_spawn(i, ms * 500000 + (i + 1) * (ms * 500000) / count, count_woken);
    loop_until_empty();
    record_say("DONE timers %" PRId64, woken);
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
    else
        fail("usage: runtime sleepers|idle COUNT, runtime timers COUNT MS");
    record_rest();
    return 0;
}
