/* What counts of attribution are made of, as a text from which anyone can make them again: samples
 * that agree in all that rules look at are one line.
 *
 *   samples<TAB>state<TAB>symbol<TAB>object<TAB>process<TAB>thread
 *   812<TAB>-<TAB>frame_push<TAB>/bin/fib<TAB>fib<TAB>fib
 *   3<TAB>kernel,outside<TAB>\-<TAB>[kernel.kallsyms]<TAB>fib<TAB>fib
 *
 * state is "-", or those of "kernel", "suspended" and "outside" (of the window) that hold, in this
 * order. A name that is not there is "\-"; in names a backslash, and every byte that is no
 * printable ASCII character, is \xNN. Lines ascend by the bytes of what stands behind their count,
 * so that one set of samples has exactly one text; the reader accepts no other. There is no rest: a
 * tally that would have more than PROFILE_TALLY_BYTES_MAX is none.
 */
#pragma once

#include "base/buf.h"
#include "base/tally.h"
#include "proto/profile/profile.h"

#define PROFILE_TALLY_BYTES_MAX ((size_t)16 << 20)

struct profile_tally {
    struct tally lines; /* {0} is an empty one */
    struct buf line;
};
void profile_tally_deinit(struct profile_tally *t);
/* False: it would be too large. It is then good for nothing. */
bool profile_tally_add(struct profile_tally *t, const struct attribution *rules,
                       const struct profile_sample *sample);
/* Appends the text; nothing may be added afterwards. */
void profile_tally_write(struct profile_tally *t, struct buf *out);

/* Does it begin as a tally does? No profile of another format does. */
bool profile_is_tally(const char *data, size_t len);
/* As the readers of profiles: each line is one sample, which has no time but says whether it lay in
 * the window. */
int profile_read_tally(const char *data, size_t len, const struct profile_seen *seen,
                       struct err *e);
/* As profile_attribute. A line that lies outside of a window that the rules do not have is refused
 * too. */
int profile_tally_attribute(const struct attribution *rules, const char *data, size_t len,
                            int64_t *counts, struct err *e);
