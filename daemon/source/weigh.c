#include "source/weigh.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "proto/form/elf.h"
#include "source/inside.h"

/* ---- rules */

struct rules {
    const struct weigh *w;
    bool *found; /* by must_link */
    const char *forbidden;
};

static size_t count(const struct args *names)
{
    return names ? names->n : 0;
}

static void see(void *of, const char *name)
{
    struct rules *r = of;

    for (size_t i = 0; i < count(r->w->must_link); i++)
        r->found[i] = r->found[i] || strcmp(r->w->must_link->v[i], name) == 0;
    for (size_t i = 0; i < count(r->w->must_not_link) && !r->forbidden; i++)
        if (strcmp(r->w->must_not_link->v[i], name) == 0)
            r->forbidden = r->w->must_not_link->v[i];
}

static bool read_fd(void *of, uint64_t at, void *to, size_t len)
{
    char *into = to;

    for (size_t got = 0; got < len;) {
        ssize_t n = pread(*(int *)of, into + got, len - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

static const char *judge(const struct rules *r, const char **name)
{
    *name = r->forbidden;
    if (r->forbidden)
        return "lane.link_forbidden";
    for (size_t i = 0; i < count(r->w->must_link); i++)
        if (!r->found[i]) {
            *name = r->w->must_link->v[i];
            return "lane.link_missing";
        }
    return NULL;
}

static const char *check_links(const struct weigh *w, int fd, int64_t bytes, const char **name)
{
    size_t n = count(w->must_link);
    if (n + count(w->must_not_link) == 0)
        return NULL;
    CLEANUP(mem_freep) bool *found = mem_alloc(n + 1);
    struct rules rules = {.w = w, .found = found};
    const struct elf_file file = {(uint64_t)bytes, read_fd, &fd};
    const struct elf_seen seen = {see, see, &rules};

    return elf_read(&file, &seen) == 0 ? judge(&rules, name) : "lane.link_unknown";
}

const char *source_weigh(const struct weigh *w, int64_t *bytes, const char **name)
{
    CLEANUP(mem_closep) int fd = -1;
    struct stat st;
    const char *fault = source_open_inside(w->root, w->path, &fd);

    *bytes = -1;
    *name = NULL;
    if (fault)
        return fault;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return "lane.file_special";
    fault = check_links(w, fd, st.st_size, name);
    *bytes = fault ? -1 : st.st_size;
    return fault;
}
