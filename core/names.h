/* Spellings of enums, one table per enum.
 *
 * NAMES(prefix, type) defines prefix_name() and prefix_parse() over the constant table
 * prefix_names, so that a value and its spelling stand in one place. A value outside the table has
 * the name "?", which no parser accepts. Nothing here owns memory.
 */
#pragma once

#include <stddef.h>
#include <string.h>

static inline const char *names_get(const char *const *names, size_t n, size_t value)
{
    return value < n && names[value] ? names[value] : "?";
}

/* The value whose spelling is exactly s; -1 for another word or NULL. */
static inline int names_find(const char *const *names, size_t n, const char *s)
{
    for (size_t i = 0; s && i < n; i++)
        if (names[i] && strcmp(names[i], s) == 0)
            return (int)i;
    return -1;
}

#define NAMES_LEN(table) (sizeof(table) / sizeof((table)[0]))

#define NAMES(prefix, type)                                                                        \
    const char *prefix##_name(enum type value)                                                     \
    {                                                                                              \
        return names_get(prefix##_names, NAMES_LEN(prefix##_names), (size_t)value);                \
    }                                                                                              \
    int prefix##_parse(const char *s)                                                              \
    {                                                                                              \
        return names_find(prefix##_names, NAMES_LEN(prefix##_names), s);                           \
    }                                                                                              \
    _Static_assert(1, "a semicolon may follow")
