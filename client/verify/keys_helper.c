/* Signatures checked by aurabench-signature, which lies beside this program: the client starts
 * without libcrypto, and as one file that loads nothing (keys_verify.c is the other way). */
#include <string.h>

#include "base/files.h"
#include "base/keys.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "client/git/suite_dir.h"
#include "client/verify/signature.h"
#include "proto/evidence/signature.h"

#define HELPER "aurabench-signature"

static char *helper_path(void)
{
    CLEANUP(mem_freep) char *folder = program_folder(NULL);

    return folder ? file_join(folder, HELPER) : mem_strdup(HELPER);
}

/* Its exit status for what it is to read; -1: it could not be run. */
static int ask(const struct buf *input)
{
    CLEANUP(mem_freep) char *path = helper_path();
    const char *const argv[] = {path, NULL};
    struct spawn_req req = SPAWN_REQ_INIT;
    int status = -1;

    req.argv = argv;
    req.input = input->data;
    req.input_len = input->len;
    return spawn_run(&req, &status, NULL, NULL, NULL) == 0 ? status : -1;
}

/* Of no signature it says so, when it runs at all. */
bool key_can_verify(void)
{
    const struct buf nothing = {0};

    return ask(&nothing) == SIGNATURE_NONE;
}

bool key_verify(const char *public_hex, const void *data, size_t len,
                const unsigned char signature[KEY_SIGNATURE_BYTES])
{
    CLEANUP(buf_deinit) struct buf input = {0};
    struct signature s;

    if (!key_valid(public_hex))
        return false;
    memcpy(s.public_hex, public_hex, KEY_HEX);
    memcpy(s.bytes, signature, sizeof s.bytes);
    signature_line(&input, &s);
    buf_add(&input, data, len);
    return ask(&input) == SIGNATURE_GOOD;
}
