/* The program itself against a scripted daemon: what it prints, asks and ends with. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "fake_daemon.h"
#include "proto/errors.h"
#include "unit.h"

#define ID "01M8PTS1KBDT9DN69Z7CASNZH0"
#define JOB(state, more)                                                                           \
    "{\"id\":\"" ID "\",\"number\":1,\"state\":\"" state                                           \
    "\",\"label\":\"a label\",\"priority\":0,"                                                     \
    "\"suite\":\"s\",\"submitted_ms\":1000,\"changed_ms\":2000,\"next_try_ms\":null,"              \
    "\"refusals\":0,\"attempts\":1" more "}"
#define ENDED(state, more) "{\"job\":" JOB(state, more) "}"
#define NO_MORE ",\"error\":null,\"report\":null,\"progress\":null"
#define ERROR_MORE                                                                                    \
    ",\"error\":{\"code\":\"build.failed\",\"field\":\"build[0]\",\"text\":\"make did not exit with " \
    "0\"},\"report\":null,\"progress\":null"
#define REPORT_MORE                                                                                  \
    ",\"error\":null,\"report\":{\"attempt\":\"A\",\"grade\":\"diagnostic\",\"line\":\"diagnostic, " \
    "policy x\",\"evidence\":\"/e\"},\"progress\":null"
#define EVENT(state, step, done, final)                                                            \
    "{\"jsonrpc\":\"2.0\",\"method\":\"job.event\",\"params\":{\"job\":\"" ID                      \
    "\",\"state\":\"" state "\",\"step\":" step ",\"text\":null,\"done\":" #done                   \
    ",\"total\":20,\"left_ms\":61000,"                                                             \
    "\"next_try_ms\":null,\"final\":" #final "}}\n"
#define STATUS                                                                                       \
    "{\"version\":\"9.9\",\"host\":\"box\",\"boot\":\"b\",\"state_dir\":\"/s\",\"started_ms\":1000," \
    "\"now_ms\":62000,\"jobs\":{\"queued\":2,\"done\":1},\"active\":null,\"blocked\":null,"          \
    "\"next_due_ms\":null}"

/* One sentence on stderr, nothing on stdout. */
static void assert_one_sentence(const struct outcome *o, const char *part)
{
    assert_says(&o->err, part);
    assert_int_equal(strncmp(buf_str(&o->err), "aurabench: ", 11), 0);
    assert_ptr_equal(strchr(o->err.data, '\n'), o->err.data + o->err.len - 1);
    assert_int_equal(o->out.len, 0);
}

/* ---- usage */

static void wrong_usage_ends_with_2_and_one_sentence(void **state)
{
    static const struct {
        const char *words[9];
        const char *part;
    } cases[] = {
        {{"bogus"}, "no command bogus"},
        {{"diff"}, "this version has no `diff` yet"},
        {{"--bogus"}, "no option --bogus"},
        {{"list", "--bogus"}, "see aurabench list --help"},
        {{"list", "extra"}, "extra is too much"},
        {{"list", "--state", "finished"}, "there is no state finished"},
        {{"show"}, "something is missing"},
        {{"status", "--", "x"}, "takes nothing behind --"},
        {{"compare", "--suite", "x"}, "--before REV"},
        {{"compare", "--before", "x"}, "--suite NAME"},
        {{"compare", "--before", "x", "--suite", "y", "--report", "raw"}, "--report takes"},
        {{"run", "true"}, "too much here"},
        {{"run", "--"}, "name the commands behind --"},
        {{"run", "--", "true", "--vs"}, "name the commands behind --"},
        {{"run", "--", "true", "--vs", "true", "--vs", "x"}, "--vs stands there twice"},
        {{"run", "--", "no-such-program-anywhere"}, "no program no-such-program"},
        {{"run", "--", "true", "{a}"}, "text in braces"},
        {{"report", ID, "--format", "pdf"}, "no report format pdf"},
        {{"history", "fib30", "--since", "yesterday"}, "--since takes a day such as 2026-12-01"},
        {{"history", "fib30", "--until", ""}, "or how long ago, such as 90d, not nothing"},
        {{"history", "fib30", "--format", "pdf"}, "there is no format pdf"},
        {{"history", "fib30", "--changes", "--against", "c"}, "leave one out"},
        {{"history", "fib30", "--limit", "1001"}, "--limit"},
        {{"history", "--lane", "c"}, "name the workload that this is asked of"},
        {{"history", "w", "--since", "2026-12-02", "--until", "2026-12-01"}, "exchange them"},
        {{"-H", "ssh://h", "dial-stdio"}, "leave out --host"},
        {{"-H", "ssh://-h", "status"}, "write ssh://"},
        {{"status", "--timeout", "5"}, "a duration like"},
    };
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        outcome_deinit(&o);
        o.status = client_run(NULL, cases[i].words, &o.out, &o.err);
        if (o.status != EXIT_USAGE)
            fail_msg("case %zu ended with %d: %s", i, o.status, buf_str(&o.err));
        assert_one_sentence(&o, cases[i].part);
    }
}

static void help_and_version_need_no_daemon(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    assert_int_equal(client_run(NULL, WORDS("help"), &o.out, &o.err), EXIT_GOOD);
    assert_says(&o.out, "  compare     ");
    assert_int_equal(client_run(NULL, WORDS("run", "--help"), &o.out, &o.err), EXIT_GOOD);
    assert_says(&o.out, "usage: aurabench run [OPTIONS] -- A ARGS... [--vs B ARGS...]");
    buf_clear(&o.out);
    assert_int_equal(client_run(NULL, WORDS("--version"), &o.out, &o.err), EXIT_GOOD);
    assert_string_equal(o.out.data, "aurabench " AURABENCH_VERSION "\n");
    assert_int_equal(o.err.len, 0);
}

static void no_daemon_is_status_3(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    o.status = client_run(NULL, WORDS("--socket", "/nonexistent/sock", "status"), &o.out, &o.err);
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_one_sentence(&o, "start it");
}

/* ---- what is printed */

static void the_status_of_an_idle_daemon(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o, STEPS({.method = "daemon.status", .result = STATUS}), WORDS("status"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_string_equal(o.out.data, "daemon  aurabenchd 9.9 on box, up 1m 1s\n"
                                    "state   /s\n"
                                    "jobs    2 queued, 1 done\n"
                                    "now     idle\n");
}

static void a_document_has_its_version_and_command_and_every_digit(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "daemon.status",
               .result = "{\"a\":9007199254740991,\"b\":0.1,\"c\":[true,null,\"x\\u001b\"]}"}),
        WORDS("status", "--json"));
    assert_string_equal(o.out.data,
                        "{\"aurabench\":1,\"command\":\"status\",\"a\":9007199254740991,"
                        "\"b\":0.1,\"c\":[true,null,\"x\\u001b\"]}\n");
}

static void an_error_is_also_a_document_for_who_asked_for_one(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o, STEPS({.method = "job.show", .error = "job.not_found"}),
                WORDS("show", "x", "--json"));
    assert_int_equal(o.status, EXIT_NOT_FOUND);
    assert_string_equal(o.err.data, "aurabench: refused by the script\n");
    assert_string_equal(
        o.out.data, "{\"aurabench\":1,\"command\":\"show\",\"error\":{\"code\":\"job.not_found\","
                    "\"field\":\"\",\"message\":\"refused by the script\"}}\n");
}

static void a_list_shows_ids_that_the_daemon_takes_and_ages_by_its_clock(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS({.method = "daemon.status", .result = STATUS},
                      {.method = "job.list",
                       .result = "{\"jobs\":[" JOB("failed", ERROR_MORE) "],\"more\":false}"}),
                WORDS("list", "-s", "failed", "-n", "3"));
    assert_string_equal(o.out.data,
                        "ID        STATE   PRIO    AGE  LABEL    WHAT\n"
                        "7CASNZH0  failed     0  1m 1s  a label  make did not exit with 0\n");
    assert_says(&o.asked, "job.list {\"limit\":3,\"states\":[\"failed\"]}");
}

static void all_pages_of_a_list_are_fetched(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "job.list", .result = "{\"jobs\":[" JOB("done", "") "],\"more\":true}"},
              {.method = "job.list", .result = "{\"jobs\":[" JOB("done", "") "],\"more\":false}"}),
        WORDS("list", "--all", "--json"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_says(&o.asked, "job.list {\"limit\":200,\"before\":\"" ID "\"}");
    const char *second = strstr(strstr(o.out.data, ID) + 1, ID);
    assert_non_null(second);
    assert_says(&o.out, "],\"more\":false}\n");
}

static void what_a_label_could_do_to_a_terminal_is_taken_out(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "job.cancel", .result = "{\"id\":\"" ID "\",\"state\":\"cancelled\"}"}),
        WORDS("cancel", "CASN"));
    assert_string_equal(o.out.data, "job 7CASNZH0 cancelled\n");
    outcome_run(&o,
                STEPS({.method = "job.cancel",
                       .raw = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":"
                              "-32000,\"message\":\"a\\u001b[2Jb\",\"data\":{"
                              "\"code\":\"job.bad_state\"}}}\n"}),
                WORDS("cancel", "CASN"));
    assert_int_equal(o.status, EXIT_JOB);
    assert_string_equal(o.err.data, "aurabench: a?[2Jb\n");
}

/* Words that a good daemon never says so; another one must not reach the terminal with them. */
static void what_a_daemon_says_of_a_job_cannot_steer_the_terminal(void **state)
{
#define BAD "\\u001b[2J\\u202e"
    static const struct {
        struct fake_step steps[2];
        const char *words[4], *says;
    } cases[] = {
        {{{.method = "job.cancel", .result = "{\"id\":\"A" BAD "\",\"state\":\"" BAD "\"}"}},
         {"cancel", "CASN"},
         "job A?[2J? ?[2J?\n"},
        {{{.method = "session.close", .result = "{\"cancelled\":0,\"evidence\":\"/e" BAD "\"}"}},
         {"session", "close", "x"},
         "evidence: /e?[2J?\n"},
        {{{.method = "host.show", .result = "{\"key\":{\"public\":\"" BAD "\",\"id\":\"x\"}}"}},
         {"host", "--key"},
         "?[2J?  x\n"},
    };
#undef BAD
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        outcome_run(&o, cases[i].steps, cases[i].words);
        assert_says(&o.out, cases[i].says);
        assert_null(strchr(o.out.data, '\x1b'));
    }
}

/* ---- following */

static void a_job_ends_the_program_with_its_own_status(void **state)
{
    static const struct {
        const char *job;
        int status;
        const char *out;
    } cases[] = {
        {ENDED("done", REPORT_MORE), EXIT_GOOD,
         "job 7CASNZH0 done: diagnostic, policy x\n  next: aurabench report 7CASNZH0\n"},
        {ENDED("failed", ERROR_MORE), EXIT_JOB,
         "job 7CASNZH0 failed: make did not exit with 0\n  next: aurabench show 7CASNZH0\n"},
        {ENDED("cancelled", NO_MORE), EXIT_CANCELLED, "job 7CASNZH0 cancelled\n"},
        {ENDED("expired", NO_MORE), EXIT_JOB,
         "job 7CASNZH0 expired\n  next: aurabench show 7CASNZH0\n"},
        {ENDED("unqualified", NO_MORE), EXIT_NOT_QUIET,
         "job 7CASNZH0 unqualified\n  next: aurabench show 7CASNZH0\n"},
        {ENDED("lost", NO_MORE), EXIT_LOST, "job 7CASNZH0 lost\n  next: aurabench show 7CASNZH0\n"},
    };
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        outcome_run(&o,
                    STEPS({.method = "job.watch", .result = cases[i].job},
                          {.method = "job.watch", .result = cases[i].job}),
                    WORDS("wait", "CASN"));
        assert_int_equal(o.status, cases[i].status);
        assert_string_equal(o.out.data, cases[i].out);
        assert_int_equal(o.err.len, 0);
    }
}

#define RUNNING                                                                                    \
    ENDED("preparing", ",\"progress\":{\"step\":\"settle\",\"text\":null,\"done\":0,"              \
                       "\"total\":0,\"left_ms\":null}")

static void a_pipe_gets_a_line_per_change_and_tenth(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};
    const char *lines[8];
    size_t n = 0;

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "job.watch",
               .result = RUNNING,
               .after = EVENT("preparing", "\"settle\"", 0, false) EVENT(
                   "measuring", "\"measure\"", 0, false) EVENT("measuring", "\"measure\"", 1, false)
                   EVENT("measuring", "\"measure\"", 2, false)
                       EVENT("measuring", "\"measure\"", 3, false) EVENT("done", "null", 20, true)},
              {.method = "job.watch", .result = ENDED("done", REPORT_MORE)}),
        WORDS("watch", "CASN"));
    assert_int_equal(o.status, EXIT_GOOD);
    for (char *save = NULL, *line = strtok_r(o.out.data, "\n", &save); line && n < 8;
         line = strtok_r(NULL, "\n", &save))
        lines[n++] = line;
    assert_int_equal(n, 5);
    assert_string_equal(lines[0] + 8, "  preparing   settle");
    assert_string_equal(lines[1] + 8, "  measuring   0 of 20, about 1m 1s left  measure");
    assert_string_equal(lines[2] + 8, "  measuring   2 of 20, about 1m 1s left  measure");
    assert_string_equal(lines[3], "job 7CASNZH0 done: diagnostic, policy x");
}

static void watching_as_documents_gives_one_a_line(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "job.watch", .result = RUNNING, .after = EVENT("done", "null", 20, true)},
              {.method = "job.watch", .result = ENDED("done", REPORT_MORE)},
              {.method = "job.watch", .result = ENDED("done", REPORT_MORE)}),
        WORDS("watch", "CASN", "--json"));
    assert_int_equal(o.status, EXIT_GOOD);
    char *second = strchr(o.out.data, '\n') + 1, *third = strchr(second, '\n') + 1;
    assert_int_equal(strncmp(o.out.data, "{\"aurabench\":1,\"command\":\"watch\",\"job\":{", 40),
                     0);
    assert_int_equal(strncmp(second, "{\"aurabench\":1,\"command\":\"watch\",\"event\":{", 42), 0);
    assert_int_equal(strncmp(third, "{\"aurabench\":1,\"command\":\"watch\",\"job\":{", 40), 0);
    assert_ptr_equal(strchr(third, '\n') + 1, o.out.data + o.out.len);
}

static void events_of_other_jobs_do_not_end_the_watching(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "job.watch",
               .result = RUNNING,
               .after = "{\"jsonrpc\":\"2.0\",\"method\":\"job.event\",\"params\":{\"job\":"
                        "\"01M8PTS1KBDT9DN69Z7CASNZH1\",\"state\":\"failed\",\"final\":true}}\n"
                        "{\"jsonrpc\":\"2.0\",\"method\":\"other.event\",\"params\":{}}\n" EVENT(
                            "done", "null", 20, true)},
              {.method = "job.watch", .result = ENDED("done", REPORT_MORE)}),
        WORDS("wait", "CASN"));
    assert_int_equal(o.status, EXIT_GOOD);
}

static void watching_goes_on_over_a_new_connection(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS({.method = "job.watch",
                       .result = RUNNING,
                       .after = EVENT("preparing", "\"settle\"", 0, false),
                       .hang_up = true},
                      {.method = "job.watch", .result = ENDED("failed", ERROR_MORE)},
                      {.method = "job.watch", .result = ENDED("failed", ERROR_MORE)}),
                WORDS("wait", "CASN"));
    assert_int_equal(o.status, EXIT_JOB);
    /* by its whole id, now that it is known */
    assert_says(&o.asked, "job.watch {\"id\":\"CASN\"}\njob.watch {\"id\":\"" ID "\"}\n");
}

static void the_time_limit_ends_a_wait_with_124(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o, STEPS({.method = "job.watch", .result = RUNNING}),
                WORDS("wait", "CASN", "--timeout", "300ms"));
    assert_int_equal(o.status, EXIT_TIMEOUT);
    assert_one_sentence(&o, "--timeout");
}

/* ---- report and log */

static void a_report_in_pieces_is_put_together(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "report.get",
               .result = "{\"data\":\"YWJj\",\"next\":3,\"total\":5,\"attempt\":\"A\",\"grade\":"
                         "\"diagnostic\"}"},
              {.method = "report.get",
               .result = "{\"data\":\"ZAo=\",\"next\":5,\"total\":5,\"attempt\":\"A\",\"grade\":"
                         "\"diagnostic\"}"}),
        WORDS("report", "CASN"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_string_equal(o.out.data, "abcd\n");
    assert_says(&o.asked, "\"format\":\"text\",\"offset\":3,\"width\":100,\"colour\":false");
}

static void pieces_of_two_reports_are_not_put_together(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "report.get",
               .result = "{\"data\":\"YWJj\",\"next\":3,\"total\":5,\"attempt\":\"A\",\"grade\":"
                         "\"diagnostic\"}"},
              {.method = "report.get",
               .result = "{\"data\":\"ZAo=\",\"next\":5,\"total\":5,\"attempt\":\"B\",\"grade\":"
                         "\"diagnostic\"}"}),
        WORDS("report", "CASN"));
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_one_sentence(&o, "another report now");
}

static void a_report_for_a_program_stands_in_the_document_as_it_is(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(
        &o,
        STEPS({.method = "report.get",
               .result =
                   "{\"data\":\"eyJhIjoxLjUwfQo=\",\"next\":11,\"total\":11,\"attempt\":\"A\","
                   "\"grade\":\"void\"}"}),
        WORDS("report", "CASN", "--json"));
    assert_string_equal(
        o.out.data, "{\"aurabench\":1,\"command\":\"report\",\"attempt\":\"A\",\"grade\":\"void\","
                    "\"format\":\"json\",\"report\":{\"a\":1.50}}\n");
    assert_says(&o.asked, "\"format\":\"summary\"");
}

static void a_report_that_is_no_json_does_not_break_the_document(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS({.method = "report.get",
                       .result = "{\"data\":\"MX0=\",\"next\":2,\"total\":2,\"attempt\":\"A\","
                                 "\"grade\":\"void\"}"}),
                WORDS("report", "CASN", "--json"));
    assert_int_equal(o.status, EXIT_UNREACHABLE);
    assert_says(&o.out, "\"error\":{\"code\":\"daemon.version\"");
}

static void a_log_is_printed_byte_for_byte_into_a_pipe(void **state)
{
    CLEANUP(outcome_deinit) struct outcome o = {0};

    (void)state;
    outcome_run(&o,
                STEPS({.method = "job.log",
                       .result = "{\"data\":\"YRtbMW0=\",\"next\":5,\"total\":5,\"ended\":false}"}),
                WORDS("log", "CASN"));
    assert_int_equal(o.status, EXIT_GOOD);
    assert_string_equal(o.out.data, "a\x1b[1m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_ends_with_2_and_one_sentence),
        cmocka_unit_test(help_and_version_need_no_daemon),
        cmocka_unit_test(no_daemon_is_status_3),
        cmocka_unit_test(the_status_of_an_idle_daemon),
        cmocka_unit_test(a_document_has_its_version_and_command_and_every_digit),
        cmocka_unit_test(an_error_is_also_a_document_for_who_asked_for_one),
        cmocka_unit_test(a_list_shows_ids_that_the_daemon_takes_and_ages_by_its_clock),
        cmocka_unit_test(all_pages_of_a_list_are_fetched),
        cmocka_unit_test(what_a_label_could_do_to_a_terminal_is_taken_out),
        cmocka_unit_test(what_a_daemon_says_of_a_job_cannot_steer_the_terminal),
        cmocka_unit_test(a_job_ends_the_program_with_its_own_status),
        cmocka_unit_test(a_pipe_gets_a_line_per_change_and_tenth),
        cmocka_unit_test(watching_as_documents_gives_one_a_line),
        cmocka_unit_test(events_of_other_jobs_do_not_end_the_watching),
        cmocka_unit_test(watching_goes_on_over_a_new_connection),
        cmocka_unit_test(the_time_limit_ends_a_wait_with_124),
        cmocka_unit_test(a_report_in_pieces_is_put_together),
        cmocka_unit_test(pieces_of_two_reports_are_not_put_together),
        cmocka_unit_test(a_report_for_a_program_stands_in_the_document_as_it_is),
        cmocka_unit_test(a_report_that_is_no_json_does_not_break_the_document),
        cmocka_unit_test(a_log_is_printed_byte_for_byte_into_a_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
