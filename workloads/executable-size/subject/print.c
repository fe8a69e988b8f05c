#include "runtime.h"

#include <stdio.h>

int runtime_print(const char *text)
{
    return puts(text) < 0 || fflush(stdout) != 0;
}
