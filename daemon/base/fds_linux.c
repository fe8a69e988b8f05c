#include <unistd.h>

#include "base/fds.h"

void fds_close_others(int keep)
{
    if (keep > 3)
        (void)close_range(3, (unsigned)keep - 1, 0);
    (void)close_range((unsigned)(keep < 3 ? 3 : keep + 1), ~0U, 0);
}
