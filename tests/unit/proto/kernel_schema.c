/* Prints the schema of receipts as the table of fields has it: kernel_schema [harn]. The files in
 * proto/schema are made of it: kernel_schema | python3 -m json.tool --indent 2. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "proto/doc/doc_kernel.h"

int main(int argc, char **argv)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    json_out_init(&o, &b);
    kernel_schema_encode(&o, argc > 1 && strcmp(argv[1], "harn") == 0);
    return puts(buf_str(&b)) < 0;
}
