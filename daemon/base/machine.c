#include "base/machine.h"

#include <string.h>

#include "base/mem.h"

void machine_hash(const char *id, const char *name, char hex[DIGEST_HEX])
{
    CLEANUP(mem_freep)
    char *text = id ? mem_printf("aurabench host by machine-id\n%s\n", id)
                    : mem_printf("aurabench host by name\n%s\n", name);
    digest_bytes(text, strlen(text), hex);
}
