/* A union of nothing, an integer, a text and a point. Either a tagged value that lies where it is
 * declared, or, with BOXED, a pointer to an allocation of its own. Whoever makes one drops it. */
#ifndef VALUE_H
#define VALUE_H

#include <stdint.h>

/* Counted references; the bytes are not copied. */
struct text {
    uint64_t references;
    const char *bytes;
};

struct point {
    int64_t x, y;
};

enum tag { TAG_NONE, TAG_INT, TAG_TEXT, TAG_POINT };

struct member {
    enum tag tag;
    union {
        int64_t number;
        struct text *text;
        struct point point;
    };
};

#if BOXED
typedef struct member *value;
#else
typedef struct member value;
#endif

value value_none(void);
value value_of_int(int64_t number);
value value_of_text(struct text *text); /* retains it */
value value_of_point(struct point point);

/* Valid as long as the value. */
const struct member *value_look(const value *v);

/* Releases what it holds. */
void value_drop(value *v);

#endif
