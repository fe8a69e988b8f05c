/* The bytes of a time zone's file, found by the zone's name.
 *
 * Files are read from <root>/usr/share/zoneinfo, where Debian's package tzdata and macOS keep them;
 * TZ, TZDIR and the C library play no part. What the bytes mean is for core/calendar/zone. A name
 * cannot lead out of that folder.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

#define ZONEFILE_NAME_MAX 64
#define ZONEFILE_BYTES_MAX (1 << 16) /* the largest one there is has 4 KiB */

/* Words of letters, digits, "_", "+" and "-", separated by single slashes. */
bool zonefile_name_valid(const char *name);

/* Appends the file of the zone to out. root is "" for the machine's own; field names the member
 * that holds the zone. Returns 0; -ENOENT with code window.unknown_zone for a name that is not
 * valid, has no file, or when the machine has no zones at all; another -errno when the file cannot
 * be read or is too long. */
int zonefile_read(const char *root, const char *field, const char *name, struct buf *out,
                  struct err *e);
