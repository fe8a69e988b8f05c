/* A loop of one thread that runs tasks when their time has come. */
#ifndef LOOP_H
#define LOOP_H

#include <stddef.h>
#include <stdint.h>

struct task {
    int64_t wake_ns; /* on the loop's clock */
    size_t place;    /* among those that sleep */
    int64_t index;
    void (*run)(struct task *task); /* may put it to sleep again */
};

int64_t loop_now_ns(void);

/* Makes a task that runs once after this time. */
void loop_spawn(int64_t index, int64_t delay_ns, void (*run)(struct task *task));

/* Puts the running task to sleep again; one that does not is over, and freed. */
void loop_sleep(struct task *task, int64_t delay_ns);

/* How many sleep. */
size_t loop_tasks(void);

/* Runs until there is input to read. */
void loop_until_input(void);

/* Runs until no task is left. */
void loop_until_empty(void);

/* Ends all tasks; how many there were. */
size_t loop_cancel(void);

#endif
