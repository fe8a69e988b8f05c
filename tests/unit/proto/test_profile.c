/* Profiles: those that callgrind and perf really wrote, one of xctrace's kind, and everything that
 * is none. What is refused names its line. */
#include "unit/unit.h"

#include <errno.h>
#include <inttypes.h>

#include "base/buf.h"
#include "base/files.h"
#include "base/mem.h"
#include "proto/doc/doc_attribution.h"
#include "proto/profile/profile.h"

/* ---- what a reader told */

struct told {
    struct buf text; /* a line for each sample: "symbol object count", and what else there is */
    int64_t count;
};

static void put(struct buf *b, struct piece p)
{
    buf_printf(b, "%.*s ", p.at ? (int)p.len : 1, p.at ? p.at : "-");
}

static bool tell(void *of, const struct profile_sample *s)
{
    struct told *t = of;
    put(&t->text, s->symbol);
    put(&t->text, s->object);
    if (s->at_ns >= 0) {
        put(&t->text, s->process);
        put(&t->text, s->thread);
        buf_printf(&t->text, "@%" PRId64 " ", s->at_ns);
    }
    buf_printf(&t->text, "%" PRId64 "%s%s\n", s->count, s->is_kernel ? " kernel" : "",
               s->is_suspended ? " suspended" : "");
    t->count += s->count;
    return true;
}

static void expect_told(enum profile_format f, const char *text, const char *want)
{
    struct told t = {0};
    const struct profile_seen seen = {tell, &t};
    struct err e = {0};

    if (profile_read(f, text, strlen(text), &seen, &e) != 0)
        fail_msg("refused: %s", e.text);
    assert_string_equal(buf_str(&t.text), want);
    buf_deinit(&t.text);
}

static void expect_refused(enum profile_format f, const char *text, int line, const char *word)
{
    struct told t = {0};
    const struct profile_seen seen = {tell, &t};
    struct err e = {0};
    char field[32];

    assert_int_equal(profile_read(f, text, strlen(text), &seen, &e), -EBADMSG);
    assert_string_equal(e.code, "profile.bad");
    (void)snprintf(field, sizeof field, "line %d", line);
    if (strcmp(e.field, field) != 0 || !strstr(e.text, word))
        fail_msg("\"%s\" is refused in %s: %s", text, e.field, e.text);
    buf_deinit(&t.text);
}

static void read_fixture(const char *name, struct buf *out)
{
    struct err e = {0};
    CLEANUP(mem_freep)
    char *path = mem_printf("%s/profiles/%s", getenv("AURABENCH_FIXTURES"), name);
    assert_int_equal(file_read(path, PROFILE_BYTES_MAX, out, &e), 0);
}

/* ---- attributing a whole file */

#define VALUES_MAX (CATEGORIES_MAX + ATTRIBUTION_VALUES)

static void expect_counts(const char *rules_json, const char *fixture, const int64_t *want)
{
    struct arena a = {0};
    const struct attribution *rules = NULL;
    CLEANUP(buf_deinit) struct buf text = {0};
    struct err e = {0};
    int64_t counts[VALUES_MAX] = {0};

    if (attribution_decode(&a, rules_json, strlen(rules_json), &rules, &e) != 0)
        fail_msg("%s: %s", e.field, e.text);
    read_fixture(fixture, &text);
    if (profile_attribute(rules, text.data, text.len, counts, &e) != 0)
        fail_msg("%s: %s", fixture, e.text);
    assert_true(attribution_adds_up(rules, counts));
    for (size_t i = 0; i < attribution_count(rules); i++)
        if (counts[i] != want[i])
            fail_msg("%s: %" PRId64 " instead of %" PRId64 " %s", fixture, counts[i], want[i],
                     attribution_name(rules, i));
    arena_deinit(&a);
}

#define RULES(format, categories, more)                                                            \
    "{\"schema\":\"aurabench.attribution.v1\",\"format\":\"" format                                \
    "\",\"categories\":[" categories "]" more "}"
#define MIX "{\"name\":\"mix\",\"symbols\":[\"mix\"]}"
#define LIBC "{\"name\":\"libc\",\"libraries\":[\"libc.so*\"]}"
#define UNUSED "{\"name\":\"unused\",\"symbols\":[\"nothing_*\"]}"

static void test_what_the_profilers_wrote_is_attributed(void **state)
{
    (void)state;
    /* 93 events: 62 in mix, 30 in libc, one in the kernel. */
    expect_counts(RULES("perf-script", UNUSED "," MIX "," LIBC, ""), "work.perf-script",
                  (int64_t[]){0, 62, 30, 0, 0, 0, 0, 0, 1, 0, 93});
    expect_counts(RULES("perf-script", MIX, ",\"kernel\":true,\"process\":\"work\""),
                  "work.perf-script", (int64_t[]){62, 31, 0, 0, 0, 0, 0, 0, 93});
    expect_counts(RULES("perf-script", MIX, ",\"process\":\"other\""), "work.perf-script",
                  (int64_t[]){0, 0, 0, 93, 0, 0, 0, 0, 93});
    /* What callgrind_annotate says of the same files. */
    static const char *const files[] = {"work.callgrind", "work-instructions.callgrind"};
    for (int i = 0; i < 2; i++)
        expect_counts(RULES("callgrind", MIX, ""), files[i],
                      (int64_t[]){80250, 1007666, 0, 0, 0, 0, 0, 1, 1087917});
    expect_counts(RULES("xctrace",
                        "{\"name\":\"frames\",\"symbols\":[\"frame_*\"]},"
                        "{\"name\":\"vector\",\"symbols\":[\"std::vector<int>*&&)\"]},"
                        "{\"name\":\"fib\",\"libraries\":[\"fib\"]}",
                        ",\"process\":\"fib\",\"thread\":\"Main Thread*\""),
                  "time-profile.xml", (int64_t[]){2, 1, 1, 0, 1, 1, 1, 0, 1, 2, 10});
    expect_counts(RULES("xctrace", "{\"name\":\"all\",\"symbols\":[\"*\"]}",
                        ",\"from_ms\":301,\"to_ms\":303"),
                  "time-profile.xml", (int64_t[]){2, 0, 1, 0, 0, 7, 0, 0, 10});
}

/* ---- callgrind */

#define HEAD "events: Ir\n"

static void test_callgrind_counts_what_a_function_costs_itself(void **state)
{
    (void)state;
    expect_told(PROFILE_CALLGRIND,
                "# callgrind format\nversion: 1\npositions: line\n" HEAD
                "ob=(1) /bin/fib\nfl=(1) fib.c\nfn=(1) main\n16 400\ncfn=(2) fib\ncalls=3 50\n"
                "16 1200\n+1 30\n* 5 7\n\nfn=(2)\nob=(2) ???\n-3 1200\n0\n\ntotals: 1635\n",
                "main /bin/fib 435\nfib - 1200\n");
    expect_told(PROFILE_CALLGRIND,
                "positions: instr line\n" HEAD "fn=plain name\n0x8048 3 10\n+0x3 +1 2\n* * 4\n"
                "totals: 16\nfn=0x401020\n0x8048 1 4\ntotals: 4 9\n",
                "plain name - 16\n- - 4\n");
    expect_told(PROFILE_CALLGRIND, HEAD "totals: 0\n", "");
    expect_told(PROFILE_CALLGRIND,
                HEAD "fn=fib'2\n1 3\nfn='2\n1 4\nfn=a'b\n1 5\nfn=7\n1 6\ntotals: 18\n",
                "fib - 3\n'2 - 4\na'b - 5\n7 - 6\n");
}

static void test_callgrind_is_refused_unless_all_of_it_fits(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *word;
    } rows[] = {
        {"", 0, "totals"},
        {"fn=(1) main\n0 5\ntotals: 5\n", 2, "events"},
        {HEAD "0 5\ntotals: 5\n", 2, "function"},
        {HEAD "fn=(1) main\n0 5\n", 3, "totals"},
        {HEAD "fn=(1) main\n0 5\ntotals: 6\n", 4, "sum"},
        {HEAD "fn=(1) main\n0 5\ntotals: 5", 4, "cut off"},
        {HEAD "fn=(1) main\n0 5\ntotals: 5\nfn=(1)\n0 3\n", 6, "totals"},
        {HEAD "fn=(1) main\n0 5\ntotals: 5\n0 3\ntotals: 3\n", 5, "function"},
        {HEAD "fn=(7)\n", 2, "(7)"},
        {HEAD "ob=(7)\n", 2, "(7)"},
        {HEAD "cfn=(7)\n", 2, "(7)"},
        {HEAD "fn=(1) a\nfn=(1) b\n", 3, "two names"},
        {HEAD "fn=(1) a\nx 5\n", 3, "neither"},
        {HEAD "fn=(1) a\n0 x\n", 3, "number"},
        {HEAD "fn=(1) a\ncalls=1 2\ncalls=1 2\n", 4, "twice"},
        {"events:\n", 1, "nothing"},
        {"positions: a b c\n", 1, "columns"},
        {HEAD "fn=(1) a\n0 9007199254740992\n", 3, "number"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(PROFILE_CALLGRIND, rows[i].text, rows[i].line, rows[i].word);
}

/* ---- perf script */

static void test_perf_script_is_read_with_and_without_calls(void **state)
{
    (void)state;
    expect_told(
        PROFILE_PERF_SCRIPT,
        "# captured on : today\n"
        "     fib  4711   1.000001:    1000 cycles:u:   55d0 fib+0x12 (/bin/fib)\n"
        "   a 1 b 4711/4712 [003]  1.500001: cycles:u:   55d0 operator()(int)+0xf (/x (deleted))\n"
        "     fib  4711   1.000000:    1000 cycles:   ffffffff810000a0 [unknown] ([kernel.kallsyms])\n"
        "     fib  4711   2.000001000:  1 cycles:   7fff [unknown] ([unknown])\n"
        "     fib  4711   2.000001:   1 cpu-clock:  ffffffffff600000 gettime+0x0 ([vsyscall])\n"
        "     fib  4711   2.000001:   1 cpu-clock:  55d0 main (/bin/fib)\n",
        "fib /bin/fib fib fib @0 1\n"
        "operator()(int) /x (deleted) a 1 b a 1 b @500000000 1\n"
        "- [kernel.kallsyms] fib fib @0 1 kernel\n"
        "- - fib fib @1000000000 1\n"
        "gettime [vsyscall] fib fib @1000000000 1\n"
        "main /bin/fib fib fib @1000000000 1\n");
    expect_told(PROFILE_PERF_SCRIPT,
                "fib 4711 1.000001: 1000 cycles:u: \n"
                "\t55d0 push+0x12 (/bin/fib)\n  fib.c:12\n\t55d4 fib+0x12 (/bin/fib)\n\n"
                "fib 4711 1.000002: cycles:u:\n\n"
                "fib 4711 1.000003: cycles:u:\n"
                "\t55d0 inline_me (inlined)\n",
                "push /bin/fib fib fib @0 1\n- - fib fib @1000 1\ninline_me - fib fib @2000 1\n");
    expect_told(PROFILE_PERF_SCRIPT, "", "");
}

static void test_callgrind_costs_can_be_added(void **state)
{
    CLEANUP(buf_deinit) struct buf text = {0};

    (void)state;
    buf_puts(&text, HEAD "fn=(1) main\n");
    for (int i = 0; i < 513; i++)
        buf_puts(&text, "0 9007199254740991\n");
    expect_refused(PROFILE_CALLGRIND, buf_str(&text), 515, "too large to be added");
}

static void test_perf_script_is_refused_unless_each_line_is_an_event(void **state)
{
#define FIRST "fib 4711 1.000001: cycles:u: 55d0 fib+0x12 (/bin/fib)\n"
    static const struct {
        const char *text;
        int line;
        const char *word;
    } rows[] = {
        {FIRST "hello\n", 2, "no event"},
        {FIRST "fib 4711 cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 1.000001 cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 99999999999.000001: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 1.1234567890: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "4711 1.000001: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711/x 1.000001: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 [x] 1.000001: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 [001 1.000001: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 1.: cycles:u: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 1.000001: 55d0 fib (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 1.000001: cycles:u: 55d0 fib\n", 2, "frame"},
        {FIRST "fib 4711 1.000001: cycles:u: prev_comm=x (y)\n", 2, "frame"},
        {FIRST "fib 4711 1.000001: cycles:u:\n\tnothing\n", 3, "no frame"},
        {FIRST "\t55d4 fib+0x12 (/bin/fib)\n", 2, "no event"},
        {FIRST "fib 4711 1.000001: cycles:u: 55d0 fib (/bin/fib)", 2, "cut off"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(PROFILE_PERF_SCRIPT, rows[i].text, rows[i].line, rows[i].word);
}

static void test_a_line_has_a_bound_and_no_nul(void **state)
{
    CLEANUP(buf_deinit) struct buf text = {0};
    struct told t = {0};
    const struct profile_seen seen = {tell, &t};
    struct err e = {0};

    (void)state;
    for (int i = 0; i <= PROFILE_LINE_MAX; i++)
        buf_putc(&text, '#');
    buf_putc(&text, '\n');
    expect_refused(PROFILE_PERF_SCRIPT, buf_str(&text), 1, "more than");
    assert_int_equal(profile_read(PROFILE_PERF_SCRIPT, "#\0\n", 3, &seen, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "NUL"));
}

/* ---- xctrace */

static void test_an_export_has_no_nul(void **state)
{
    static const char text[] = "<r><node><schema name=\"time-profile\"/><row a=\"b\0c\"/>";
    struct told t = {0};
    const struct profile_seen seen = {tell, &t};
    struct err e = {0};

    (void)state;
    assert_int_equal(profile_read(PROFILE_XCTRACE, text, sizeof text - 1, &seen, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "NUL"));
}

#define TABLE(rows) "<r><node><schema name=\"time-profile\"/>\n" rows "</node></r>\n"
#define TIME "<sample-time id=\"1\">5</sample-time>"

static void test_xctrace_follows_references(void **state)
{
    (void)state;
    expect_told(PROFILE_XCTRACE,
                "<?xml version=\"1.0\"?><!-- x -->" TABLE(
                    "<row>" TIME "<thread id='2' fmt='T'><process id='3' fmt='a b (7)'/></thread>"
                    "<thread-state id='4'>Running</thread-state>"
                    "<backtrace id='5'><frame id='6' name='f&#x3c;&#60;&gt;'>"
                    "<binary id='7' name='b'/></frame><frame id='8' name='g'/></backtrace></row>"
                    "<row><sample-time ref='1'/><thread ref='2'/><process ref='3'/>"
                    "<thread-state id='9'>Blocked</thread-state>"
                    "<tagged-backtrace><backtrace ref='5'/></tagged-backtrace></row>"
                    "<row><sample-time ref='1'/><backtrace><process ref='3'/>"
                    "<frame ref='8'/><frame ref='6'/></backtrace></row>"
                    "<row><sample-time ref='1'/><sentinel/></row>"),
                "f<<> b a b T @5 1\nf<<> b a b T @5 1 suspended\ng - - - @5 1\n- - - - @5 1\n");
    expect_told(PROFILE_XCTRACE, TABLE(""), "");
}

static void test_xctrace_is_refused_unless_all_of_it_fits(void **state)
{
    static const struct {
        const char *text;
        int line;
        const char *word;
    } rows[] = {
        {"", 1, "no element"},
        {"text", 1, "outside"},
        {"<r></r>", 1, "no table"},
        {"<r><schema name='time-sample'/></r>", 1, "another table"},
        {"<r><row/></r>", 1, "before its table"},
        {TABLE("<row><row>"), 2, "inside a row"},
        {TABLE("<row></row>"), 2, "without a sample-time"},
        {TABLE("<row><sample-time>x</sample-time></row>"), 2, "nanoseconds"},
        {TABLE("<row><sample-time ref='9'/></row>"), 2, "a ref"},
        {TABLE("<row>" TIME "<thread ref='1'/></row>"), 2, "a ref"},
        {TABLE("<row>" TIME "<frame id='x'/></row>"), 2, "no number"},
        {TABLE("<row>" TIME "<frame id='2'/><frame id='2'/></row>"), 2, "two elements"},
        {TABLE("<row>" TIME "<frame name='&own;'/></row>"), 2, "stands for"},
        {TABLE("<row>" TIME "<frame name='&#0;'/></row>"), 2, "stands for"},
        {TABLE("<row>" TIME "<frame name='&#x110000;'/></row>"), 2, "stands for"},
        {TABLE("<row>" TIME "<frame name='a' name='b'/></row>"), 2, "twice"},
        {TABLE("<row>" TIME "<frame name=a/></row>"), 2, "quotes"},
        {TABLE("<row>" TIME "<frame name='a<b'/></row>"), 2, "quotes"},
        {"<r>\n<node name='a", 2, "quotes"},
        {TABLE("<row>" TIME "<frame name/></row>"), 2, "without a value"},
        {TABLE("<row>" TIME "<frame $/></row>"), 2, "no place"},
        {TABLE("<row>" TIME "</node>"), 2, "an end"},
        {TABLE("") "<r/>", 3, "second"},
        {"<!DOCTYPE r><r/>", 1, "document type"},
        {"<r><![CDATA[x]]></r>", 1, "section"},
        {"<r><!-- x</r>", 1, "without its end"},
        {"<r>\n<node>", 2, "cut off"},
        {"<r>\nabc", 1, "cut off"},
        {"< r/>", 1, "no name"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        expect_refused(PROFILE_XCTRACE, rows[i].text, rows[i].line, rows[i].word);
}

static void test_elements_have_a_depth_and_a_number_of_attributes(void **state)
{
    CLEANUP(buf_deinit) struct buf deep = {0}, wide = {0};

    (void)state;
    buf_puts(&wide, "<r");
    for (int i = 0; i < 40; i++) {
        buf_puts(&deep, "<r>");
        buf_printf(&wide, " a%d=''", i);
    }
    buf_puts(&wide, "/>");
    expect_refused(PROFILE_XCTRACE, buf_str(&deep), 1, "too deep");
    expect_refused(PROFILE_XCTRACE, buf_str(&wide), 1, "too many");
}

/* ---- however many */

static bool refuse(void *of, const struct profile_sample *s)
{
    (void)of;
    (void)s;
    return false;
}

static void test_samples_beyond_what_can_be_counted_are_refused(void **state)
{
    const struct profile_seen seen = {refuse, NULL};
    struct err e = {0};

    (void)state;
    assert_int_equal(profile_read(PROFILE_PERF_SCRIPT, FIRST, strlen(FIRST), &seen, &e), -EBADMSG);
    assert_non_null(strstr(e.text, "more samples"));
}

/* ---- the rules as a document */

static void test_rules_that_cannot_hold_are_refused(void **state)
{
    static const struct {
        const char *json, *field, *word;
    } rows[] = {
        {"{}", "schema", "schema"},
        {RULES("gprof", MIX, ""), "format", "perf-script"},
        {RULES("callgrind", "", ""), "categories", "1 to"},
        {RULES("callgrind", "{\"name\":\"a\"}", ""), "categories[0]", "symbols"},
        {RULES("callgrind", MIX "," MIX, ""), "categories[1].name", "twice"},
        {RULES("callgrind", "{\"name\":\"other\",\"symbols\":[\"a\"]}", ""), "categories[0].name",
         "every profile"},
        {RULES("callgrind", "{\"name\":\"excluded_kernel\",\"symbols\":[\"a\"]}", ""),
         "categories[0].name", "every profile"},
        {RULES("callgrind", "{\"name\":\"a\",\"symbols\":[\"\"]}", ""), "categories[0].symbols[0]",
         "pattern"},
        {RULES("callgrind", "{\"name\":\"a\",\"objects\":[\"a\"]}", ""), "categories[0].objects",
         "objects"},
        {RULES("callgrind", MIX, ",\"thread\":\"a\""), "thread", "callgrind"},
        {RULES("callgrind", MIX, ",\"from_ms\":1"), "from_ms", "callgrind"},
        {RULES("xctrace", MIX, ",\"from_ms\":5,\"to_ms\":5"), "to_ms", "window"},
        {RULES("xctrace", MIX, ",\"process\":\"\""), "process", "pattern"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        const struct attribution *rules = NULL;
        struct err e = {0};
        assert_true(attribution_decode(&a, rows[i].json, strlen(rows[i].json), &rules, &e) < 0);
        if (strcmp(e.field, rows[i].field) != 0 || !strstr(e.text, rows[i].word))
            fail_msg("%s: %s: %s", rows[i].json, e.field, e.text);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_the_profilers_wrote_is_attributed),
        cmocka_unit_test(test_callgrind_counts_what_a_function_costs_itself),
        cmocka_unit_test(test_callgrind_is_refused_unless_all_of_it_fits),
        cmocka_unit_test(test_perf_script_is_read_with_and_without_calls),
        cmocka_unit_test(test_callgrind_costs_can_be_added),
        cmocka_unit_test(test_perf_script_is_refused_unless_each_line_is_an_event),
        cmocka_unit_test(test_a_line_has_a_bound_and_no_nul),
        cmocka_unit_test(test_an_export_has_no_nul),
        cmocka_unit_test(test_xctrace_follows_references),
        cmocka_unit_test(test_xctrace_is_refused_unless_all_of_it_fits),
        cmocka_unit_test(test_elements_have_a_depth_and_a_number_of_attributes),
        cmocka_unit_test(test_samples_beyond_what_can_be_counted_are_refused),
        cmocka_unit_test(test_rules_that_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
