/* The replacement rule, fixed before the run: a repetition of a workload with a disturbed
 * observation in it, of any lane and side, runs again at the end; a disturbed replacement consumes
 * another; there are at most max(5, n) of them for a workload. Figures use the first n repetitions
 * that were not disturbed. Where fewer than n are left they use the n that were planned, as
 * observed: what was found by looking at some of the data would lean to one side.
 *
 * A repetition is never judged by its duration, only by what the ledger says of the host. Pure; the
 * lists live in the arena given. One struct for each workload.
 */
#pragma once

#include "base/arena.h"
#include "core/raw.h"

enum repetition_state {
    REPETITION_OPEN, /* not observed */
    REPETITION_CLEAN,
    REPETITION_UNJUDGED, /* no ledger says anything of it: it is used, and never passes */
    REPETITION_DISTURBED
};

struct replacement {
    int asked;                    /* n; the replacements have the numbers from n on */
    int used;                     /* replacements that were begun */
    int room;                     /* at most so many */
    enum repetition_state *state; /* asked + room */
    int *replaces;                /* of each replacement: the planned repetition */
};

/* max(5, n) */
int replacement_room(int asked);
void replacement_init(struct arena *a, int asked, struct replacement *out);

/* Takes in one observation: its repetition is as bad as the worst of them. disturbed as in
 * raw_observation. What is out of range is ignored. */
void replacement_note(struct replacement *r, int repetition, int disturbed);

/* The same of every workload that runs again with this one: the steps of a build do so together. */
void replacement_note_with(const struct raw *raw, struct replacement *list, size_t workload,
                           int repetition, int disturbed);

/* The planned repetition that the next replacement takes the place of; -1: none is due, or the room
 * is used up. */
int replacement_due(const struct replacement *r);
/* Begins it; the number of the new repetition. */
int replacement_begin(struct replacement *r, int replaces);

/* Begins the next round for every workload that is due one: replaces[w] is the repetition that it
 * replaces, -1 for a workload that does not run in it; *repetition is the number of the new ones.
 * False: there is no further round. */
bool replacement_round(struct replacement *list, size_t n_workloads, int *replaces,
                       int *repetition);

struct replacement_count {
    int clean, unjudged, disturbed; /* of all that were observed, replacements too */
    bool as_observed;               /* fewer than n are left: the planned ones count */
};
void replacement_count(const struct replacement *r, struct replacement_count *out);
/* Why its repetitions were disturbed: bits of enum disturbance, of all its observations. */
int replacement_reasons(const struct raw *raw, int workload);
/* Which repetitions count for the figures: fills chosen[asked + room]. */
void replacement_choose(const struct replacement *r, bool *chosen);

/* Everything that a report says of its repetitions, one for each workload. Warmups and observations
 * that are not valid say nothing. */
struct replacement *replacements_of(struct arena *a, const struct raw *raw);
