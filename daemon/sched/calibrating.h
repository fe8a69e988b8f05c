/* Calibrations: one program measured against itself, by the runner that measures everything else,
 * in its turn like an attempt and under the same silence.
 *
 * The quick form is made by the daemon itself when the boot has none yet, before anything is
 * claimed; either form when somebody asks. It begins only when the host is quiet by inventory, and
 * counts only if the host is still so behind it; otherwise it is refused with what was seen and
 * made again later, and the queue goes on meanwhile. Nothing else runs while it does. What was
 * measured is stored as a whole or not at all. Internal to sched/.
 */
#pragma once

#include "sched/sched.h"

struct calibrating;

struct calibrating *calibrating_new(struct sched *s);
/* Begins one if it is due. True: it runs, and sched_calibration_over follows when it has ended. */
bool calibrating_begin(struct sched *s);
bool calibrating_running(const struct sched *s);
/* When calibrating_begin is to be asked again, in ms from now; -1: nothing is due. */
int64_t calibrating_wait_ms(const struct sched *s);
/* The host is in this boot: whether there is a calibration of it becomes a fact of the host. */
void calibrating_note_boot(struct sched *s, const char *boot);
/* The pause that it waited for is over. */
void calibrating_resume(struct sched *s);
/* Ends the one that runs, whose values are lost. sched_calibration_over follows. */
void calibrating_stop(struct sched *s);
/* After the last one; lets go of the scheduler when the loop has closed it. */
void calibrating_close(struct sched *s);
