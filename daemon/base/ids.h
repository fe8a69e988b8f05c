/* ULIDs: 26 characters of Crockford base 32; 48 bits of Unix milliseconds, 80 random bits. */
#pragma once

#include <stdbool.h>

#define ULID_LEN 26

void ulid_new(char out[ULID_LEN + 1]); /* strictly increasing within one process */
bool ulid_valid(const char *s);        /* upper case, exact length, first character 0 to 7 */
