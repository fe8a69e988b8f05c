#include "core/calendar/schedule.h"

#include <string.h>

static void wait_until(struct schedule_result *out, enum schedule_answer why, int64_t at_ms)
{
    out->answer = why;
    out->at_ms = at_ms;
}

/* Moves at_ms into the window, over a night that was used. */
static void ask_window(const struct schedule *s, struct schedule_result *out)
{
    struct window_night night;

    if (!window_night(s->window, s->zone, out->at_ms, &night)) {
        wait_until(out, SCHEDULE_WINDOW, window_next_open(s->window, s->zone, out->at_ms));
        return;
    }
    (void)window_date_text(night.day, out->night);
    if (!s->last_night || strcmp(s->last_night, out->night) != 0)
        return;
    out->night[0] = '\0';
    wait_until(out, SCHEDULE_NIGHT, window_next_open(s->window, s->zone, out->at_ms));
}

void schedule_ask(const struct schedule *s, int64_t t_ms, struct schedule_result *out)
{
    *out = (struct schedule_result){.answer = SCHEDULE_RUN, .at_ms = t_ms};
    if (s->deadline_ms > 0 && t_ms >= s->deadline_ms) {
        wait_until(out, SCHEDULE_EXPIRED, s->deadline_ms);
        return;
    }
    if (s->settled_ms == SCHEDULE_BOOT_UNKNOWN) {
        wait_until(out, SCHEDULE_BOOT, WINDOW_NEVER);
        return;
    }
    if (s->not_before_ms > out->at_ms)
        wait_until(out, SCHEDULE_NOT_BEFORE, s->not_before_ms);
    if (s->settled_ms > out->at_ms)
        wait_until(out, SCHEDULE_SETTLE, s->settled_ms);
    if (s->window)
        ask_window(s, out);
}
