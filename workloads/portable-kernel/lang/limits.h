/* The bounds of limits.def as constants PK_MAX_NAME. */
#pragma once

enum {
#define LIMIT(name, value) PK_MAX_##name = value,
#include "lang/limits.def"
#undef LIMIT
};
