#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/mem.h"
#include "host/linux_probe.h"

#define TEXT_LIMIT (4u << 20)

static void linux_free(struct host_probe *base)
{
    struct linux_probe *p = (struct linux_probe *)base;
    if (p->proc_fd >= 0)
        (void)close(p->proc_fd);
    known_free(p->known);
    free(p->root);
    free(p);
}

const char *linux_model(const struct linux_probe *p, struct arena *a)
{
    const char *vendor = linux_line(p, a, "/sys/class/dmi/id/sys_vendor");
    const char *product = linux_line(p, a, "/sys/class/dmi/id/product_name");
    if (vendor && product)
        return arena_printf(a, "%s %s", vendor, product);
    if (!product)
        product = linux_line(p, a, "/sys/firmware/devicetree/base/model");
    return product ? product : "";
}

/* The machine id itself is not for strangers: only its hash leaves the host. A machine without one
 * is told by its name, which at least the operator chose. */
static const char *host_id(const struct linux_probe *p, struct arena *a, const char *name)
{
    char hex[DIGEST_HEX];
    const char *id = linux_line(p, a, "/etc/machine-id");
    if (!id)
        id = linux_line(p, a, "/var/lib/dbus/machine-id");
    machine_hash(id, name, hex);
    return arena_strdup(a, hex);
}

static const char *or_empty(const char *s)
{
    return s ? s : "";
}

static const char *arch(const struct linux_probe *p, struct arena *a)
{
    struct utsname u;
    const char *named = linux_line(p, a, "/proc/sys/kernel/arch"); /* since 6.1 */
    if (named)
        return named;
    return uname(&u) == 0 ? arena_strdup(a, u.machine) : "";
}

/* A value of a file of "key : value" or KEY=value lines; "" when it is not there. */
static const char *keyed(const struct linux_probe *p, struct arena *a, const char *path,
                         char *(*parse)(struct arena *, const char *, size_t, const char *),
                         const char *key)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    if (linux_read(p, path, TEXT_LIMIT, &b) < 0)
        return "";
    return or_empty(parse(a, buf_str(&b), b.len, key));
}

static int64_t memory_bytes(const struct linux_probe *p)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    if (linux_read(p, "/proc/meminfo", TEXT_LIMIT, &b) < 0)
        return -1;
    return proc_parse_memory_bytes(buf_str(&b), b.len, "MemTotal");
}

static int linux_identity(struct host_probe *base, struct arena *a, struct host_identity *out,
                          struct err *e)
{
    const struct linux_probe *p = (struct linux_probe *)base;
    struct proc_totals totals;
    int rc = linux_totals(p, a, &totals);
    if (rc < 0 || totals.online == 0)
        return err_set(e, rc < 0 ? rc : -EINVAL, "host.unreadable", "/proc/stat",
                       "the CPUs of this host could not be read from %s/proc/stat; is /proc "
                       "mounted?",
                       p->root);
    const char *name = linux_line(p, a, "/proc/sys/kernel/hostname");
    *out = (struct host_identity){
        .name = name ? name : "unnamed",
        .id = host_id(p, a, or_empty(name)),
        .model = linux_model(p, a),
        .cpu = keyed(p, a, "/proc/cpuinfo", proc_parse_value, "model name"),
        .cores = totals.online,
        .memory_bytes = memory_bytes(p),
        .os = keyed(p, a, "/etc/os-release", proc_parse_assignment, "PRETTY_NAME"),
        .kernel =
            arena_printf(a, "Linux %s", or_empty(linux_line(p, a, "/proc/sys/kernel/osrelease"))),
        .arch = arch(p, a),
        .tick_ns = p->tick_ns,
    };
    return 0;
}

static int linux_boot(struct host_probe *base, struct arena *a, struct boot_identity *out,
                      struct err *e)
{
    const struct linux_probe *p = (struct linux_probe *)base;
    struct proc_totals totals;
    out->id = linux_line(p, a, "/proc/sys/kernel/random/boot_id");
    if (!out->id)
        return err_set(e, -ENODATA, "host.unreadable", "boot_id",
                       "the identity of this boot could not be read from "
                       "%s/proc/sys/kernel/random/boot_id; is /proc mounted?",
                       p->root);
    bool known = linux_totals(p, a, &totals) == 0 && totals.boot_s >= 0;
    out->boot_wall_ms = known ? totals.boot_s * 1000 : -1;
    return 0;
}

int host_probe_new_system(const char *root, struct host_probe **out, struct err *e)
{
    static const struct host_probe_ops ops = {
        .identity = linux_identity,
        .boot = linux_boot,
        .facts = linux_facts,
        .snapshot = linux_snapshot,
        .free = linux_free,
    };
    CLEANUP(mem_freep) char *proc = mem_printf("%s/proc", root);
    int fd = open(proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(e, -errno, "open", proc);
    long ticks = sysconf(_SC_CLK_TCK);
    struct linux_probe *p = mem_alloc(sizeof *p);
    *p = (struct linux_probe){
        .base = {.ops = &ops},
        .root = mem_strdup(root),
        .proc_fd = fd,
        .tick_ns = 1000000000 / (ticks > 0 ? ticks : 100),
        .known = known_new(fd),
    };
    *out = &p->base;
    return 0;
}
