/* One observation of one lane: start it, time it, prove that nothing of it is left, say what came
 * of it. The first cause that is met names the outcome; a lane that ends before a record it owed is
 * named by its signal or nonzero status instead. */
#pragma once

#include "proto/wire/runner_wire.h"
#include "run/runner/capture.h"
#include "run/runner/counters.h"
#include "run/runner/placement.h"
#include "run/runner/readings.h"
#include "run/runner/record.h"
#include "run/runner/spawn.h"
#include "run/runner/sweep.h"

struct observation {
    int64_t id; /* of the request */
    const struct wire_observe *req;
    struct wire_observe_result *res;
    const char *outcome; /* NULL: nothing wrong so far */
    bool owed; /* the outcome is only that something was missing: how it ended says more */
    struct spawn spawn;
    struct spawn_failure failure;
    struct child child;
    struct ending end;
    struct swept swept;
    struct placement placement;
    struct own_readings own;
    struct account account;
    cpu_set_t cpus;
    int in, out; /* protocol: the runner's ends of the lane's stdin and stdout; -1: closed */
    struct record baseline, ready, done;
    bool acked;                              /* what the lane was told has been read */
    struct capture stdout_file, stderr_file; /* protocol has no stdout_file */
    char got[WIRE_LINE_MAX];
    struct tail stdout_tail, stderr_tail;
};

/* Fills res; its strings live until the next call. */
void observe_run(int64_t id, const struct wire_observe *req, struct wire_observe_result *res);

/* ---- for the two measures, which start the lane and time it */

/* Sets the outcome unless there is one; got (NULL: nothing) is what stood where it should not. */
void observe_fail(struct observation *o, const char *outcome, const struct wire_bytes *got);
/* Starts the lane with these descriptors, which stay open; false and the outcome set if it fails.
 */
bool observe_start(struct observation *o, int in, int out);
/* Moves the runner to where it waits, and back. */
void observe_enter(struct observation *o);
void observe_leave(struct observation *o);
/* Takes the signals that were still on their way, so that none comes inside the interval; false and
 * the outcome set if one of them was a cancel or the end of the daemon. */
bool observe_undisturbed(struct observation *o);
/* Keeps what came from stdout (protocol). */
void observe_output(struct observation *o, const void *data, size_t len);

/* The causes of one record, by how reading it ended. */
struct record_causes {
    const char *wrong, *timeout, *unflushed, *eof;
};

/* Judges how reading r ended; false with the outcome set unless it is the expected line. */
bool observe_record(struct observation *o, struct record *r, enum record_end end,
                    const char *expected, const struct record_causes *why);
/* Nothing may stand behind what was read of r: it would be an answer given too early. What stands
 * there; data NULL: nothing. early (WIRE_LINE_MAX bytes) may hold it. */
struct wire_bytes observe_behind(struct observation *o, const struct record *r, char *early);

/* observe_standing.c: what is read of a lane that waits. False with the outcome set if the lane is
 * not as it should be. */
bool observe_baseline(struct observation *o); /* before READY: the BASELINE record and its answer */
/* Sets the outcome if the line in READY's place is BASELINE again, or came before the answer to it
 * was read. */
void observe_ready_fits(struct observation *o);
bool observe_standing(struct observation *o); /* at READY: its memory, or its window */
void observe_peak(struct observation *o);     /* after DONE, before its stdin ends */
void observe_peak_at_end(struct observation *o);

/* observe_after.c: what comes after DONE was stamped. Tells the lane so, where it is to be told;
 * false with the outcome set if the lane is not waiting for that. */
bool observe_ack(struct observation *o);
/* The lane's stdin ends as soon as it has read what it was told. */
void observe_ack_read(struct observation *o);
/* The lane is gone: it must have read what it was told. */
void observe_ack_end(struct observation *o);
/* Takes what the lane printed after DONE; sets the outcome if it may not print that. */
void observe_after(struct observation *o, const void *data, size_t len);

void observe_protocol(struct observation *o);
/* What still stood in the lane's stdout when all its writers were gone. */
void observe_protocol_rest(struct observation *o);
void observe_process(struct observation *o);
/* Compares stdout when the lane is gone. */
void observe_process_output(struct observation *o);
