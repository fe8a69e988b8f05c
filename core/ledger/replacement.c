#include "core/ledger/replacement.h"

#include <string.h>

#define ROOM_MIN 5

int replacement_room(int asked)
{
    return asked > ROOM_MIN ? asked : ROOM_MIN;
}

void replacement_init(struct arena *a, int asked, struct replacement *out)
{
    int room = replacement_room(asked);
    *out = (struct replacement){
        .asked = asked,
        .room = room,
        .state = arena_array(a, (size_t)(asked + room), sizeof *out->state),
        .replaces = arena_array(a, (size_t)room, sizeof *out->replaces),
    };
}

static enum repetition_state state_of(int disturbed)
{
    if (disturbed < 0)
        return REPETITION_UNJUDGED;
    return disturbed > 0 ? REPETITION_DISTURBED : REPETITION_CLEAN;
}

void replacement_note(struct replacement *r, int repetition, int disturbed)
{
    if (repetition < 0 || repetition >= r->asked + r->room)
        return;
    enum repetition_state state = state_of(disturbed);
    if (state > r->state[repetition])
        r->state[repetition] = state;
}

void replacement_note_with(const struct raw *raw, struct replacement *list, size_t workload,
                           int repetition, int disturbed)
{
    const char *steps_of = raw->workloads[workload].steps_of;

    for (size_t w = 0; w < raw->n_workloads; w++)
        if (w == workload || plan_is_one_build(raw->workloads[w].steps_of, steps_of))
            replacement_note(&list[w], repetition, disturbed);
}

/* Has a replacement of it come out clean? One that is still open counts as none. */
static bool is_replaced(const struct replacement *r, int repetition)
{
    for (int i = 0; i < r->used; i++) {
        enum repetition_state state = r->state[r->asked + i];
        if (r->replaces[i] == repetition &&
            (state == REPETITION_CLEAN || state == REPETITION_UNJUDGED))
            return true;
    }
    return false;
}

int replacement_due(const struct replacement *r)
{
    if (r->used == r->room)
        return -1;
    for (int i = 0; i < r->asked; i++)
        if (r->state[i] == REPETITION_DISTURBED && !is_replaced(r, i))
            return i;
    return -1;
}

int replacement_begin(struct replacement *r, int replaces)
{
    r->replaces[r->used] = replaces;
    return r->asked + r->used++;
}

bool replacement_round(struct replacement *list, size_t n_workloads, int *replaces, int *repetition)
{
    bool any = false;

    /* A workload that is due has been due in every round before, so that all have one number. */
    for (size_t w = 0; w < n_workloads; w++) {
        replaces[w] = replacement_due(&list[w]);
        if (replaces[w] < 0)
            continue;
        *repetition = replacement_begin(&list[w], replaces[w]);
        any = true;
    }
    return any;
}

static bool is_usable(enum repetition_state state)
{
    return state == REPETITION_CLEAN || state == REPETITION_UNJUDGED;
}

void replacement_count(const struct replacement *r, struct replacement_count *out)
{
    *out = (struct replacement_count){0};
    for (int i = 0; i < r->asked + r->used; i++) {
        out->clean += r->state[i] == REPETITION_CLEAN;
        out->unjudged += r->state[i] == REPETITION_UNJUDGED;
        out->disturbed += r->state[i] == REPETITION_DISTURBED;
    }
    out->as_observed = out->disturbed > 0 && out->clean + out->unjudged < r->asked;
}

void replacement_choose(const struct replacement *r, bool *chosen)
{
    struct replacement_count count;
    int n = 0;

    replacement_count(r, &count);
    for (int i = 0; i < r->asked + r->room; i++) {
        chosen[i] = count.as_observed ? i < r->asked : is_usable(r->state[i]) && n < r->asked;
        n += chosen[i];
    }
}

/* The observation's workload; n_workloads: none of the report's. */
static size_t workload_of(const struct raw *raw, const struct raw_observation *o)
{
    size_t w = 0;

    while (w < raw->n_workloads && strcmp(raw->workloads[w].name, o->workload) != 0)
        w++;
    return w;
}

int replacement_reasons(const struct raw *raw, int workload)
{
    const char *steps_of = raw->workloads[workload].steps_of;
    int bits = 0;

    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        if (o->kind != OBS_TIMED || o->disturbed <= 0)
            continue;
        size_t w = workload_of(raw, o);
        if (w == (size_t)workload ||
            (w < raw->n_workloads && plan_is_one_build(raw->workloads[w].steps_of, steps_of)))
            bits |= o->disturbed;
    }
    return bits;
}

static void note_one(const struct raw *raw, const struct raw_observation *o, size_t workload,
                     struct replacement *list)
{
    int place = o->repetition - raw->job.repetitions;
    struct replacement *r = &list[workload];

    if (place >= 0 && place < r->room) {
        r->replaces[place] = o->replaces;
        r->used = place + 1 > r->used ? place + 1 : r->used;
    }
    replacement_note_with(raw, list, workload, o->repetition, o->disturbed);
}

struct replacement *replacements_of(struct arena *a, const struct raw *raw)
{
    struct replacement *list = arena_array(a, raw->n_workloads, sizeof *list);

    for (size_t w = 0; w < raw->n_workloads; w++)
        replacement_init(a, raw->job.repetitions, &list[w]);
    for (size_t i = 0; i < raw->n_observations; i++) {
        const struct raw_observation *o = &raw->observations[i];
        if (o->kind != OBS_TIMED || !o->outcome || strcmp(o->outcome, "ok") != 0)
            continue;
        size_t w = workload_of(raw, o);
        if (w < raw->n_workloads)
            note_one(raw, o, w, list);
    }
    return list;
}
