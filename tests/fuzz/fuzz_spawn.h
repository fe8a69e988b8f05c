/* Programs that are not run: in place of base/spawn, each call takes its outcome from the input. A
 * byte is the exit status (even: 0; 255: it could not be run), the next two how long the output is,
 * and the output follows, with NULs and all.
 */
#pragma once

#include <errno.h>

#include "base/spawn.h"
#include "fuzz/fuzz.h"

int fuzz_spawn_run(const struct spawn_req *req, int *status, struct buf *out, struct buf *errout,
                   struct err *e);

static inline int fuzz_spawn_take(struct fuzz_in *in, const struct spawn_req *req, int *status,
                                  struct buf *out, struct buf *errout, struct err *e)
{
    uint8_t how = fuzz_byte(in);
    size_t len = (size_t)fuzz_number(in, 2);

    MUST(req->argv[0] && req->argv[0][0]);
    if (how == 255)
        return err_sys(e, -ENOENT, "run", req->argv[0]);
    len = len < in->left ? len : in->left;
    *status = how % 2 ? how % 128 : 0;
    struct buf *to = *status ? errout : out;
    if (to && len)
        buf_add(to, in->at, len);
    in->at += len;
    in->left -= len;
    return 0;
}
