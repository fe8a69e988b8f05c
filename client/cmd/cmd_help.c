/* aurabench help [COMMAND]. */
#include "client/cmd/cmd_help.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "client/cmd/commands.h"

void help_overview(struct cli *cli)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    buf_puts(&b, "aurabench: ask the measuring host, whether one commit is faster than another\n\n"
                 "usage: aurabench [OPTIONS] COMMAND ...\n\ncommands:\n");
    for (const struct command *const *c = cli->commands; *c; c++)
        buf_printf(&b, "  %-12s%s\n", (*c)->name, (*c)->summary);
    buf_puts(&b, "\noptions of every command:\n");
    opts_help(cli_shared_opts, cli_n_shared_opts, &b);
    buf_puts(&b, "\nexit status: 0 good; 1 the job or check failed; 2 usage; 3 daemon unreachable; "
                 "4 no such thing;\n5 cancelled; 6 host not quiet or not qualified; 7 lost; 124 "
                 "--timeout\n\nexample:\n  aurabench compare --repo . --before v1.2 --suite "
                 "release-performance --wait\n\nmore: aurabench help COMMAND\n");
    cli_put(&b);
}

void help_command(const struct command *command)
{
    CLEANUP(buf_deinit) struct buf b = {0};

    buf_printf(&b, "aurabench %s: %s\n\nusage: aurabench %s [OPTIONS]%s%s\n", command->name,
               command->summary, command->name, command->usage[0] ? " " : "", command->usage);
    if (command->more)
        buf_printf(&b, "\n%s\n", command->more);
    buf_puts(&b, "\noptions:\n");
    opts_help(command->opts, command->n_opts, &b);
    opts_help(cli_shared_opts, cli_n_shared_opts, &b);
    cli_put(&b);
}

static int run(struct cli *cli, const void *values, const struct opt_words *words)
{
    struct err e = {0};

    (void)values;
    if (words->words.n == 0) {
        help_overview(cli);
        return EXIT_GOOD;
    }
    const struct command *command = help_find(cli, words->words.v[0], &e);
    if (!command)
        return cli_fail(cli, &e);
    help_command(command);
    return EXIT_GOOD;
}

/* Of the interface, and to come. */
static const char *const later[] = {"diff", "export", "import", "metrics"};

const struct command *help_find(struct cli *cli, const char *name, struct err *e)
{
    for (const struct command *const *c = cli->commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    for (size_t i = 0; i < ARRAY_LEN(later); i++)
        if (strcmp(later[i], name) == 0) {
            err_set(e, -EINVAL, "usage", "command",
                    "this version has no `%s` yet; see aurabench help for what it has", name);
            return NULL;
        }
    err_set(e, -EINVAL, "usage", "command", "there is no command %.100s; see aurabench help", name);
    return NULL;
}

const struct command command_help = {
    .name = "help",
    .usage = "[COMMAND]",
    .summary = "explain a command",
    .words_max = 1,
    .run = run,
};
