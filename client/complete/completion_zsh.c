#include <string.h>

#include "base/mem.h"
#include "client/complete/completion.h"

/* Inside single quotes, where brackets and colons divide the parts of a specification. */
static void put_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text))
            buf_putc(out, '\\');
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *text);
    }
}

/* ":STATE:(held queued)", or with files. */
static void put_action(struct buf *out, const char *what, const struct completion *c)
{
    const char *words = buf_str(&c->words);

    buf_putc(out, ':');
    put_text(out, what);
    if (c->files && c->words.len)
        buf_printf(out, ":_alternative \"words\\:word\\:(%s)\" \"files\\:file\\:_files\"", words);
    else if (c->files)
        buf_puts(out, ":_files");
    else if (c->words.len)
        buf_printf(out, ":(%s)", words);
    else
        buf_puts(out, ": ");
}

static void put_option(struct buf *out, const struct opt *o)
{
    CLEANUP(completion_deinit) struct completion c = {0};

    completion_of_option(o, &c);
    buf_puts(out, "      ");
    if (o->letter)
        buf_printf(out, "'*'{-%c%s,--%s%s}'[", o->letter, c.takes_value ? "+" : "", o->name,
                   c.takes_value ? "=" : "");
    else
        buf_printf(out, "'*--%s%s[", o->name, c.takes_value ? "=" : "");
    put_text(out, o->help);
    buf_putc(out, ']');
    if (c.takes_value)
        put_action(out, o->value, &c);
    buf_puts(out, "'\n");
}

static void put_command(struct buf *out, const struct command *const *commands,
                        const struct command *command)
{
    CLEANUP(completion_deinit) struct completion c = {0};

    completion_of_command(commands, command, &c);
    buf_printf(out, "  %s)\n    specs+=(\n", command->name);
    for (size_t i = 0; i < command->n_opts; i++)
        put_option(out, &command->opts[i]);
    if (command->takes_command) {
        buf_puts(out, "      '*:: :_normal'\n");
    } else if (c.takes_value) {
        buf_printf(out, "      '%s", command->words_max > 1 ? "*" : "1");
        put_action(out, command->usage, &c);
        buf_puts(out, "'\n");
    }
    buf_puts(out, "    ) ;;\n");
}

void completion_zsh(const struct command *const *commands, struct buf *out)
{
    buf_puts(out, "#compdef aurabench\n"
                  "# zsh completion for aurabench, made by `aurabench completion zsh`\n\n"
                  "_aurabench() {\n"
                  "  local context state state_descr line\n"
                  "  typeset -A opt_args\n"
                  "  local -a specs commands\n"
                  "  specs=(\n");
    for (size_t i = 0; i < cli_n_shared_opts; i++)
        put_option(out, &cli_shared_opts[i]);
    buf_puts(out, "  )\n  commands=(\n");
    for (const struct command *const *c = commands; *c; c++) {
        buf_printf(out, "    '%s:", (*c)->name);
        put_text(out, (*c)->summary);
        buf_puts(out, "'\n");
    }
    buf_puts(out, "  )\n"
                  "  _arguments -C $specs '1: :->command' '*:: :->argument' && return\n"
                  "  if [[ $state == command ]]; then\n"
                  "    _describe command commands\n"
                  "    return\n"
                  "  fi\n"
                  "  case $words[1] in\n");
    for (const struct command *const *c = commands; *c; c++)
        put_command(out, commands, *c);
    buf_puts(out, "  esac\n"
                  "  _arguments $specs\n"
                  "}\n\n"
                  "if [[ $funcstack[1] == _aurabench ]]; then\n"
                  "  _aurabench \"$@\"\n"
                  "else\n"
                  "  compdef _aurabench aurabench\n"
                  "fi\n");
}
