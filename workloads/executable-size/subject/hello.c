#include "runtime.h"

int main(void)
{
    return runtime_print("hello");
}
