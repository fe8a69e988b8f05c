/* The table of job states against an independent statement of the rules, cell by cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "core/job_state.h"

/* Rows: states in order. Columns: submit claim refuse timing_begins timing_ends, finish fail cancel
 * retry_due expire, unqualify lose requeue hold release, defer edit rerun. A letter names the next
 * state, '.' forbids. H held, Q queued, W waiting, P preparing, M measuring, V verifying, D done, F
 * failed, C cancelled, E expired, U unqualified, L lost. */
/* clang-format off */
static const char *const expected[JOB_STATE_COUNT] = {
    [JOB_NEW] =          "Q...." "....." "...H." "...",
    [JOB_HELD] =         "....." "..C.E" "....Q" ".H.",
    [JOB_QUEUED] =       ".P..." "..C.E" "...H." "WQ.",
    [JOB_WAITING] =      "....." "..CQE" "U..H." ".W.",
    [JOB_PREPARING] =    "..WM." ".FC.E" "UL..." "W..",
    [JOB_MEASURING] =    "....V" ".FC.." ".L..." "...",
    [JOB_VERIFYING] =    "....." "DFC.." ".LW.." "...",
    [JOB_DONE] =         "....." "....." "....." "..Q",
    [JOB_FAILED] =       "....." "....." "....." "..Q",
    [JOB_CANCELLED] =    "....." "....." "....." "..Q",
    [JOB_EXPIRED] =      "....." "....." "....." "..Q",
    [JOB_UNQUALIFIED] =  "....." "....." "....." "..Q",
    [JOB_LOST] =         "....." "....." "..Q.." "..Q",
};
/* clang-format on */

static const struct {
    char letter;
    enum job_state state;
} letters[] = {
    {'H', JOB_HELD},      {'Q', JOB_QUEUED},    {'W', JOB_WAITING},     {'P', JOB_PREPARING},
    {'M', JOB_MEASURING}, {'V', JOB_VERIFYING}, {'D', JOB_DONE},        {'F', JOB_FAILED},
    {'C', JOB_CANCELLED}, {'E', JOB_EXPIRED},   {'U', JOB_UNQUALIFIED}, {'L', JOB_LOST},
};

static enum job_state state_of(char letter)
{
    for (size_t i = 0; i < ARRAY_LEN(letters); i++)
        if (letters[i].letter == letter)
            return letters[i].state;
    fail_msg("no state has the letter %c", letter);
    return JOB_NEW;
}

static void check_cell(enum job_state state, enum job_event event)
{
    const struct job_step untouched = {JOB_LOST, JOB_LOST, JOB_RELEASE, JOB_EFFECT_STOP};
    struct job_step step = untouched;
    char want = expected[state][event];
    int rc = job_state_step(state, event, &step);
    if (want == '.') {
        assert_int_equal(rc, -EINVAL);
        assert_memory_equal(&step, &untouched, sizeof step);
        return;
    }
    assert_int_equal(rc, 0);
    assert_int_equal(step.from, state);
    assert_int_equal(step.event, event);
    assert_int_equal(step.to, state_of(want));
}

static void every_cell_is_as_the_rules_say(void **ctx)
{
    (void)ctx;
    for (int s = 0; s < JOB_STATE_COUNT; s++) {
        assert_int_equal(strlen(expected[s]), JOB_EVENT_COUNT);
        for (int e = 0; e < JOB_EVENT_COUNT; e++)
            check_cell((enum job_state)s, (enum job_event)e);
    }
}

static void expect_effect(const struct job_step *step)
{
    bool ran = job_state_is_running(step->from);
    bool person_or_window = step->event == JOB_CANCEL || step->event == JOB_EXPIRE;
    enum job_effect want = JOB_EFFECT_NONE;
    if (step->to == JOB_QUEUED)
        want = JOB_EFFECT_WAKE;
    else if (step->to == JOB_PREPARING)
        want = JOB_EFFECT_START;
    else if (step->to == JOB_WAITING)
        want = JOB_EFFECT_RETRY;
    else if (job_state_is_final(step->to))
        want = ran && person_or_window ? JOB_EFFECT_STOP : JOB_EFFECT_OVER;
    if (step->effect != want)
        fail_msg("%s in state %s has effect %s", job_event_name(step->event),
                 job_state_name(step->from), job_effect_name(step->effect));
}

static void effects_follow_from_where_the_job_was_and_goes(void **ctx)
{
    (void)ctx;
    int legal = 0;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int e = 0; e < JOB_EVENT_COUNT; e++) {
            struct job_step step;
            if (job_state_step((enum job_state)s, (enum job_event)e, &step))
                continue;
            legal++;
            expect_effect(&step);
        }
    assert_int_equal(legal, 42);
}

static void only_a_loss_or_a_rerun_leaves_a_final_state(void **ctx)
{
    (void)ctx;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        for (int e = 0; e < JOB_EVENT_COUNT; e++) {
            struct job_step step;
            if (job_state_is_final((enum job_state)s) &&
                job_state_step((enum job_state)s, (enum job_event)e, &step) == 0) {
                assert_true(e == JOB_RERUN || (s == JOB_LOST && e == JOB_REQUEUE));
                assert_int_equal(step.to, JOB_QUEUED);
            }
        }
}

static void mark_reachable(enum job_state from, bool seen[JOB_STATE_COUNT])
{
    if (seen[from])
        return;
    seen[from] = true;
    for (int e = 0; e < JOB_EVENT_COUNT; e++) {
        struct job_step step;
        if (job_state_step(from, (enum job_event)e, &step) == 0)
            mark_reachable(step.to, seen);
    }
}

static void every_state_is_reached_from_a_new_job(void **ctx)
{
    (void)ctx;
    bool seen[JOB_STATE_COUNT] = {false};
    mark_reachable(JOB_NEW, seen);
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        assert_true(seen[s]);
}

static void every_spelling_reads_back(void **ctx)
{
    (void)ctx;
    for (int s = 0; s < JOB_STATE_COUNT; s++)
        assert_int_equal(job_state_parse(job_state_name((enum job_state)s)), s);
    for (int e = 0; e < JOB_EVENT_COUNT; e++)
        assert_int_equal(job_event_parse(job_event_name((enum job_event)e)), e);
    assert_string_equal(job_state_name(JOB_UNQUALIFIED), "unqualified");
    assert_string_equal(job_event_name(JOB_TIMING_BEGINS), "timing_begins");
}

static void other_words_are_no_state_and_no_event(void **ctx)
{
    (void)ctx;
    const char *const words[] = {"", "Queued", "queued ", "run", NULL};
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        assert_int_equal(job_state_parse(words[i]), -1);
        assert_int_equal(job_event_parse(words[i]), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell_is_as_the_rules_say),
        cmocka_unit_test(effects_follow_from_where_the_job_was_and_goes),
        cmocka_unit_test(only_a_loss_or_a_rerun_leaves_a_final_state),
        cmocka_unit_test(every_state_is_reached_from_a_new_job),
        cmocka_unit_test(every_spelling_reads_back),
        cmocka_unit_test(other_words_are_no_state_and_no_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
