/* aurabench: the command line. Finds the command in the table, reads its options, runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/cmd/cmd_help.h"
#include "client/cmd/commands.h"

/* One a line. */
/* clang-format off */
static const struct command *const commands[] = {
    &command_compare,
    &command_run,
    &command_submit,
    &command_list,
    &command_show,
    &command_watch,
    &command_wait,
    &command_log,
    &command_cancel,
    &command_hold,
    &command_release,
    &command_edit,
    &command_rerun,
    &command_report,
    &command_session,
    &command_page,
    &command_gate,
    &command_history,
    &command_host,
    &command_quiet,
    &command_calibrate,
    &command_kernel,
    &command_attribute,
    &command_doctor,
    &command_status,
    &command_drain,
    &command_backup,
    &command_verify,
    &command_help,
    &command_completion,
    &command_dial_stdio,
    NULL,
};
/* clang-format on */

static int usage_error(struct cli *cli, const char *fmt, const char *what)
    __attribute__((format(printf, 2, 0)));
static int usage_error(struct cli *cli, const char *fmt, const char *what)
{
    struct err e = {0};

    err_set(&e, -EINVAL, "usage", what, fmt, what);
    return cli_fail(cli, &e);
}

static int check_words(struct cli *cli, const struct opt_words *words)
{
    const struct command *c = cli->command;
    size_t n = words->words.n;

    if (n < c->words_min)
        return usage_error(cli, "something is missing: aurabench %s; see --help",
                           arena_printf(&cli->a, "%s %s", c->name, c->usage));
    if (n > c->words_max)
        return usage_error(cli, "%s is too much here; see --help", words->words.v[c->words_max]);
    if (words->dashes && !c->takes_command)
        return usage_error(cli, "%s takes nothing behind --; see --help", c->name);
    return 0;
}

static int version(struct cli *cli)
{
    CLEANUP(buf_deinit) struct buf b = {0};
    struct json_out o;

    if (!cli->shared.json) {
        buf_puts(&b, "aurabench " AURABENCH_VERSION "\n");
        cli_put(&b);
        return EXIT_GOOD;
    }
    cli_json_begin(cli, &o, &b);
    json_put_str(&o, "version", AURABENCH_VERSION);
    cli_json_end(&o);
    return EXIT_GOOD;
}

static int run_command(struct cli *cli, struct args argv)
{
    const struct command *c = cli->command;
    void *values = arena_alloc(&cli->a, c->values_bytes + 1);
    struct opt_table tables[] = {{c->opts, c->n_opts, values},
                                 {cli_shared_opts, cli_n_shared_opts, cli}};
    struct opt_words words;
    struct err e = {0};

    if (c->defaults)
        memcpy(values, c->defaults, c->values_bytes);
    if (opts_parse(&cli->a, tables, ARRAY_LEN(tables), argv, &words, &e) < 0) {
        struct err usage = {0};
        err_set(&usage, -EINVAL, e.code, e.field, "%.500s; see aurabench %s --help", e.text,
                c->name);
        return cli_fail(cli, &usage);
    }
    if (cli->shared.help) {
        help_command(c);
        return EXIT_GOOD;
    }
    if (cli->shared.version)
        return version(cli);
    int rc = check_words(cli, &words);
    if (rc)
        return rc;
    if (cli->shared.timeout_ms >= 0)
        cli->deadline_ns = clock_mono_ns() + cli->shared.timeout_ms * 1000000;
    return c->run(cli, values, &words);
}

static int run(struct cli *cli, struct args argv)
{
    struct opt_table shared = {cli_shared_opts, cli_n_shared_opts, cli};
    struct err e = {0};
    size_t used = 0;

    if (opts_parse_leading(&cli->a, &shared, argv, &used, &e) < 0)
        return cli_fail(cli, &e);
    if (cli->shared.version)
        return version(cli);
    if (used == argv.n) {
        if (cli->shared.help)
            help_overview(cli);
        else
            return usage_error(cli, "%s; see aurabench help", "name a command");
        return EXIT_GOOD;
    }
    cli->command = help_find(cli, argv.v[used], &e);
    if (!cli->command)
        return cli_fail(cli, &e);
    return run_command(cli, (struct args){argv.v + used + 1, argv.n - used - 1});
}

/* A program that was started without one of them would otherwise write into what it opens. */
static void ensure_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_JOB);
}

int main(int argc, char **argv)
{
    struct cli cli = {.commands = commands, .deadline_ns = -1, .shared.timeout_ms = -1};
    struct args args = {(const char **)(argv + 1), argc > 0 ? (size_t)argc - 1 : 0};

    ensure_standard_streams();
    (void)signal(SIGPIPE, SIG_IGN);
    term_init(&cli.out, STDOUT_FILENO);
    term_init(&cli.err, STDERR_FILENO);
    int status = run(&cli, args);
    arena_deinit(&cli.a);
    return status;
}
