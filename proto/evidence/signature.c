#include "proto/evidence/signature.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "proto/form/base64.h"

#define PREFIX "aurabench-ed25519 1 "
#define PREFIX_LEN (sizeof PREFIX - 1)

void signature_line(struct buf *out, const struct signature *s)
{
    buf_printf(out, PREFIX "%s ", s->public_hex);
    base64_encode(out, s->bytes, sizeof s->bytes);
    buf_putc(out, '\n');
}

static bool read_line(const char *text, size_t len, struct signature *out)
{
    CLEANUP(buf_deinit) struct buf bytes = {0}, again = {0};
    size_t key_end = PREFIX_LEN + KEY_HEX - 1;

    if (len <= key_end + 2 || memcmp(text, PREFIX, PREFIX_LEN) != 0)
        return false;
    memcpy(out->public_hex, text + PREFIX_LEN, KEY_HEX - 1);
    out->public_hex[KEY_HEX - 1] = '\0';
    if (!key_valid(out->public_hex) ||
        base64_decode(text + key_end + 1, len - key_end - 2, &bytes) != 0 ||
        bytes.len != sizeof out->bytes)
        return false;
    memcpy(out->bytes, bytes.data, sizeof out->bytes);
    signature_line(&again, out);
    return again.len == len && memcmp(again.data, text, len) == 0;
}

int signature_parse(const char *text, size_t len, struct signature *out, struct err *e)
{
    if (len <= SIGNATURE_TEXT_MAX && read_line(text, len, out))
        return 0;
    return err_set(e, -EINVAL, "signature.bad", "SHA256SUMS.sig",
                   "SHA256SUMS.sig is not one line of a signature; copy it again from where the "
                   "evidence was made");
}
