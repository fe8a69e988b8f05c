/* What is said of one comparison: by this program, on wall and on CPU time, and by the rules that
 * others use; and how often each says what. A verdict is of the second side against the first.
 *
 * Ours is the whole way of a report: core/summary/summarise, with the noise floor of the
 * calibration. Others judge the planned repetitions as they were observed: who has no ledger leaves
 * none out. That favours them: a program that runs one side after the other does not have our order
 * of observations. They have no SAME; what they do not call a difference is UNRESOLVED here.
 */
#pragma once

#include "core/raw.h"

enum judge {
    JUDGE_OURS,
    JUDGE_OURS_CPU,
    JUDGE_HYPERFINE, /* ratio of means outside of its error */
    JUDGE_WELCH,     /* Welch's t-test at 5 % */
    JUDGE_MINIMUM,   /* minimum of all, past the margin */
    JUDGE_BENCHSTAT, /* Mann-Whitney's U test at 5 % */
    JUDGES
};

struct judged {
    enum verdict by[JUDGES];
    bool few; /* too few repetitions were clean: the row is diagnostic, and of the planned ones */
    int repetitions, disturbed;
};

/* raw as trial_make() gives it; what it needs lives in a. */
void judges_ask(struct arena *a, const struct raw *raw, struct judged *out);

#define VERDICTS (VERDICT_UNRESOLVED + 1)
struct tally {
    int by[JUDGES][VERDICTS];
    int clean[JUDGES][VERDICTS]; /* those of them in which enough repetitions were clean */
    int few, repetitions, disturbed;
};
void tally_add(struct tally *t, const struct judged *j);
/* Two lines for each judge and verdict, "PREFIXours.FASTER 3" and "PREFIXours.FASTER.clean 2", then
 * "PREFIXfew 1", "PREFIXrepetitions 22" and "PREFIXdisturbed 5". */
void tally_print(const struct tally *t, const char *prefix);
