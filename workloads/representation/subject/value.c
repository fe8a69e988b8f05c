#include "value.h"

#include "runtime.h"

#include <stdlib.h>

#if BOXED
static value inject(struct member member)
{
    value box = allocate(sizeof *box, &counters.union_boxes);

    *box = member;
    return box;
}

const struct member *value_look(const value *v)
{
    return *v;
}
#else
static value inject(struct member member)
{
    return member;
}

const struct member *value_look(const value *v)
{
    return v;
}
#endif

value value_none(void)
{
    return inject((struct member){.tag = TAG_NONE});
}

value value_of_int(int64_t number)
{
    return inject((struct member){.tag = TAG_INT, .number = number});
}

value value_of_text(struct text *text)
{
    text->references++;
    counters.retains++;
    return inject((struct member){.tag = TAG_TEXT, .text = text});
}

value value_of_point(struct point point)
{
    return inject((struct member){.tag = TAG_POINT, .point = point});
}

void value_drop(value *v)
{
    const struct member *member = value_look(v);

    if (member->tag == TAG_TEXT) {
        member->text->references--;
        counters.releases++;
    }
#if BOXED
    free(*v);
#endif
}
