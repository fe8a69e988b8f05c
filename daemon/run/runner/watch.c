#include "run/runner/watch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define AGAIN_NS 100000000LL
#define SECOND_NS 1000000000LL

static timer_t timer;
static volatile sig_atomic_t stopping, news;
static int64_t deadline_ns = -1;

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
}

/* First after first_ns (0: never), then every 100 ms. */
static void arm(int64_t first_ns)
{
    struct itimerspec when = {.it_value = timespec_of(first_ns),
                              .it_interval = timespec_of(AGAIN_NS)};

    (void)timer_settime(timer, 0, &when, NULL);
}

static void on_signal(int sig)
{
    int saved = errno;

    if (sig == SIGTERM)
        stopping = 1;
    if (sig == SIGIO)
        news = 1;
    if (sig != SIGALRM)
        arm(AGAIN_NS);
    errno = saved;
}

/* All that would end or stop the runner although nothing is wrong with it. */
static void ignore_the_rest(void)
{
    static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGUSR1,
                                  SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGVTALRM,
                                  SIGPROF, SIGXCPU, SIGXFSZ, SIGPWR,  SIGSTKFLT};
    struct sigaction act = {.sa_handler = SIG_IGN};

    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        (void)sigaction(ignored[i], &act, NULL);
    for (int sig = SIGRTMIN; sig <= SIGRTMAX; sig++)
        (void)sigaction(sig, &act, NULL);
}

int watch_init(void)
{
    static const int handled[] = {SIGALRM, SIGIO, SIGTERM};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction act = {.sa_handler = on_signal};

    /* One handler at a time: arm() is not written to interrupt itself. */
    (void)sigfillset(&act.sa_mask);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return -errno;
    for (size_t i = 0; i < sizeof handled / sizeof handled[0]; i++)
        (void)sigaction(handled[i], &act, NULL);
    ignore_the_rest();
    act.sa_handler = SIG_DFL;
    (void)sigaction(SIGCHLD, &act, NULL); /* ignored would mean children vanish unreaped */
    return 0;
}

static void arm_deadline(void)
{
    int64_t left = deadline_ns - clock_mono_ns();

    if (deadline_ns < 0)
        arm(0);
    else
        arm(left > 1 ? left : 1);
    /* A signal that came while this ran had its 100 ms overwritten. */
    if (news || stopping)
        arm(AGAIN_NS);
}

void watch_start(int64_t timeout_ms)
{
    deadline_ns = clock_mono_ns() + timeout_ms * 1000000;
    arm_deadline();
}

void watch_stop(void)
{
    deadline_ns = -1;
    arm_deadline();
}

bool watch_due(void)
{
    return deadline_ns >= 0 && clock_mono_ns() >= deadline_ns;
}

bool watch_passed(int64_t ns)
{
    return deadline_ns >= 0 && ns > deadline_ns;
}

int watch_left_ms(void)
{
    int64_t left = deadline_ns - clock_mono_ns();

    if (deadline_ns < 0)
        return -1;
    if (left <= 0)
        return 0;
    return left / 1000000 >= INT_MAX ? INT_MAX : (int)(left / 1000000 + 1);
}

bool watch_stopping(void)
{
    return stopping;
}

bool watch_take_news(void)
{
    if (!news)
        return false;
    /* In this order, and before the caller looks at the pipe: a signal that comes after this line
     * means news that the caller sees, or sets everything again. */
    news = 0;
    arm_deadline();
    return true;
}
