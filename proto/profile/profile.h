/* What profilers leave, read sample by sample: files of callgrind, the text of `perf script`, and
 * the table time-profile that `xctrace export` writes as XML.
 *
 * Each reader is strict: a line or element that it has no meaning for, a name that refers to none
 * before it, a sum that does not fit or a text that was cut off refuses the whole profile, with the
 * line it stands in. Nothing of a refused profile may be used. Pieces of a sample are valid during
 * the call only.
 *
 *   callgrind    one sample a function and run of lines: count is the cost of the first event (Ir),
 *                exclusive of what is called. Its totals must be the sum. No times, no threads.
 *   perf-script  one sample an event. The first frame is what ran. Process and thread are both
 *                what perf calls comm. Times count from the first event.
 *   xctrace      one sample a row. Times count from the beginning of the recording.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "core/summary/attribution.h"

#define PROFILE_BYTES_MAX ((size_t)64 << 20)
#define PROFILE_LINE_MAX 16384 /* of the two that have lines */

struct profile_seen {
    bool (*sample)(void *of, const struct profile_sample *sample); /* false: it is one too many */
    void *of;
};

/* 0, or -EBADMSG with e filled: code "profile.bad", field "line N". */
int profile_read(enum profile_format format, const char *data, size_t len,
                 const struct profile_seen *seen, struct err *e);
int profile_read_callgrind(const char *data, size_t len, const struct profile_seen *seen,
                           struct err *e);
int profile_read_perf_script(const char *data, size_t len, const struct profile_seen *seen,
                             struct err *e);
int profile_read_xctrace(const char *data, size_t len, const struct profile_seen *seen,
                         struct err *e);

/* Adds the samples of a profile to counts (see attribution_add). The same errors; counts are then
 * good for nothing. */
int profile_attribute(const struct attribution *rules, const char *data, size_t len,
                      int64_t *counts, struct err *e);
