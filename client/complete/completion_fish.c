#include "base/mem.h"
#include "client/complete/completion.h"

static const char HEAD[] = "# fish completion for aurabench, made by `aurabench completion fish`\n"
                           "\n"
                           "complete -c aurabench -f\n";

static void put_quoted(struct buf *out, const char *text)
{
    buf_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            buf_putc(out, '\\');
        buf_putc(out, *text);
    }
    buf_putc(out, '\'');
}

/* -x: a value and no files; -rF: a value, perhaps a file. */
static void put_choice(struct buf *out, const struct completion *c)
{
    buf_puts(out, c->files ? " -rF" : " -x");
    if (c->words.len)
        buf_printf(out, " -a '%s'", buf_str(&c->words));
}

/* command NULL: the option belongs to all. */
static void put_option(struct buf *out, const char *command, const struct opt *o)
{
    CLEANUP(completion_deinit) struct completion c = {0};

    completion_of_option(o, &c);
    buf_puts(out, "complete -c aurabench");
    if (command)
        buf_printf(out, " -n '__fish_seen_subcommand_from %s'", command);
    buf_printf(out, " -l %s", o->name);
    if (o->letter)
        buf_printf(out, " -s %c", o->letter);
    if (c.takes_value)
        put_choice(out, &c);
    buf_puts(out, " -d ");
    put_quoted(out, o->help);
    buf_putc(out, '\n');
}

static void put_command(struct buf *out, const struct command *const *commands,
                        const struct command *command)
{
    CLEANUP(completion_deinit) struct completion c = {0};

    completion_of_command(commands, command, &c);
    buf_printf(out, "complete -c aurabench -n __fish_use_subcommand -a %s -d ", command->name);
    put_quoted(out, command->summary);
    buf_putc(out, '\n');
    for (size_t i = 0; i < command->n_opts; i++)
        put_option(out, command->name, &command->opts[i]);
    if (!c.files && !c.words.len)
        return;
    buf_printf(out, "complete -c aurabench -n '__fish_seen_subcommand_from %s'", command->name);
    if (c.files)
        buf_puts(out, " -F");
    if (c.words.len)
        buf_printf(out, " -a '%s'", buf_str(&c.words));
    buf_putc(out, '\n');
}

void completion_fish(const struct command *const *commands, struct buf *out)
{
    buf_puts(out, HEAD);
    for (size_t i = 0; i < cli_n_shared_opts; i++)
        put_option(out, NULL, &cli_shared_opts[i]);
    for (const struct command *const *c = commands; *c; c++)
        put_command(out, commands, *c);
}
