/* Facts from /proc, and what kind of machine this is. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "host/linux_probe.h"

#define TEXT_LIMIT (4u << 20)

/* A number parsed out of one file; -1 makes it unknown. */
static struct fact number_fact(struct arena *a, int64_t value, const char *what, const char *source)
{
    if (value >= 0)
        return fact_known(value, NULL, source);
    return fact_unknown(arena_printf(a, "%s could not be read from %s", what, source), source);
}

static void cpu_facts(const struct linux_probe *p, struct arena *a, struct fact *facts)
{
    struct proc_totals totals;
    bool known = linux_totals(p, a, &totals) == 0;
    facts[FACT_CPU_TICKS] = number_fact(a, known ? totals.all_ticks : -1, "CPU time", "/proc/stat");
    facts[FACT_STEAL_TICKS] =
        number_fact(a, known ? totals.steal_ticks : -1, "stolen CPU time", "/proc/stat");
}

static void memory_facts(const struct linux_probe *p, struct arena *a, struct fact *facts)
{
    static const char source[] = "/proc/meminfo";
    CLEANUP(buf_deinit) struct buf b = {0};
    (void)linux_read(p, source, TEXT_LIMIT, &b);
    const char *text = buf_str(&b);
    facts[FACT_MEMORY_AVAILABLE] = number_fact(
        a, proc_parse_memory_bytes(text, b.len, "MemAvailable"), "available memory", source);
    facts[FACT_MEMORY_TOTAL] =
        number_fact(a, proc_parse_memory_bytes(text, b.len, "MemTotal"), "memory size", source);
}

/* A kernel without swap counts nothing: there is no /proc/swaps either then. */
static struct fact swap_fact(const struct linux_probe *p, struct arena *a)
{
    static const char source[] = "/proc/vmstat";
    CLEANUP(buf_deinit) struct buf b = {0};
    int rc = linux_read(p, source, TEXT_LIMIT, &b);
    int64_t pages = proc_parse_vmstat(buf_str(&b), b.len, "pswpin");
    if (rc == 0 && b.len > 0 && pages < 0 && !linux_exists(p, "/proc/swaps"))
        return fact_absent("this kernel has no swap: /proc/swaps does not exist", source);
    return number_fact(a, pages, "the number of pages swapped in", source);
}

static struct fact uptime_fact(const struct linux_probe *p, struct arena *a)
{
    static const char source[] = "/proc/uptime";
    CLEANUP(buf_deinit) struct buf b = {0};
    (void)linux_read(p, source, TEXT_LIMIT, &b);
    return number_fact(a, proc_parse_uptime_ms(buf_str(&b), b.len), "time since boot", source);
}

static struct fact namespace_fact(const struct linux_probe *p, struct arena *a)
{
    static const char source[] = "/proc/self/ns/pid";
    int initial = linux_initial_pid_namespace(p, a);
    return number_fact(a, initial, "the PID namespace", source);
}

/* ---- bare metal or not */

static bool names_a_virtual_machine(const char *model)
{
    static const char *const known[] = {
        "QEMU",    "KVM",       "VMware",           "VirtualBox",           "innotek",
        "Bochs",   "Parallels", "Virtual Machine",  "Google Compute",       "OpenStack",
        "Xen HVM", "HVM domU",  "Cloud Hypervisor", "Apple Virtualization",
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcasestr(model, known[i]))
            return true;
    return false;
}

/* 1: the processor says so; 0: it is one that would say so; -1: it has no way to say it. */
static int cpu_says_virtual(const struct linux_probe *p)
{
    struct arena scratch = {0};
    CLEANUP(buf_deinit) struct buf b = {0};
    int says = -1;
    if (linux_read(p, "/proc/cpuinfo", TEXT_LIMIT, &b) == 0) {
        const char *flags = proc_parse_value(&scratch, buf_str(&b), b.len, "flags");
        if (flags)
            says = proc_has_word(flags, "hypervisor");
    }
    arena_deinit(&scratch);
    return says;
}

static struct fact virtual_fact(const struct linux_probe *p, struct arena *a)
{
    const char *model = linux_model(p, a);
    const char *hypervisor = linux_line(p, a, "/sys/hypervisor/type");
    int says = cpu_says_virtual(p);
    if (hypervisor)
        return fact_known(1, hypervisor, "/sys/hypervisor/type");
    if (names_a_virtual_machine(model))
        return fact_known(1, model, "/sys/class/dmi/id");
    if (says == 1)
        return fact_known(1, model[0] ? model : "kind unknown", "/proc/cpuinfo");
    if (linux_exists(p, "/sys/firmware/devicetree/base/hypervisor"))
        return fact_known(1, model[0] ? model : "kind unknown", "/sys/firmware/devicetree");
    if (says == 0)
        return fact_known(0, "bare metal", "/proc/cpuinfo");
    return fact_unknown("neither the processor nor the firmware says whether this is a virtual "
                        "machine",
                        "/proc/cpuinfo");
}

void linux_facts(struct host_probe *base, struct arena *a, struct host_facts *out)
{
    const struct linux_probe *p = (struct linux_probe *)base;
    struct fact *facts = out->facts;
    *out = (struct host_facts){.wall_ms = clock_wall_ms()};
    cpu_facts(p, a, facts);
    memory_facts(p, a, facts);
    facts[FACT_SWAP_IN] = swap_fact(p, a);
    facts[FACT_UPTIME] = uptime_fact(p, a);
    facts[FACT_SUSPEND] = fact_known(clock_suspend_ns() / 1000000, NULL, "CLOCK_BOOTTIME");
    facts[FACT_PID_NAMESPACE] = namespace_fact(p, a);
    facts[FACT_VIRTUAL] = virtual_fact(p, a);
    facts[FACT_CALIBRATION] = fact_unknown("no calibration of this boot is known", NULL);
    linux_sys_facts(p, a, out);
}
