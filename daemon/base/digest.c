#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

#define READ_BYTES (256 * 1024)

void digest_bytes(const void *data, size_t len, char hex[DIGEST_HEX])
{
    struct digest *d = digest_new();

    digest_add(d, data, len);
    digest_finish(d, hex);
}

int digest_fd(int fd, char hex[DIGEST_HEX], int64_t *bytes)
{
    struct digest *d = digest_new();
    char *chunk = mem_alloc(READ_BYTES);
    int64_t total = 0;
    ssize_t n;

    while ((n = read(fd, chunk, READ_BYTES)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        digest_add(d, chunk, (size_t)n);
        total += n;
    }
    int rc = n < 0 ? -errno : 0;
    free(chunk);
    digest_finish(d, hex);
    if (bytes)
        *bytes = total;
    return rc;
}

int digest_file(const char *path, char hex[DIGEST_HEX], int64_t *bytes, struct err *e)
{
    CLEANUP(mem_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(e, -errno, "open", path);
    if (!S_ISREG(st.st_mode))
        return err_set(e, -EINVAL, "system.hash", path, "%s is not a regular file", path);
    int rc = digest_fd(fd, hex, bytes);
    return rc < 0 ? err_sys(e, rc, "read", path) : 0;
}

bool digest_valid(const char *hex)
{
    return strlen(hex) == DIGEST_HEX - 1 && strspn(hex, "0123456789abcdef") == DIGEST_HEX - 1;
}
