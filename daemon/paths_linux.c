#include "daemon/paths.h"

const char *paths_state_below_home(void)
{
    return ".local/state/aurabench";
}
