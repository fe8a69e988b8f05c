/* What a person sees: the program on a terminal of its own. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "fake_daemon.h"
#include "proto/errors.h"
#include "unit.h"

#define ID "01M8PTS1KBDT9DN69Z7CASNZH0"
#define JOB(state, more)                                                                           \
    "{\"job\":{\"id\":\"" ID "\",\"state\":\"" state "\",\"submitted_ms\":1000" more "}}"
#define EVENT(done)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"method\":\"job.event\",\"params\":{\"job\":\"" ID                      \
    "\",\"state\":\"measuring\",\"step\":\"measure\",\"text\":\"a text that is much too long for " \
    "the width of this terminal\",\"done\":" #done ",\"total\":20,\"left_ms\":130000,"             \
    "\"next_try_ms\":null,\"final\":false}}\n"
#define FINAL                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"method\":\"job.event\",\"params\":{\"job\":\"" ID                      \
    "\",\"state\":\"done\",\"final\":true}}\n"
#define REPORT ",\"report\":{\"grade\":\"diagnostic\"}"

_Noreturn static void run_child(int terminal, const struct fake *f, const char *const *words)
{
    const char *argv[16] = {getenv("AURABENCH"), "--socket", f->socket};

    for (size_t n = 3; *words; words++)
        argv[n++] = *words;
    (void)setsid();
    for (int fd = 0; fd <= 2; fd++)
        (void)dup2(terminal, fd);
    (void)execv(argv[0], (char **)(uintptr_t)argv);
    _exit(126);
}

/* Until the last one that has the terminal open closes it: then the read fails. */
static void read_all(int master, struct buf *out)
{
    char chunk[4096];
    ssize_t n;

    while ((n = read(master, chunk, sizeof chunk)) > 0)
        buf_add(out, chunk, (size_t)n);
}

/* Runs the client with its three streams on a terminal of that width; its exit status. */
static int run_on_terminal(const struct fake_step *steps, int width, const char *const *words,
                           struct buf *out)
{
    struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)width};
    int status = -1;
    struct fake f;

    fake_start(&f,
               &(struct fake_script){.steps = steps}); /* before there is a terminal to inherit */
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    assert_int_equal(ioctl(terminal, TIOCSWINSZ, &size), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        run_child(terminal, &f, words);
    (void)close(terminal);
    read_all(master, out);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(master);
    fake_stop(&f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const struct fake_step *watched(void)
{
    static const struct fake_step steps[] = {
        {.method = "job.watch", .result = JOB("queued", ""), .after = EVENT(5) EVENT(6) FINAL},
        {.method = "job.watch", .result = JOB("done", REPORT)},
        {0}};

    return steps;
}

/* The columns of the longest line that was drawn over another. */
static size_t longest_drawn(char *text)
{
    size_t longest = 0;

    for (char *save = NULL, *line = strtok_r(text, "\r\n", &save); line;
         line = strtok_r(NULL, "\r\n", &save)) {
        const char *shown = strncmp(line, "\x1b[K", 3) == 0 ? line + 3 : line;
        longest = strlen(shown) > longest ? strlen(shown) : longest;
    }
    return longest;
}

static void progress_is_one_line_drawn_again_and_within_the_width(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    (void)state;
    (void)setenv("NO_COLOR", "1", 1);
    assert_int_equal(run_on_terminal(watched(), 60, WORDS("watch", "CASN"), &out), EXIT_GOOD);
    (void)unsetenv("NO_COLOR");
    assert_says(&out, "\r\x1b[Kmeasuring  5 of 20, about 2m 10s left  a text that");
    assert_says(&out, "...\r\x1b[Kmeasuring  6 of 20, ");
    assert_says(&out, "\r\x1b[Kjob 7CASNZH0 done: diagnostic\r\n");
    assert_null(strstr(out.data, "\x1b[3"));
    assert_true(longest_drawn(out.data) < 60);
}

static void a_wide_terminal_gets_a_bar(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    (void)state;
    assert_int_equal(run_on_terminal(watched(), 120, WORDS("watch", "CASN"), &out), EXIT_GOOD);
    assert_says(&out, "[=====>              ] 5 of 20");
}

static void colours_are_for_terminals_that_have_them(void **state)
{
    CLEANUP(buf_deinit) struct buf with = {0}, without = {0};

    (void)state;
    (void)setenv("TERM", "xterm", 1);
    assert_int_equal(run_on_terminal(watched(), 100, WORDS("wait", "CASN"), &with), EXIT_GOOD);
    assert_says(&with, "\x1b[32mdone\x1b[0m");
    (void)setenv("TERM", "dumb", 1);
    assert_int_equal(run_on_terminal(watched(), 100, WORDS("wait", "CASN"), &without), EXIT_GOOD);
    assert_null(strchr(without.data, '\x1b'));
    (void)setenv("TERM", "xterm", 1);
}

static void a_late_answer_is_explained_once(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};
    static const char notice[] = "the host is measuring; the answer comes between two observations";

    (void)state;
    int status = run_on_terminal(STEPS({.method = "daemon.status", .silent = true}), 100,
                                 WORDS("status", "--timeout", "2500ms"), &out);
    assert_int_equal(status, EXIT_TIMEOUT);
    assert_says(&out, notice);
    assert_null(strstr(strstr(out.data, notice) + 1, notice));
}

static void with_json_a_late_answer_is_waited_for_in_silence(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    (void)state;
    int status = run_on_terminal(STEPS({.method = "daemon.status", .silent = true}), 100,
                                 WORDS("status", "--json", "--timeout", "1500ms"), &out);
    assert_int_equal(status, EXIT_TIMEOUT);
    assert_null(strstr(out.data, "measuring"));
}

static void a_log_cannot_steer_the_terminal(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    (void)state;
    int status = run_on_terminal(
        STEPS({.method = "job.log",
               .result = "{\"data\":\"YRtbMkoKYg==\",\"next\":7,\"total\":7,\"ended\":true}"}),
        100, WORDS("log", "CASN"), &out);
    assert_int_equal(status, EXIT_GOOD);
    assert_string_equal(out.data, "a?[2J\r\nb");
}

static void a_report_keeps_its_colours_and_nothing_else(void **state)
{
    CLEANUP(buf_deinit) struct buf out = {0};

    (void)state; /* ESC[31mx ESC[0m ESC[2J */
    int status = run_on_terminal(
        STEPS({.method = "report.get",
               .result = "{\"data\":\"G1szMW14G1swbRtbMko=\",\"next\":14,\"total\":14,\"attempt\":"
                         "\"A\",\"grade\":\"void\"}"}),
        100, WORDS("report", "CASN"), &out);
    assert_int_equal(status, EXIT_GOOD);
    assert_string_equal(out.data, "\x1b[31mx\x1b[0m?[2J");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_is_one_line_drawn_again_and_within_the_width),
        cmocka_unit_test(a_wide_terminal_gets_a_bar),
        cmocka_unit_test(colours_are_for_terminals_that_have_them),
        cmocka_unit_test(a_late_answer_is_explained_once),
        cmocka_unit_test(with_json_a_late_answer_is_waited_for_in_silence),
        cmocka_unit_test(a_log_cannot_steer_the_terminal),
        cmocka_unit_test(a_report_keeps_its_colours_and_nothing_else),
    };
    (void)setenv("TERM", "xterm", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
