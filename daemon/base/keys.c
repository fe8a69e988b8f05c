#include "base/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <openssl/pem.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/fault.h"
#include "base/files.h"
#include "base/mem.h"

#define PEM_BYTES_MAX 4096

struct key {
    EVP_PKEY *pair;
    char public_hex[KEY_HEX];
};

static void to_hex(const unsigned char *raw, char hex[KEY_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < KEY_BYTES; i++) {
        hex[2 * i] = digits[raw[i] >> 4];
        hex[2 * i + 1] = digits[raw[i] & 15];
    }
    hex[KEY_HEX - 1] = '\0';
}

/* ---- the file */

/* Takes pair. */
static struct key *key_of(EVP_PKEY *pair)
{
    unsigned char raw[KEY_BYTES];
    size_t len = sizeof raw;
    struct key *k = mem_alloc(sizeof *k);

    if (EVP_PKEY_get_raw_public_key(pair, raw, &len) != 1 || len != sizeof raw)
        abort();
    k->pair = pair;
    to_hex(raw, k->public_hex);
    return k;
}

/* A key that others could have read proves nothing. */
static int check_owner(int fd, const char *path, struct err *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_sys(e, -errno, "stat", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "key.bad", path, "%s is not a regular file; move it away", path);
    if ((st.st_mode & 077) == 0 && st.st_uid == geteuid())
        return 0;
    return err_set(e, -EPERM, "key.exposed", path,
                   "others could have read or changed the host key %s; if nobody has, make it "
                   "yours with mode 0600, else move it away so that a new one is made",
                   path);
}

/* Asking for a passphrase on the terminal is no way for a daemon. */
static int no_passphrase(char *buf, int size, int writing, void *ctx)
{
    (void)buf, (void)size, (void)writing, (void)ctx;
    return -1;
}

static int parse(const struct buf *pem, const char *path, struct key **out, struct err *e)
{
    BIO *bio = BIO_new_mem_buf(pem->data, (int)pem->len);
    EVP_PKEY *pair = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;

    (void)BIO_free(bio);
    if (pair && EVP_PKEY_get_base_id(pair) == EVP_PKEY_ED25519) {
        *out = key_of(pair);
        return 0;
    }
    EVP_PKEY_free(pair);
    return err_set(e, -EINVAL, "key.bad", path,
                   "%s holds no Ed25519 private key; restore it, or move it away so that a new one "
                   "is made",
                   path);
}

static int read_pem(int fd, struct buf *pem)
{
    buf_reserve(pem, PEM_BYTES_MAX);
    for (;;) {
        ssize_t n = read(fd, pem->data + pem->len, PEM_BYTES_MAX - pem->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        pem->len += (size_t)n;
    }
}

static void forget(struct buf *pem)
{
    if (pem->data)
        OPENSSL_cleanse(pem->data, pem->cap);
    buf_deinit(pem);
}

static int read_key(const char *path, struct key **out, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    CLEANUP(forget) struct buf pem = {0};

    if (fd < 0)
        return errno == ENOENT ? -ENOENT : err_sys(e, -errno, "open", path);
    int rc = check_owner(fd, path, e);
    if (rc == 0 && (rc = read_pem(fd, &pem)) < 0)
        return err_sys(e, rc, "read", path);
    return rc < 0 ? rc : parse(&pem, path, out, e);
}

/* link() and not rename(): a key that is there already stays. */
static int publish(const char *temp, const char *path, struct err *e)
{
    int rc = disk_link(temp, path);

    if (rc < 0)
        rc = disk_err(e, rc, "create", path);

    FAULT_POINT("key.linked");
    if (unlink(temp) < 0 && rc == 0)
        rc = err_sys(e, -errno, "remove", temp);
    return rc;
}

static int sync_folder_of(const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');

    if (!slash)
        return file_sync_dir(".", e);
    slash[slash == folder] = '\0';
    return file_sync_dir(folder, e);
}

static int write_key(EVP_PKEY *pair, const char *path, struct err *e)
{
    CLEANUP(mem_freep) char *temp = mem_printf("%s.tmp.%ld", path, (long)getpid());
    BIO *bio = BIO_new(BIO_s_mem());
    char *pem = NULL;

    if (!bio || PEM_write_bio_PKCS8PrivateKey(bio, pair, NULL, NULL, 0, NULL, NULL) != 1)
        abort();
    long len = BIO_get_mem_data(bio, &pem);
    (void)unlink(temp); /* of a process that died */
    int rc = file_write(temp, pem, (size_t)len, 0600, e);
    OPENSSL_cleanse(pem, (size_t)len);
    (void)BIO_free(bio);
    FAULT_POINT("key.written");
    if (rc == 0)
        rc = publish(temp, path, e);
    return rc < 0 ? rc : sync_folder_of(path, e);
}

static int make_key(const char *path, struct key **out, struct err *e)
{
    EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");

    if (!pair)
        return err_set(e, -EIO, "key.bad", path,
                       "libcrypto could not make an Ed25519 key; see that it is whole");
    int rc = write_key(pair, path, e);
    if (rc < 0)
        EVP_PKEY_free(pair);
    else
        *out = key_of(pair);
    return rc;
}

static int write_public(const struct key *k, const char *path, struct err *e)
{
    CLEANUP(buf_deinit) struct buf now = {0};
    char line[KEY_HEX + 1];

    memcpy(line, k->public_hex, KEY_HEX - 1);
    line[KEY_HEX - 1] = '\n';
    if (file_read(path, KEY_HEX, &now, NULL) == 0 && now.len == KEY_HEX &&
        memcmp(now.data, line, KEY_HEX) == 0)
        return 0;
    return file_write_atomic(path, line, KEY_HEX, 0644, e);
}

int key_load(const char *path, const char *public_path, struct key **out, struct err *e)
{
    *out = NULL;
    int rc = read_key(path, out, e);
    if (rc == -ENOENT)
        rc = make_key(path, out, e);
    if (rc == 0)
        rc = write_public(*out, public_path, e);
    if (rc < 0) {
        key_free(*out);
        *out = NULL;
    }
    return rc;
}

void key_free(struct key *k)
{
    if (!k)
        return;
    EVP_PKEY_free(k->pair);
    free(k);
}

const char *key_public(const struct key *k)
{
    return k->public_hex;
}

/* ---- signatures */

void key_sign(const struct key *k, const void *data, size_t len,
              unsigned char signature[KEY_SIGNATURE_BYTES])
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t n = KEY_SIGNATURE_BYTES;

    if (!ctx || EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->pair) != 1 ||
        EVP_DigestSign(ctx, signature, &n, data, len) != 1 || n != KEY_SIGNATURE_BYTES)
        abort();
    EVP_MD_CTX_free(ctx);
}
