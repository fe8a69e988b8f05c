/* What may end a blocking call of the runner early: the deadline, the daemon, a request to stop.
 *
 * Everything arrives as a signal without SA_RESTART: SIGALRM from one timer, SIGIO when the control
 * pipe has news (a cancel, or its end because the daemon is gone), SIGTERM. A signal that lands
 * just before the call it should interrupt would be lost, so each of them makes the timer fire
 * again every 100 ms until it was looked at. Without news no signal is sent: the timed interval
 * stays silent. The state is global to the program, because signal handlers have no argument.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Installs the handlers and the timer; ignores what else would end the runner by mistake. 0 or
 * -errno. */
int watch_init(void);

/* From now on watch_due() is true after timeout_ms. */
void watch_start(int64_t timeout_ms);
/* No deadline. */
void watch_stop(void);

/* The deadline has passed. */
bool watch_due(void);
/* Something stamped at ns came after the deadline: seen late, it is no less late. */
bool watch_passed(int64_t ns);
/* Milliseconds to the deadline, rounded up, for poll(2): 0 when it passed, -1 without one. */
int watch_left_ms(void);
/* SIGTERM came: end everything and exit. */
bool watch_stopping(void);
/* True once after the control pipe had news; the deadline's timer is then as it was before. */
bool watch_take_news(void);
