/* Facts from /sys: power, frequency, heat. What is missing is unknown, unless something that is
 * there proves that it cannot exist. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "host/linux_probe.h"

#define POWER "/sys/class/power_supply"
#define PROFILE "/sys/firmware/acpi/platform_profile"
#define CPUS "/sys/devices/system/cpu"
#define THERMAL "/sys/class/thermal"
#define SENSORS "/sys/class/hwmon"
#define TRIPS_MAX 16

struct sys {
    const struct linux_probe *p;
    struct arena *a;
    enum { MACHINE_UNKNOWN, MACHINE_BARE, MACHINE_VIRTUAL } machine;
    const char **cpus; /* "cpu0", ... online ones */
    int n_cpus;
};

static const char *path_of(const struct sys *s, const char *folder, const char *name,
                           const char *file)
{
    return arena_printf(s->a, "%s/%s/%s", folder, name, file);
}

static bool is_word(const char *line, const char *word)
{
    return line && strcmp(line, word) == 0;
}

/* ---- power */

struct supplies {
    int batteries;         /* that feed the machine, not a mouse */
    int mains, mains_on;   /* adapters, and those that deliver */
    int discharging, held; /* batteries by what they do */
    bool unreadable;
};

static void supply_add_battery(const struct sys *s, const char *name, struct supplies *out)
{
    if (is_word(linux_line(s->p, s->a, path_of(s, POWER, name, "scope")), "Device"))
        return;
    const char *status = linux_line(s->p, s->a, path_of(s, POWER, name, "status"));
    out->batteries++;
    if (is_word(status, "Discharging"))
        out->discharging++;
    else if (is_word(status, "Charging") || is_word(status, "Full") ||
             is_word(status, "Not charging"))
        out->held++;
}

static void supply_add(const struct sys *s, const char *name, struct supplies *out)
{
    const char *type = linux_line(s->p, s->a, path_of(s, POWER, name, "type"));
    if (!type) {
        out->unreadable = true;
    } else if (is_word(type, "Battery") || is_word(type, "UPS")) {
        supply_add_battery(s, name, out);
    } else if (is_word(type, "Mains") || is_word(type, "USB")) {
        int64_t online = linux_number(s->p, path_of(s, POWER, name, "online"));
        out->mains++;
        out->mains_on += online > 0;
        out->unreadable = out->unreadable || online < 0;
    }
}

static struct fact mains_without_battery(const struct sys *s)
{
    if (s->machine == MACHINE_BARE)
        return fact_absent("the power-supply folder is there and lists no battery", POWER);
    return fact_unknown("the folder lists no battery, but a virtual machine does not see the power "
                        "of its host",
                        POWER);
}

static struct fact mains_fact(const struct sys *s)
{
    const char **names;
    struct supplies found = {0};
    int n = linux_list(s->p, s->a, POWER, "", &names);
    if (n < 0)
        return fact_unknown("there is no power-supply folder", POWER);
    for (int i = 0; i < n; i++)
        supply_add(s, names[i], &found);
    if (found.mains_on > 0 && found.discharging == 0)
        return fact_known(1, "an adapter delivers", POWER);
    if (found.discharging > 0)
        return fact_known(0, "a battery discharges", POWER);
    if (found.unreadable)
        return fact_unknown("a power supply could not be read", POWER);
    if (found.batteries == 0)
        return mains_without_battery(s);
    if (found.mains > 0)
        return fact_known(0, "no adapter delivers", POWER);
    if (found.held == found.batteries)
        return fact_known(1, "no battery discharges", POWER);
    return fact_unknown("what the battery does could not be read", POWER);
}

static struct fact low_power_fact(const struct sys *s)
{
    const char *profile = linux_line(s->p, s->a, PROFILE);
    if (profile)
        return fact_known(is_word(profile, "low-power"), profile, PROFILE);
    if (s->machine == MACHINE_BARE && linux_exists(s->p, "/sys/firmware") &&
        !linux_exists(s->p, PROFILE))
        return fact_absent("the firmware offers no platform profiles", PROFILE);
    return fact_unknown("the platform profile could not be read", PROFILE);
}

/* ---- frequency */

static void list_cpus(struct sys *s)
{
    const char **names;
    int n = linux_list(s->p, s->a, CPUS, "cpu", &names);
    s->n_cpus = 0;
    s->cpus = names;
    for (int i = 0; i < n; i++) {
        bool numbered = proc_parse_number(names[i] + 3, strlen(names[i] + 3)) >= 0;
        if (numbered && linux_number(s->p, path_of(s, CPUS, names[i], "online")) != 0)
            s->cpus[s->n_cpus++] = names[i];
    }
}

static void add_unique(const char **values, int *n, const char *value)
{
    int at = 0;
    while (at < *n && strcmp(values[at], value) < 0)
        at++;
    if (at < *n && strcmp(values[at], value) == 0)
        return;
    memmove(values + at + 1, values + at, (size_t)(*n - at) * sizeof *values);
    values[at] = value;
    (*n)++;
}

static const char *joined(struct arena *a, const char **values, int n)
{
    const char *text = values[0];
    for (int i = 1; i < n; i++)
        text = arena_printf(a, "%s,%s", text, values[i]);
    return text;
}

/* One setting that each CPU has: what all of them say, sorted and named once. *have counts the CPUs
 * that say something. */
static const char *cpu_setting(const struct sys *s, const char *file, int *have)
{
    const char **values = arena_array(s->a, (size_t)s->n_cpus, sizeof *values);
    int n = 0;
    *have = 0;
    for (int i = 0; i < s->n_cpus; i++) {
        const char *value = linux_line(s->p, s->a, path_of(s, CPUS, s->cpus[i], file));
        if (!value)
            continue;
        (*have)++;
        add_unique(values, &n, value);
    }
    return n > 0 ? joined(s->a, values, n) : NULL;
}

static struct fact setting_fact(const struct sys *s, const char *file, const char *what)
{
    int have;
    const char *text = cpu_setting(s, file, &have);
    if (text && have == s->n_cpus)
        return fact_known(0, text, CPUS);
    return fact_unknown(arena_printf(s->a, "the %s of %d of %d CPUs could not be read", what,
                                     s->n_cpus - have, s->n_cpus),
                        CPUS);
}

/* A frequency driver that is there and offers no preference on any CPU has none. */
static struct fact energy_fact(const struct sys *s, const struct fact *governor)
{
    int have;
    const char *text = cpu_setting(s, "cpufreq/energy_performance_preference", &have);
    if (!text && governor->state == FACT_KNOWN)
        return fact_absent("the frequency driver offers no energy preference", CPUS);
    return setting_fact(s, "cpufreq/energy_performance_preference", "energy preference");
}

static struct fact boost_fact(const struct sys *s)
{
    static const char intel[] = CPUS "/intel_pstate/no_turbo";
    static const char other[] = CPUS "/cpufreq/boost";
    int64_t no_turbo = linux_number(s->p, intel), boost = linux_number(s->p, other);
    if (no_turbo >= 0)
        return fact_known(no_turbo == 0, NULL, intel);
    if (boost >= 0)
        return fact_known(boost != 0, NULL, other);
    return fact_unknown("no driver says whether boost is on", CPUS);
}

/* ---- heat */

static struct fact throttles_fact(const struct sys *s)
{
    static const char *const files[] = {"thermal_throttle/core_throttle_count",
                                        "thermal_throttle/package_throttle_count"};
    int64_t sum = 0, found = 0;
    for (int i = 0; i < s->n_cpus; i++) {
        for (size_t f = 0; f < ARRAY_LEN(files); f++) {
            int64_t n = linux_number(s->p, path_of(s, CPUS, s->cpus[i], files[f]));
            if (n < 0)
                continue;
            found++;
            if (__builtin_add_overflow(sum, n, &sum))
                return fact_unknown("the throttle counters do not fit", CPUS);
        }
    }
    if (found == 0)
        return fact_unknown("this kernel shows no throttle counters", CPUS);
    return fact_known(sum, NULL, CPUS);
}

/* The lowest temperature, in thousandths of a degree, at which the zone slows the machine down; -1:
 * none is set. Active trip points only start a fan. */
static int64_t zone_limit(const struct sys *s, const char *zone)
{
    int64_t limit = -1;
    for (int i = 0; i < TRIPS_MAX; i++) {
        char file[40];
        (void)snprintf(file, sizeof file, "trip_point_%d_type", i);
        const char *type = linux_line(s->p, s->a, path_of(s, THERMAL, zone, file));
        if (!type)
            break;
        if (is_word(type, "active"))
            continue;
        (void)snprintf(file, sizeof file, "trip_point_%d_temp", i);
        int64_t temp = linux_number(s->p, path_of(s, THERMAL, zone, file));
        if (temp > 0 && (limit < 0 || temp < limit))
            limit = temp;
    }
    return limit;
}

/* Sensors with a temperature and a limit, and the first that reached it. */
struct heat {
    int judged;
    const char *hot; /* NULL: none */
};

static void heat_add(const struct sys *s, struct heat *heat, const char *name, int64_t temp,
                     int64_t limit)
{
    if (temp < 0 || limit <= 0)
        return;
    heat->judged++;
    if (temp >= limit && !heat->hot)
        heat->hot = arena_printf(s->a, "%s at %.1f C, limit %.1f C", name, (double)temp / 1000,
                                 (double)limit / 1000);
}

static void heat_of_zones(const struct sys *s, struct heat *heat)
{
    const char **zones;
    int n = linux_list(s->p, s->a, THERMAL, "thermal_zone", &zones);
    for (int i = 0; i < n; i++)
        heat_add(s, heat, zones[i], linux_number(s->p, path_of(s, THERMAL, zones[i], "temp")),
                 zone_limit(s, zones[i]));
}

/* Servers often have no zone with a limit; their processors' own sensors have. */
static void heat_of_sensors(const struct sys *s, struct heat *heat)
{
    const char **chips;
    int n = linux_list(s->p, s->a, SENSORS, "hwmon", &chips);
    for (int i = 0; i < n; i++) {
        const char *name = linux_line(s->p, s->a, path_of(s, SENSORS, chips[i], "name"));
        if (is_word(name, "coretemp") || is_word(name, "k10temp"))
            heat_add(s, heat, name,
                     linux_number(s->p, path_of(s, SENSORS, chips[i], "temp1_input")),
                     linux_number(s->p, path_of(s, SENSORS, chips[i], "temp1_crit")));
    }
}

static struct fact thermal_fact(const struct sys *s)
{
    struct heat heat = {0};
    heat_of_zones(s, &heat);
    heat_of_sensors(s, &heat);
    if (heat.judged == 0)
        return fact_unknown("no thermal zone or processor sensor has a temperature and a limit",
                            THERMAL);
    if (heat.hot)
        return fact_known(1, heat.hot, THERMAL);
    return fact_known(0, arena_printf(s->a, "%d sensors below their limits", heat.judged), THERMAL);
}

void linux_sys_facts(const struct linux_probe *p, struct arena *a, struct host_facts *out)
{
    struct sys s = {.p = p, .a = a};
    struct fact *facts = out->facts;
    if (facts[FACT_VIRTUAL].state == FACT_KNOWN)
        s.machine = facts[FACT_VIRTUAL].value ? MACHINE_VIRTUAL : MACHINE_BARE;
    list_cpus(&s);
    facts[FACT_MAINS] = mains_fact(&s);
    facts[FACT_LOW_POWER] = low_power_fact(&s);
    facts[FACT_GOVERNOR] = setting_fact(&s, "cpufreq/scaling_governor", "governor");
    facts[FACT_BOOST] = boost_fact(&s);
    facts[FACT_ENERGY] = energy_fact(&s, &facts[FACT_GOVERNOR]);
    facts[FACT_THROTTLES] = throttles_fact(&s);
    facts[FACT_THERMAL_STATE] = thermal_fact(&s);
}
