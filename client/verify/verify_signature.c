/* Who wrote the checksums. Without a key to hold it against, a signature shows that its own key
 * made it and nothing about whose key that is; every sentence here says so. */
#include <string.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/mem.h"
#include "client/verify/verify.h"
#include "proto/evidence/signature.h"

static void say_unsigned(struct verify *v)
{
    if (v->key)
        verify_say(v, "signature", TRI_FAIL,
                   "there is no SHA256SUMS.sig, so nothing shows that the key made this");
    else if (v->host_key && !v->ignore_signature)
        verify_say(v, "signature", TRI_FAIL,
                   "SHA256SUMS.sig is missing, although the report says that it is signed");
    else
        verify_say(v, "signature", TRI_UNKNOWN,
                   "none: nothing changed since the sums were written, and this does not show who "
                   "wrote them");
}

/* False: a line says why. */
static bool read_signature(struct verify *v, struct signature *out)
{
    CLEANUP(mem_freep) char *path = file_join(v->dir, MANIFEST_SIGNATURE);
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err e = {0};
    struct stat st;

    if (v->ignore_signature || lstat(path, &st) < 0) {
        say_unsigned(v);
        return false;
    }
    if (!S_ISREG(st.st_mode) || file_read(path, SIGNATURE_TEXT_MAX, &text, &e) < 0 ||
        signature_parse(text.data, text.len, out, &e) < 0) {
        verify_say(v, "signature", TRI_FAIL, "SHA256SUMS.sig is not one line of a signature");
        return false;
    }
    return true;
}

/* Whose key it is: by the key that the caller trusts. */
static void say_maker(struct verify *v, const struct signature *s, const char *id)
{
    char wanted[KEY_ID];

    if (!v->key) {
        verify_say(v, "maker", TRI_UNKNOWN,
                   "no --key was given: this does not show whose key %s is", id);
        return;
    }
    key_id(v->key, wanted);
    if (strcmp(s->public_hex, v->key) == 0)
        verify_say(v, "maker", TRI_PASS, "made by the host whose key is %s", id);
    else
        verify_say(v, "maker", TRI_FAIL, "signed by key %s, not by %s", id, wanted);
}

void verify_signature(struct verify *v)
{
    struct signature s;
    char id[KEY_ID];

    if (!read_signature(v, &s))
        return;
    key_id(s.public_hex, id);
    if (!key_can_verify())
        verify_say(v, "signature", TRI_FAIL,
                   "cannot be checked: aurabench-signature does not run; install it beside this "
                   "program, and libcrypto of OpenSSL 3");
    else if (!key_verify(s.public_hex, v->sums_text.data ? v->sums_text.data : "", v->sums_text.len,
                         s.bytes))
        verify_say(v, "signature", TRI_FAIL,
                   "the signature of key %s does not fit SHA256SUMS: the sums are not those that "
                   "were signed",
                   id);
    else if (v->names_key && (!v->host_key || strcmp(v->host_key, s.public_hex) != 0))
        verify_say(v, "signature", TRI_FAIL, "signed by key %s, but the report names another key",
                   id);
    else
        verify_say(v, "signature", TRI_PASS, "SHA256SUMS is as key %s signed it", id);
    say_maker(v, &s, id);
}
