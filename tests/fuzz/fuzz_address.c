/* ssh://[user@]host[:port], and what else a user says of where the daemon is: nothing that comes
 * out can be an option or a second word to ssh. */
#include <string.h>

#include "client/link/address.h"
#include "fuzz/fuzz.h"

static void check_address(const char *url, const struct address_ssh *a)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-+@:%";
    const char *at = strchr(a->target, '@');

    MUST(a->target[0] && a->target[0] != '-', "%s", a->target);
    MUST(strspn(a->target, allowed) == strlen(a->target), "%s", a->target);
    MUST(!at || (at[1] && at[1] != '-' && !strchr(at + 1, '@')), "%s", a->target);
    MUST(strspn(a->port, "0123456789") == strlen(a->port) && strlen(a->port) <= 5);
    MUST(!a->port[0] || (atoi(a->port) >= 1 && atoi(a->port) <= 65535), "%s", a->port);
    MUST(strstr(url, a->port), "%s", a->port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_in in = {data, size};
    CLEANUP(mem_freep) char *url = fuzz_text(&in);
    char path[ADDRESS_SOCKET_MAX + 1];
    struct address_ssh out;
    struct err e = {0}, why = {0};

    if (fuzz_accepted(address_ssh(url, &out, &e), &e))
        check_address(url, &out);
    if (fuzz_accepted(address_socket(url, path, &why), &why))
        MUST(strcmp(path, url) == 0 && strlen(path) <= ADDRESS_SOCKET_MAX);
    return 0;
}
