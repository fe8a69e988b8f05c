/* Raw reports built by hand, the same on every machine: what the tests of reports and of evidence
 * look at. Everything lives in the arena and may be bent by the test.
 *
 * sample_raw: before and after; fib30 (c twice as slow after, cpython as control), tcp_fanout (a
 * declared wait; nothing changed) and int32 (whole process; c with a startup lane, two differences
 * of which are not positive); 11 repetitions, 1 warmup; policy `virtual` with two waivers; all
 * three inventories quiet.
 */
#pragma once

#include "base/arena.h"
#include "core/raw.h"

#define SAMPLE_ID "01KB9XK3Q8Z4T1V7N5M2C0D6EF"
#define SAMPLE_BEFORE "3f2a91c0de3f2a91c0de3f2a91c0de3f2a91c0de"
#define SAMPLE_AFTER "9ac01de29a9ac01de29a9ac01de29a9ac01de29a"

struct raw *sample_raw(struct arena *a);

/* `run`: two commands a and b, b a little faster. */
struct raw *sample_run(struct arena *a);

/* A competitor in the inventory of the phase, which is busy then. */
void sample_disturb(struct arena *a, struct raw *raw, enum phase phase);

/* Void: the last observation of fib30 c printed a wrong DONE; nothing followed. */
void sample_void(struct raw *raw);
