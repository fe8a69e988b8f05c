/* Values of a small runtime: integers that are moved and added with a check. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct value {
    int64_t tag, integer;
};

void value_move(struct value *to, struct value *from);
void value_subtract(struct value *out, const struct value *a, int64_t b);
void value_add(struct value *out, const struct value *a, const struct value *b);
bool value_is_less(const struct value *a, int64_t b);
