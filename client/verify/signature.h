/* The exit statuses of aurabench-signature. */
#pragma once

#define SIGNATURE_GOOD 0
#define SIGNATURE_BAD 1
#define SIGNATURE_NONE 2 /* stdin holds none, or could not be read */
