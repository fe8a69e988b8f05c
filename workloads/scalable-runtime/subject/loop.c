#define _POSIX_C_SOURCE 200809L

#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record.h"

/* The tasks that sleep, as a heap: the first is the next to wake. */
static struct task **heap;
static size_t count, room;

int64_t loop_now_ns(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void put(size_t place, struct task *task)
{
    heap[place] = task;
    task->place = place;
}

static void rise(struct task *task)
{
    size_t place = task->place;

    while (place > 0 && heap[(place - 1) / 2]->wake_ns > task->wake_ns) {
        put(place, heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(place, task);
}

static void sink(struct task *task)
{
    size_t place = task->place;

    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && heap[child + 1]->wake_ns < heap[child]->wake_ns)
            child++;
        if (heap[child]->wake_ns >= task->wake_ns)
            break;
        put(place, heap[child]);
    }
    put(place, task);
}

static struct task *take_first(void)
{
    struct task *first = heap[0], *last = heap[--count];

    first->place = SIZE_MAX;
    if (count > 0) {
        put(0, last);
        sink(last);
    }
    return first;
}

void loop_sleep(struct task *task, int64_t delay_ns)
{
    if (count == room) {
        room = room > 0 ? 2 * room : 64;
        heap = realloc(heap, room * sizeof *heap);
        if (heap == NULL)
            fail("loop: out of memory");
    }
    task->wake_ns = loop_now_ns() + delay_ns;
    put(count, task);
    count++;
    rise(task);
}

void loop_spawn(int64_t index, int64_t delay_ns, void (*run)(struct task *task))
{
    struct task *task = malloc(sizeof *task);

    if (task == NULL)
        fail("loop: out of memory");
    task->index = index;
    task->run = run;
    loop_sleep(task, delay_ns);
}

size_t loop_tasks(void)
{
    return count;
}

/* What is due; each once. */
static void run_due(void)
{
    int64_t now_ns = loop_now_ns();

    while (count > 0 && heap[0]->wake_ns <= now_ns) {
        struct task *task = take_first();

        task->run(task);
        if (task->place == SIZE_MAX)
            free(task);
    }
}

/* Until the next is due, never before it; -1: nothing is. */
static int next_timeout_ms(void)
{
    int64_t left_ns = count > 0 ? heap[0]->wake_ns - loop_now_ns() : 0;
    int64_t left_ms = left_ns > 0 ? (left_ns + 999999) / 1000000 : 0;

    if (count == 0)
        return -1;
    return left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static bool wait_for(struct pollfd *input, nfds_t n)
{
    int ready = poll(input, n, next_timeout_ms());

    if (ready < 0 && errno != EINTR)
        fail("loop: cannot wait: %s", strerror(errno));
    return ready > 0;
}

void loop_until_input(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    while (!wait_for(&input, 1))
        run_due();
}

void loop_until_empty(void)
{
    while (count > 0) {
        (void)wait_for(NULL, 0);
        run_due();
    }
}

size_t loop_cancel(void)
{
    size_t tasks = count;

    while (count > 0)
        free(take_first());
    free(heap);
    heap = NULL;
    room = 0;
    return tasks;
}
