#include "base/rest.h"

#include <malloc/malloc.h>

void rest_give_back(void)
{
    (void)malloc_zone_pressure_relief(NULL, 0);
}
