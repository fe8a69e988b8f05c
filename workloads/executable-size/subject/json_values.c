#include "runtime.h"

int main(void)
{
    return runtime_json_sum("{\"name\": \"primes\", \"numbers\": [2, 3, 5, 7, 11]}");
}
