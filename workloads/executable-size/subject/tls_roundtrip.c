#include "runtime.h"

int main(void)
{
    return runtime_tls_roundtrip("hello through TLS");
}
