/* Creates and joins 10,000 threads; each adds its index to one sum. */
#define _POSIX_C_SOURCE 200809L

#include "record.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    TASKS = 10000,
    /* Threads alive at once: far under the default limits of processes and memory maps. */
    WAVE = 50,
    STACK_BYTES = 64 * 1024,
};

struct task {
    pthread_t thread;
    int64_t index;
};

static _Atomic int64_t total;

static void *add_index(void *argument)
{
    const struct task *task = argument;

    atomic_fetch_add_explicit(&total, task->index, memory_order_relaxed);
    return NULL;
}

static void run_wave(struct task *wave, int64_t first, const pthread_attr_t *attributes)
{
    for (int i = 0; i < WAVE; i++) {
        int error;

        wave[i].index = first + i;
        error = pthread_create(&wave[i].thread, attributes, add_index, &wave[i]);
        if (error != 0)
            fail("tasks: cannot create thread %" PRId64 ": %s", wave[i].index, strerror(error));
    }
    for (int i = 0; i < WAVE; i++) {
        int error = pthread_join(wave[i].thread, NULL);

        if (error != 0)
            fail("tasks: cannot join thread %" PRId64 ": %s", wave[i].index, strerror(error));
    }
}

int main(void)
{
    static struct task wave[WAVE];
    pthread_attr_t attributes;
    size_t stack = STACK_BYTES;
    int error;

    _Static_assert(TASKS % WAVE == 0, "the last wave must be full");
    if (stack < (size_t)PTHREAD_STACK_MIN)
        stack = (size_t)PTHREAD_STACK_MIN;
    error = pthread_attr_init(&attributes);
    if (error != 0)
        fail("tasks: cannot make thread attributes: %s", strerror(error));
    error = pthread_attr_setstacksize(&attributes, stack);
    if (error != 0)
        fail("tasks: cannot set the stack size: %s", strerror(error));

    record_start("READY release-performance tasks 10000", "GO release-performance tasks");
    for (int64_t first = 0; first < TASKS; first += WAVE)
        run_wave(wave, first, &attributes);
    record_finish("DONE release-performance tasks %d %" PRId64, TASKS, atomic_load(&total));

    error = pthread_attr_destroy(&attributes);
    if (error != 0)
        fail("tasks: cannot destroy thread attributes: %s", strerror(error));
    return 0;
}
