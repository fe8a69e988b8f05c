/* Parsers of /proc on text that nobody nice wrote: names with blanks, parentheses and line ends,
 * text that stops anywhere, numbers that do not fit. */
#include "unit/unit.h"

#include <errno.h>

#include "base/buf.h"
#include "base/mem.h"
#include "host/proc_parse.h"
#include "unit/core/prng.h"

#define TAIL                                                                                       \
    " S 7 42 42 0 -1 4194560 10 0 0 0 31 12 0 0 20 0 1 0 5120 2097 145 18446744073709551615 1\n"

static int parse_stat(const char *text, struct proc_stat *out)
{
    return proc_parse_stat(text, strlen(text), out);
}

static void a_plain_process_is_read(void **state)
{
    struct proc_stat s;
    assert_int_equal(parse_stat("42 (sshd)" TAIL, &s), 0);
    assert_int_equal(s.pid, 42);
    assert_int_equal(s.ppid, 7);
    assert_string_equal(s.command, "sshd");
    assert_int_equal(s.cpu_ticks, 43);
    assert_int_equal(s.start_ticks, 5120);
    assert_false(s.kernel_thread);
}

static void a_kernel_thread_is_told_by_its_flag(void **state)
{
    struct proc_stat s;
    const char *text =
        "9 (kworker/0:1-events) I 2 0 0 0 -1 69238880 0 0 0 0 0 17 0 0 20 0 1 0 40 0";
    assert_int_equal(parse_stat(text, &s), 0);
    assert_true(s.kernel_thread);
    assert_string_equal(s.command, "kworker/0:1-events");
}

static void a_name_may_hold_anything(void **state)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"42 (a b)" TAIL, "a b"},
        {"42 (x) R 1 1 1 (y)" TAIL, "x) R 1 1 1 (y"},
        {"42 (evil) S 1 2 3\n4 (z)" TAIL, "evil) S 1 2 3 4 (z"},
        {"42 ())" TAIL, ")"},
        {"42 (()" TAIL, "("},
        {"42 ()" TAIL, ""},
        {"42 (\x01\xff\xc3\xa9)" TAIL, "??\xc3\xa9"},
    };
    struct proc_stat s;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse_stat(cases[i].text, &s), 0);
        assert_string_equal(s.command, cases[i].name);
        assert_int_equal(s.ppid, 7);
        assert_int_equal(s.start_ticks, 5120);
    }
}

static void what_is_not_a_process_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "42",
        "42 (sshd",
        "42 sshd)" TAIL,
        ")(" TAIL,
        "(sshd)" TAIL,
        "-1 (sshd)" TAIL,
        "0 (sshd)" TAIL,
        "4294967296 (sshd)" TAIL,
        "42 (sshd) S 7 42 42 0 -1 4194560 10 0 0 0 31 12 0 0 20 0 1 0",
        "42 (sshd) S 7 42 42 0 -1 4194560 10 0 0 0 99999999999999999999 12 0 0 20 0 1 0 5120 1",
        "42 (sshd) S 7 42 42 0 -1 4194560 10 0 0 0 9223372036854775807 1 0 0 20 0 1 0 5120 1",
        "42 (sshd) S 7 42 42 0 -1 4194560 10 0 0 0 31 -12 0 0 20 0 1 0 5120 1",
        "42 (sshd) S x 42 42 0 -1 4194560 10 0 0 0 31 12 0 0 20 0 1 0 5120 1",
    };
    struct proc_stat s;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(parse_stat(bad[i], &s), -EINVAL);
}

/* Every prefix of a line either fails or is the whole of what matters. */
static void a_truncated_line_never_yields_wrong_numbers(void **state)
{
    static const char text[] = "42 (a) b)" TAIL;
    size_t good = 0;
    for (size_t len = 0; len < sizeof text; len++) {
        char *exact = malloc(len + 1); /* so that a sanitizer sees a read past the end */
        memcpy(exact, text, len);
        struct proc_stat s;
        char *shrunk = realloc(exact, len ? len : 1);
        if (proc_parse_stat(shrunk, len, &s) == 0) {
            good++;
            assert_int_equal(s.cpu_ticks, 43);
            assert_true(s.start_ticks == 5 || s.start_ticks == 51 || s.start_ticks == 512 ||
                        s.start_ticks == 5120);
        }
        free(shrunk);
    }
    assert_true(good > 4);
}

static void totals_count_everything_but_idle_and_iowait(void **state)
{
    static const char text[] = "cpu  10 1 2 100 50 3 4 5 9 9\ncpu0 6 1 1 60 20 3 2 2 0 0\n"
                               "cpu2 4 0 1 40 30 0 2 3 0 0\nintr 1 2 3\nctxt 5\n"
                               "btime 1789012345\nprocesses 20418\n";
    struct arena a = {0};
    struct proc_totals t;
    assert_int_equal(proc_parse_totals(&a, text, strlen(text), &t), 0);
    assert_int_equal(t.busy_ticks, 25);
    assert_int_equal(t.all_ticks, 175);
    assert_int_equal(t.steal_ticks, 5);
    assert_int_equal(t.n_cpus, 3);
    assert_int_equal(t.online, 2);
    assert_int_equal(t.cpu_busy_ticks[0], 15);
    assert_int_equal(t.cpu_busy_ticks[1], -1);
    assert_int_equal(t.cpu_busy_ticks[2], 10);
    assert_int_equal(t.forks, 20418);
    assert_int_equal(t.boot_s, 1789012345);
    arena_deinit(&a);
}

static void hostile_totals_are_unknown(void **state)
{
    struct arena a = {0};
    struct proc_totals t;
    assert_int_equal(proc_parse_totals(&a, "", 0, &t), -EINVAL);
    assert_int_equal(proc_parse_totals(&a, "cpu 1 2 3\n", 10, &t), -EINVAL);
    static const char huge[] = "cpu 9223372036854775807 1 1 1\n";
    assert_int_equal(proc_parse_totals(&a, huge, strlen(huge), &t), -EINVAL);
    static const char odd[] = "cpu 1 1 1 1\ncpu99999999 1 1 1 1\ncpux 1 1 1 1\nprocesses lots\n";
    assert_int_equal(proc_parse_totals(&a, odd, strlen(odd), &t), 0);
    assert_int_equal(t.n_cpus, 0);
    assert_int_equal(t.forks, -1);
    assert_int_equal(t.boot_s, -1);
    assert_int_equal(t.steal_ticks, -1);
    arena_deinit(&a);
}

static void cpus_beyond_the_first_room_are_kept(void **state)
{
    struct arena a = {0};
    struct proc_totals t;
    struct buf b = {0};
    buf_puts(&b, "cpu 1 1 1 1\n");
    for (int i = 0; i < 300; i++)
        buf_printf(&b, "cpu%d %d 0 0 7\n", i, i);
    assert_int_equal(proc_parse_totals(&a, buf_str(&b), b.len, &t), 0);
    assert_int_equal(t.online, 300);
    for (int i = 0; i < 300; i++)
        assert_int_equal(t.cpu_busy_ticks[i], i);
    buf_deinit(&b);
    arena_deinit(&a);
}

static void status_gives_owner_and_capabilities(void **state)
{
    static const char text[] = "Name:\tx\nUid:\t1000\t0\t0\t0\nCapEff:\t0000000000080000\n";
    assert_int_equal(proc_parse_uid(text, strlen(text)), 1000);
    assert_int_equal(proc_parse_capabilities(text, strlen(text)), 1 << 19);
    assert_int_equal(proc_parse_uid("Uid:\tx\n", 7), -1);
    assert_int_equal(proc_parse_uid("", 0), -1);
    assert_int_equal(proc_parse_capabilities("CapEff:\t0g\n", 11), -1);
    static const char name[] = "Name:\tUid:\nGid:\t7\n";
    assert_int_equal(proc_parse_uid(name, strlen(name)), -1);
}

static void numbers_of_the_system(void **state)
{
    static const char mem[] =
        "MemTotal:  2048 kB\nMemAvailable:\t1024 kB\nHuge: 9223372036854775807 kB\n";
    assert_int_equal(proc_parse_memory_bytes(mem, strlen(mem), "MemTotal"), 2048 * 1024);
    assert_int_equal(proc_parse_memory_bytes(mem, strlen(mem), "MemAvailable"), 1024 * 1024);
    assert_int_equal(proc_parse_memory_bytes(mem, strlen(mem), "Mem"), -1);
    assert_int_equal(proc_parse_memory_bytes(mem, strlen(mem), "Huge"), -1);
    static const char vm[] = "pswpin_not 9\npswpin 12\n";
    assert_int_equal(proc_parse_vmstat(vm, strlen(vm), "pswpin"), 12);
    assert_int_equal(proc_parse_vmstat(vm, strlen(vm), "pswpout"), -1);
    assert_int_equal(proc_parse_uptime_ms("5421.33 1\n", 10), 5421330);
    assert_int_equal(proc_parse_uptime_ms("7\n", 2), 7000);
    assert_int_equal(proc_parse_uptime_ms("", 0), -1);
    assert_int_equal(proc_parse_uptime_ms("7.x 1", 5), -1);
    assert_int_equal(proc_parse_uptime_ms("9223372036854775807.9", 21), -1);
    assert_int_equal(proc_parse_number("9223372036854775807", 19), INT64_MAX);
    assert_int_equal(proc_parse_number("9223372036854775808", 19), -1);
    assert_int_equal(proc_parse_number("-1", 2), -1);
    assert_int_equal(proc_parse_number("", 0), -1);
}

static bool hides(const char *text)
{
    return proc_parse_hides(text, strlen(text));
}

static void hidepid_is_read_from_the_mount_that_counts(void **state)
{
    assert_false(hides(""));
    assert_false(hides("proc /proc proc rw,relatime 0 0\n"));
    assert_false(hides("proc /proc proc rw,hidepid=0 0 0\n"));
    assert_false(hides("proc /proc proc rw,hidepid=off 0 0\n"));
    assert_true(hides("proc /proc proc rw,hidepid=2 0 0\n"));
    assert_true(hides("proc /proc proc rw,gid=7,hidepid=invisible 0 0\n"));
    assert_true(hides("none /proc proc hidepid=ptraceable"));
    assert_false(hides("proc /srv/proc proc rw,hidepid=2 0 0\n"));
    assert_false(hides("proc /proc proc rw,hidepid=2 0 0\nproc /proc proc rw 0 0\n"));
    assert_false(hides("proc /proc proc h 0 0\n"));
}

static void values_and_assignments(void **state)
{
    struct arena a = {0};
    static const char cpu[] = "processor\t: 0\nmodel name\t: EPYC  \nmodel\t: 1\n";
    assert_string_equal(proc_parse_value(&a, cpu, strlen(cpu), "model name"), "EPYC");
    assert_string_equal(proc_parse_value(&a, cpu, strlen(cpu), "model"), "1");
    assert_null(proc_parse_value(&a, cpu, strlen(cpu), "flags"));
    static const char os[] = "NAME=Debian\nPRETTY_NAME=\"Debian 12\"\nEMPTY=\"\"\n";
    assert_string_equal(proc_parse_assignment(&a, os, strlen(os), "PRETTY_NAME"), "Debian 12");
    assert_string_equal(proc_parse_assignment(&a, os, strlen(os), "NAME"), "Debian");
    assert_null(proc_parse_assignment(&a, os, strlen(os), "EMPTY"));
    assert_null(proc_parse_assignment(&a, os, strlen(os), "ID"));
    assert_true(proc_has_word("a hypervisor b", "hypervisor"));
    assert_false(proc_has_word("hypervisor2 my_hypervisor", "hypervisor"));
    arena_deinit(&a);
}

static void text_for_people_is_cleaned(void **state)
{
    struct arena a = {0};
    static const char args[] = "gcc\0-c\0a b.c\0";
    assert_string_equal(proc_clean(&a, args, sizeof args - 1), "gcc -c a b.c");
    assert_string_equal(proc_clean(&a, "a\x1b[2J\x7f", 6), "a?[2J?");
    assert_string_equal(proc_clean(&a, "\xe2\x82\xac\xe2\x82", 5), "\xe2\x82\xac??");
    assert_string_equal(proc_clean(&a, "\xed\xa0\x80\xc0\xaf\xf5", 6), "??????");
    assert_string_equal(proc_clean(&a, "\xf0\x9f\x98\x80", 4), "\xf0\x9f\x98\x80");
    assert_null(proc_clean(&a, "\0\0 \n", 4));
    assert_null(proc_clean(&a, "", 0));
    arena_deinit(&a);
}

/* No sanitizer finding, and what is accepted is within its bounds. */
static void random_bytes_do_no_harm(void **state)
{
    static const char alphabet[] = "0123456789() \n\t:,=-cpuhidepid.SR\xff\x80";
    struct prng rng = prng_seeded("random_bytes_do_no_harm");
    for (int round = 0; round < 20000; round++) {
        struct arena a = {0};
        struct proc_stat s;
        struct proc_totals t;
        size_t len = prng_below(&rng, 120);
        char *text = malloc(len ? len : 1);
        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[prng_below(&rng, sizeof alphabet)];
        if (proc_parse_stat(text, len, &s) == 0)
            assert_true(s.pid > 0 && s.cpu_ticks >= 0 && s.start_ticks >= 0);
        if (proc_parse_totals(&a, text, len, &t) == 0)
            assert_true(t.busy_ticks <= t.all_ticks && t.n_cpus <= PROC_CPUS_MAX);
        assert_true(proc_parse_uid(text, len) >= -1);
        assert_true(proc_parse_uptime_ms(text, len) >= -1);
        (void)proc_parse_hides(text, len);
        (void)proc_parse_value(&a, text, len, "cpu");
        (void)proc_parse_assignment(&a, text, len, "p");
        char *clean = proc_clean(&a, text, len);
        assert_true(!clean || strlen(clean) <= len);
        free(text);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_process_is_read),
        cmocka_unit_test(a_kernel_thread_is_told_by_its_flag),
        cmocka_unit_test(a_name_may_hold_anything),
        cmocka_unit_test(what_is_not_a_process_is_refused),
        cmocka_unit_test(a_truncated_line_never_yields_wrong_numbers),
        cmocka_unit_test(totals_count_everything_but_idle_and_iowait),
        cmocka_unit_test(hostile_totals_are_unknown),
        cmocka_unit_test(cpus_beyond_the_first_room_are_kept),
        cmocka_unit_test(status_gives_owner_and_capabilities),
        cmocka_unit_test(numbers_of_the_system),
        cmocka_unit_test(hidepid_is_read_from_the_mount_that_counts),
        cmocka_unit_test(values_and_assignments),
        cmocka_unit_test(text_for_people_is_cleaned),
        cmocka_unit_test(random_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
