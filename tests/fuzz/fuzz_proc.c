/* The parsers of /proc over bytes that any process of any user shapes: nothing is read past the
 * end, every number is known or -1, every text may be shown and stored. The first byte says which
 * file it is. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "host/proc_parse.h"

static void must_be_clean(const char *text)
{
    if (!text)
        return;
    fuzz_must_be_text(text);
    MUST(text[0] && text[strlen(text) - 1] != ' ');
    fuzz_count_good();
}

static void must_be_number_or_unknown(int64_t v)
{
    MUST(v >= -1);
    if (v >= 0)
        fuzz_count_good();
}

static void try_stat(const char *data, size_t len)
{
    struct proc_stat s;

    if (proc_parse_stat(data, len, &s) != 0)
        return;
    MUST(s.pid > 0 && s.ppid >= 0 && s.cpu_ticks >= 0 && s.start_ticks >= 0);
    MUST(strlen(s.command) <= PROC_COMMAND_MAX);
    fuzz_must_be_text(s.command);
    fuzz_count_good();
}

static void try_totals(const char *data, size_t len)
{
    struct arena a = {0};
    struct proc_totals t;
    int online = 0;

    if (proc_parse_totals(&a, data, len, &t) == 0) {
        MUST(t.busy_ticks >= 0 && t.all_ticks >= t.busy_ticks && t.steal_ticks >= -1);
        MUST(t.n_cpus <= PROC_CPUS_MAX && t.forks >= -1 && t.boot_s >= -1);
        for (size_t i = 0; i < t.n_cpus; i++) {
            MUST(t.cpu_busy_ticks[i] >= -1);
            online += t.cpu_busy_ticks[i] >= 0;
        }
        MUST(online == t.online);
        fuzz_count_good();
    }
    arena_deinit(&a);
}

static void try_status(const char *data, size_t len)
{
    must_be_number_or_unknown(proc_parse_uid(data, len));
    (void)proc_parse_capabilities(data, len);
}

static void try_numbers(const char *data, size_t len)
{
    must_be_number_or_unknown(proc_parse_memory_bytes(data, len, "MemAvailable"));
    must_be_number_or_unknown(proc_parse_vmstat(data, len, "pswpin"));
    must_be_number_or_unknown(proc_parse_uptime_ms(data, len));
    must_be_number_or_unknown(proc_parse_number(data, len));
}

static void try_texts(const char *data, size_t len)
{
    struct arena a = {0};

    must_be_clean(proc_parse_value(&a, data, len, "model name"));
    must_be_clean(proc_parse_assignment(&a, data, len, "PRETTY_NAME"));
    char *clean = proc_clean(&a, data, len);
    must_be_clean(clean);
    if (clean) /* once is enough */
        MUST(strcmp(proc_clean(&a, clean, strlen(clean)), clean) == 0, "%s", clean);
    (void)proc_parse_hides(data, len);
    arena_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const char *, size_t) = {try_stat, try_totals, try_status,
                                                          try_numbers, try_texts};
    struct fuzz_in in = {data, size};
    size_t which = fuzz_below(&in, ARRAY_LEN(tries));

    tries[which]((const char *)in.at, in.left);
    return 0;
}
