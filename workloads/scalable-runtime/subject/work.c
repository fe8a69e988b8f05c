#define _POSIX_C_SOURCE 200809L

#include "work.h"

#include <pthread.h>
#include <stdbool.h>

#include "record.h"

struct part {
    pthread_t thread;
    int64_t first, last; /* blocks */
    uint64_t sum;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct part parts[WORK_BLOCKS];
static int64_t count, steps_of_block;
static int64_t ready, done; /* of the parts */
static bool begun, over;

uint32_t work_steps(uint32_t x, int64_t steps)
{
    for (int64_t i = 0; i < steps; i++)
        x = (x * 1103515245u + 12345u) & 0x7fffffffu;
    return x;
}

/* One more of them is there; waits until this is so. With the lock. */
static void tell_and_await(int64_t *counter, const bool *until)
{
    (*counter)++;
    pthread_cond_broadcast(&changed);
    while (!*until)
        pthread_cond_wait(&changed, &lock);
}

static void *run_part(void *at)
{
    struct part *part = at;
    uint64_t sum = 0;

    pthread_mutex_lock(&lock);
    tell_and_await(&ready, &begun);
    pthread_mutex_unlock(&lock);
    for (int64_t block = part->first; block < part->last; block++)
        sum += work_steps((uint32_t)block + 1, steps_of_block);
    part->sum = sum;
    pthread_mutex_lock(&lock);
    tell_and_await(&done, &over);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void await_all(const int64_t *counter)
{
    while (*counter < count)
        pthread_cond_wait(&changed, &lock);
}

void work_begin(int64_t steps_per_block, int64_t tasks)
{
    if (tasks > WORK_BLOCKS)
        fail("work: at most %d tasks", WORK_BLOCKS);
    count = tasks;
    steps_of_block = steps_per_block;
    for (int64_t i = 0; i < tasks; i++) {
        parts[i].first = i * WORK_BLOCKS / tasks;
        parts[i].last = (i + 1) * WORK_BLOCKS / tasks;
        if (pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) != 0)
            fail("work: cannot start a thread");
    }
    pthread_mutex_lock(&lock);
    await_all(&ready);
    pthread_mutex_unlock(&lock);
}

uint64_t work_run(void)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&lock);
    begun = true;
    pthread_cond_broadcast(&changed);
    await_all(&done);
    pthread_mutex_unlock(&lock);
    for (int64_t i = 0; i < count; i++)
        sum += parts[i].sum;
    return sum;
}

void work_end(void)
{
    pthread_mutex_lock(&lock);
    over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int64_t i = 0; i < count; i++)
        (void)pthread_join(parts[i].thread, NULL);
}
