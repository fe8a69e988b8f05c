/* What the readers of profiles share: lines, numbers, names that are given once and referred to by
 * a number. Internal to proto. */
#pragma once

#include "base/mem.h"
#include "proto/form/piece.h"
#include "proto/profile/profile.h"

struct profile_in {
    const char *at, *end;
    int64_t line;    /* of what was taken last; from 1 */
    size_t line_max; /* bytes of one */
    const struct profile_seen *seen;
    struct err *e;
    int rc; /* 0 or -EBADMSG after the first error */
};

void profile_in_init(struct profile_in *in, const char *data, size_t len,
                     const struct profile_seen *seen, struct err *e);
/* Refuses the profile with a sentence; only the first one counts. Returns in->rc. */
int profile_fail(struct profile_in *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The next line without its newline. False at the end, or after an error: a last line without a
 * newline was cut off, a longer one than line_max or one with a NUL is none. */
bool profile_line(struct profile_in *in, struct piece *line);
void profile_tell(struct profile_in *in, const struct profile_sample *sample);

/* A name that is an address, or one of those that profilers give to what has no symbol. */
struct piece profile_symbol(struct piece name);

/* Names by kind and number; init as {0}. */
struct profile_names {
    struct profile_name *slots;
    size_t n, cap;
};
struct profile_name {
    int64_t id;
    int kind; /* 0: an empty slot */
    struct piece a, b;
};
void profile_names_deinit(struct profile_names *names);
const struct profile_name *profile_names_find(const struct profile_names *names, int kind,
                                              int64_t id);
/* False when there is another one of this kind and number. */
bool profile_names_put(struct profile_names *names, const struct profile_name *name);
