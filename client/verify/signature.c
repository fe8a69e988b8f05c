/* aurabench-signature: reads what `cat SHA256SUMS.sig SHA256SUMS` prints, and ends as signature.h
 * says. A program of its own, so that the client need not load libcrypto, nor be linked again when
 * that is mended.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client/verify/signature.h"
#include "proto/evidence/signature.h"

#define INPUT_MAX (256U << 20)
#define CHUNK 65536

static int read_all(struct buf *in)
{
    for (;;) {
        buf_reserve(in, CHUNK);
        ssize_t n = read(STDIN_FILENO, in->data + in->len, CHUNK);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        in->len += n > 0 ? (size_t)n : 0;
        if (in->len > INPUT_MAX)
            return -EFBIG;
    }
}

int main(void)
{
    CLEANUP(buf_deinit) struct buf in = {0};
    struct signature s;
    struct err e = {0};
    int rc = read_all(&in);

    if (rc < 0) {
        (void)fprintf(stderr, "aurabench-signature: stdin: %s\n", strerror(-rc));
        return SIGNATURE_NONE;
    }
    const char *end = in.len ? memchr(in.data, '\n', in.len) : NULL;
    size_t line = end ? (size_t)(end - in.data) + 1 : in.len;
    if (signature_parse(in.data, line, &s, &e) < 0) {
        (void)fprintf(stderr, "aurabench-signature: %s\n", e.text);
        return SIGNATURE_NONE;
    }
    return key_verify(s.public_hex, in.data + line, in.len - line, s.bytes) ? SIGNATURE_GOOD
                                                                            : SIGNATURE_BAD;
}
